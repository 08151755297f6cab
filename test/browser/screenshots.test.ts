/**
 * The pictures of `docs/explorer.md`, which LEDGE_SCREENSHOTS=1 writes into `docs/images`. Without the
 * variable nothing is drawn: each run would have other times and ports.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { useBrowser } from "./support/browser.ts";
import { fillBuckets, fillZone, makeActivity, shownPicture } from "./support/demonstration.ts";
import { put } from "./support/contents.ts";
import { askByHttp, recordApiOf, s3Of } from "./support/programs.ts";
import { serveProject, switchFaults } from "./support/served-project.ts";

const project = serveProject();
const browser = useBrowser();

const isWanted = process.env["LEDGE_SCREENSHOTS"] === "1";
const folder = fileURLToPath(new URL("../../docs/images", import.meta.url));
const waiting = { timeout: 60_000 };
/** The pictures are in the package. */
const bytesMax = 150_000;
const schemes = ["light", "dark"] as const;

beforeAll(async () => {
  await fillBuckets(project, await browser.open(project.explorerUrl));
  await fillZone(project);
});

afterEach(() => switchFaults(project));

async function open(
  place: string,
  colorScheme: (typeof schemes)[number],
  width = 1280,
): Promise<Page> {
  const page = await browser.open(project.explorerUrl, {
    colorScheme,
    viewport: { width, height: 800 },
    reducedMotion: "reduce",
  });
  await page.goto(`${project.origin}${place}`);
  return page;
}

/** A picture of the page, with its width and height as the file has them. */
async function take(page: Page, name: string): Promise<{ width: number; height: number }> {
  const path = join(folder, `explorer-${name}.png`);
  await page.screenshot({ path, animations: "disabled", caret: "hide" });
  const bytes = readFileSync(path);
  expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  expect(bytes.length).toBeLessThan(bytesMax);
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

const wide = { width: 1280, height: 800 };

describe.skipIf(!isWanted).each(schemes)("the pictures, %s", (scheme) => {
  it("show objects with the details of an image", async () => {
    const query = new URLSearchParams({ prefix: "albums/alps/", key: shownPicture });
    const page = await open(`/buckets/photos?${query.toString()}`, scheme);
    await page.getByRole("row").filter({ hasText: "valley.png" }).waitFor(waiting);
    await page.waitForFunction(() =>
      [...document.querySelectorAll("main img")].some(
        (image) => (image as HTMLImageElement).naturalWidth === 640,
      ),
    );
    expect(await take(page, `objects-${scheme}`)).toEqual(wide);
  });

  it("show records", async () => {
    const page = await open("/zones/example.com", scheme);
    await page.getByRole("row").filter({ hasText: "_imaps._tcp" }).waitFor(waiting);
    expect(await take(page, `records-${scheme}`)).toEqual(wide);
  });

  it("show the activity with the calls of a request", async () => {
    const s3 = await s3Of(project);
    const page = await open("/live", scheme);
    const row = (hasText: string) => page.getByRole("row").filter({ hasText });
    // The page follows other programs soon after it is opened.
    await expect
      .poll(async () => {
        await askByHttp(project, `first-${scheme}.example.com`, "A");
        await s3.send({ method: "GET", target: `/backup/first-${scheme}` });
        return Promise.all([
          row(`first-${scheme}.example.com`).count(),
          row(`backup/first-${scheme}`).count(),
        ]);
      }, waiting)
      .not.toContain(0);
    // The list has the entries of the other picture, too. What comes after the last query is shown.
    await askByHttp(project, `last-${scheme}.example.com`, "A");
    await row(`last-${scheme}.example.com`).waitFor(waiting);
    await page.keyboard.press("c");
    await page.getByText("Nothing has happened yet").waitFor(waiting);
    await makeActivity(project, s3);
    for (const text of ["old.example.com", "2026-08-02", `/${shownPicture}`]) {
      await row(text).first().waitFor(waiting);
    }
    // The strip has whole seconds only.
    await page.getByRole("img", { name: /^At most [1-9]/ }).waitFor(waiting);
    await row(`/${shownPicture}`).first().click(waiting);
    const details = page.getByRole("complementary", { name: "Details of the entry" });
    await details.getByText(`looking for ${shownPicture}`).waitFor();
    await page.getByRole("heading", { name: "Live" }).hover();
    expect(await take(page, `live-${scheme}`)).toEqual(wide);
  });

  it("show faults", async () => {
    await switchFaults(project, {
      faults: [
        "put:photos/uploads/*:10001",
        "get:backup:slow=2s",
        "dns:servfail:api.example.com/A:times=2",
      ],
      latencyMilliseconds: 150,
      clockOffsetMilliseconds: 8 * 86_400_000,
    });
    await fetch(`${project.dev.url}/uploads/harbour.txt`, { method: "PUT", body: "harbour" });
    const page = await open("/faults", scheme);
    await page.getByText("1 hit").waitFor(waiting);
    await page.getByText("3 faults").waitFor(waiting);
    expect(await take(page, `faults-${scheme}`)).toEqual(wide);
  });

  it("show what differs from a saved state", async () => {
    const body = JSON.stringify({ name: "before-import", replace: true });
    await project.call("/api/state/save", { method: "POST", body });
    for (const key of ["imports/2026/bridge.txt", "imports/2026/harbour.txt", "uploads/pier.txt"]) {
      await put(project, "photos", key, scheme);
    }
    await put(project, "backup", "2026-08-02.txt", scheme);
    const api = await recordApiOf(project);
    const [{ id }] = (await api.ok("GET", "/zones?name=example.com")) as [{ id: string }];
    const record = { type: "A", name: `import-${scheme}`, content: "192.0.2.7" };
    await api.ok("POST", `/zones/${id}/dns_records`, record);
    const page = await open("/state/before-import", scheme);
    await page.getByRole("region", { name: "zone example.com" }).waitFor(waiting);
    expect(await take(page, `state-${scheme}`)).toEqual(wide);
  });
});

it.skipIf(!isWanted)("a picture shows objects on a narrow screen", async () => {
  const page = await open("/buckets/photos?prefix=albums%2Falps%2F", "light", 390);
  await page.getByRole("row").filter({ hasText: "valley.png" }).waitFor(waiting);
  expect(await take(page, "objects-narrow")).toEqual({ width: 390, height: 800 });
});
