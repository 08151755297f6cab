/** The details of one object: its content as the page shows it, its metadata, and what can be done. */
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { accessibilityProblems, useBrowser } from "./support/browser.ts";
import { keysOf, put } from "./support/contents.ts";
import { pdfDocument, pngImage, wavSound } from "./support/media.ts";
import { serveProject } from "./support/served-project.ts";

const project = serveProject();
const browser = useBrowser();

interface Details {
  readonly etag: string;
  readonly version: string;
  readonly httpMetadata: Readonly<Record<string, string>>;
  readonly customMetadata: Readonly<Record<string, string>>;
}

function detailsOf(key: string, init?: RequestInit): Promise<Details> {
  const query = new URLSearchParams({ key });
  return project.call<Details>(`/api/buckets/photos/object?${query.toString()}`, init);
}

/** The place of an object in the page. */
function placeOf(key: string): string {
  const prefix = key.slice(0, key.lastIndexOf("/") + 1);
  const query = new URLSearchParams({ prefix, key });
  return `/buckets/photos?${query.toString()}`;
}

async function openObject(key: string, options = {}): Promise<Page> {
  const page = await browser.open(project.explorerUrl, { ...options, place: placeOf(key) });
  await panelOf(page).getByRole("heading", { name: key, exact: true }).waitFor();
  return page;
}

function panelOf(page: Page) {
  return page.getByRole("complementary", { name: "Details of the object" });
}

async function clipboardOf(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText());
}

describe("the preview of an object", () => {
  it("shows an image with its size", async () => {
    await put(project, "photos", "preview/a.png", pngImage(37, 21), "image/png");
    const page = await openObject("preview/a.png");
    await page.getByText("37 × 21 pixels").waitFor();
    const image = page.getByRole("img", { name: "Image of preview/a.png" });
    expect(await image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(37);
  });

  it("says that an image is none, and shows the bytes", async () => {
    await put(project, "photos", "preview/none.png", "This is no image.", "image/png");
    const page = await openObject("preview/none.png");
    await page.getByText(/cannot show this content as an image/).waitFor();
    const bytes = page.getByRole("region", { name: "Bytes of the object" });
    expect(await bytes.textContent()).toContain("54 68 69 73 20 69 73 20");
  });

  it("highlights text", async () => {
    const source = 'const answer = 42; // why\nconst text = "words";\n';
    await put(project, "photos", "preview/a.js", source, "text/javascript");
    const page = await openObject("preview/a.js");
    const text = page.getByRole("region", { name: "Text of the object" });
    await text.locator(".tone-keyword", { hasText: "const" }).first().waitFor();
    await text.locator(".tone-number", { hasText: "42" }).waitFor();
    await text.locator(".tone-comment", { hasText: "// why" }).waitFor();
    await text.locator(".tone-string", { hasText: '"words"' }).waitFor();
    expect(await text.textContent()).toBe(source);
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it("shows HTML as its source, and executes nothing", async () => {
    const source =
      "<script>globalThis.executed = 1</script><img src=x onerror='globalThis.executed = 2'>";
    await put(project, "photos", "preview/a.html", source, "text/html");
    const page = await openObject("preview/a.html");
    const text = page.getByRole("region", { name: "Text of the object" });
    await text.locator("span").first().waitFor();
    expect(await text.textContent()).toBe(source);
    expect(await page.locator("img[src=x], iframe").count()).toBe(0);
    expect(await page.evaluate(() => Reflect.get(globalThis, "executed"))).toBeUndefined();
  });

  it("indents JSON of one line, with the numbers as they are written", async () => {
    const source = '{"big": 12345678901234567890123, "one": 1.0, "inner": {"list": [true, "x"]}}';
    await put(project, "photos", "preview/a.json", source, "application/json");
    const page = await openObject("preview/a.json");
    const text = page.getByRole("region", { name: "Text of the object" });
    await text.locator(".tone-number", { hasText: "12345678901234567890123" }).waitFor();
    expect(await text.textContent()).toContain('\n  "one": 1.0,\n  "inner": {\n');
    const tabs = page.getByRole("group", { name: "Show the content as" }).getByRole("button");
    expect(await tabs.allTextContents()).toEqual(["Text", "Hex"]);
  });

  it("shows the first bytes of other content", async () => {
    const bytes = new Uint8Array(10_000).map((_, index) => index % 251);
    await put(project, "photos", "preview/a.bin", bytes, "application/octet-stream");
    const page = await openObject("preview/a.bin");
    const shown = page.getByRole("region", { name: "Bytes of the object" });
    await shown.waitFor();
    expect(await shown.textContent()).toContain("00000ff0  40 41 42 43 44 45 46 47");
    await page.getByText("The first 4.0 KiB of 9.8 KiB are shown.").waitFor();
  });

  it("says that bytes are not valid UTF-8", async () => {
    const bytes = new Uint8Array([0x61, 0xff, 0xfe, 0x62, 0xc3, 0xa4, 0x0a]);
    await put(project, "photos", "preview/broken.txt", bytes);
    const page = await openObject("preview/broken.txt");
    await page.getByText(/Some bytes are not valid UTF-8/).waitFor();
    const text = page.getByRole("region", { name: "Text of the object" });
    expect(await text.textContent()).toBe("a\uFFFD\uFFFDbä\n");
    await page.getByRole("button", { name: "Show the bytes" }).click();
    await page.getByText("61 ff fe 62 c3 a4 0a").waitFor();
  });

  it("decodes content with an encoding, and shows more of a long text", async () => {
    const line = "0123456789abcdef\n";
    const long = line.repeat(20_000);
    await put(project, "photos", "preview/long.txt", gzipSync(long));
    const { etag, version } = await detailsOf("preview/long.txt");
    const httpMetadata = { contentType: "text/plain", contentEncoding: "gzip" };
    const change = { etag, version, httpMetadata, customMetadata: {}, storageClass: "Standard" };
    const headers = { "content-type": "application/json" };
    await detailsOf("preview/long.txt", { method: "PATCH", body: JSON.stringify(change), headers });
    const page = await openObject("preview/long.txt");
    await page.getByText(/with the encoding gzip .* decoded: the first 256\.0 KiB/).waitFor();
    await page.getByRole("button", { name: "Show 256.0 KiB more" }).click();
    await page.getByText(/decoded: 332\.0 KiB/).waitFor();
    const text = page.getByRole("region", { name: "Text of the object" });
    expect(await text.textContent()).toBe(long);
  });

  it("plays a sound from any position, by ranges", async () => {
    await put(project, "photos", "preview/a.wav", wavSound(600), "audio/wav");
    const page = await browser.open(project.explorerUrl);
    const ranges: number[] = [];
    page.on("response", (response) => {
      const range = /^bytes (\d+)-/.exec(response.headers()["content-range"] ?? "")?.[1];
      if (response.request().resourceType() === "media" && response.status() === 206) {
        ranges.push(Number(range));
      }
    });
    await page.goto(`${project.origin}${placeOf("preview/a.wav")}`);
    const audio = page.locator("audio");
    await expect
      .poll(() => audio.evaluate((element: HTMLAudioElement) => Math.round(element.duration)))
      .toBe(600);
    const time = await audio.evaluate(
      (element: HTMLAudioElement) =>
        new Promise<number>((resolve) => {
          element.addEventListener("seeked", () => resolve(element.currentTime));
          element.currentTime = 500;
        }),
    );
    expect(time).toBe(500);
    // From a place in the middle: the browser has not read what is before.
    await expect.poll(() => Math.max(...ranges)).toBeGreaterThan(4_000_000);
  });

  it("shows a PDF document in a frame without a sandbox", async () => {
    await put(project, "photos", "preview/a.pdf", pdfDocument(), "application/pdf");
    const page = await browser.open(project.explorerUrl);
    const [response] = await Promise.all([
      page.waitForResponse(
        (each) => each.request().isNavigationRequest() && each.url().includes("/content?"),
      ),
      page.goto(`${project.origin}${placeOf("preview/a.pdf")}`),
    ]);
    expect(response.status()).toBe(200);
    expect(response.headers()["content-type"]).toBe("application/pdf");
    expect(response.headers()["content-security-policy"]).not.toContain("sandbox");
    const frame = page.locator('iframe[title="PDF document preview/a.pdf"]');
    await frame.waitFor();
    expect(await frame.getAttribute("sandbox")).toBeNull();
  });
});

describe("the metadata of an object", () => {
  it("changes, and the content stays", async () => {
    await put(project, "photos", "metadata/a.txt", "content");
    const before = await detailsOf("metadata/a.txt");
    const page = await openObject("metadata/a.txt");
    await page.getByRole("button", { name: "Edit metadata" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit the metadata" });
    await dialog.getByLabel("Cache control").fill("public, max-age=3600");
    await dialog.getByRole("button", { name: "Add a pair" }).click();
    await page.keyboard.type("camera");
    await dialog.getByLabel("Value of pair 1").fill("עדשה\nsecond line");
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("The metadata is saved.").waitFor();
    await panelOf(page).getByRole("term").filter({ hasText: "camera" }).waitFor();
    const terms = await panelOf(page).getByRole("term").allTextContents();
    expect(terms[0]).toBe("Content type");
    const { etag, version, ...after } = await detailsOf("metadata/a.txt");
    expect(after.httpMetadata).toEqual({
      contentType: "text/plain",
      cacheControl: "public, max-age=3600",
    });
    expect(after.customMetadata).toEqual({ camera: "עדשה\nsecond line" });
    expect(etag).toBe(before.etag);
    expect(version).not.toBe(before.version);
    expect(await panelOf(page).getByText(etag).first().isVisible()).toBe(false);
    await panelOf(page).getByText("Hashes and version").click();
    expect(await panelOf(page).getByText(etag).first().isVisible()).toBe(true);
    const text = page.getByRole("region", { name: "Text of the object" });
    expect(await text.textContent()).toBe("content");
  });

  it("is not changed when another program has replaced the object meanwhile", async () => {
    await put(project, "photos", "metadata/b.txt", "old");
    const page = await openObject("metadata/b.txt", { expectedErrors: /412/ });
    await page.getByRole("button", { name: "Edit metadata" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit the metadata" });
    await dialog.getByLabel("Content language").fill("de");
    await put(project, "photos", "metadata/b.txt", "new content", "text/markdown");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/was changed meanwhile, and its metadata are not replaced/).waitFor();
    expect((await detailsOf("metadata/b.txt")).httpMetadata).toEqual({
      contentType: "text/markdown",
    });
    expect(await dialog.getByLabel("Content language").inputValue()).toBe("de");
  });

  it("is refused with the sentence of the server", async () => {
    await put(project, "photos", "metadata/c.txt", "content");
    const page = await openObject("metadata/c.txt", { expectedErrors: /400/ });
    await page.getByRole("button", { name: "Edit metadata" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit the metadata" });
    await dialog.getByLabel("Content language").fill("x".repeat(9000));
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => dialog.getByRole("alert").textContent()).toMatch(/limit|8,?192/);
  });
});

describe("an object", () => {
  it("has a link, which works without the explorer's token", async () => {
    await put(project, "photos", "linked/ä b.txt", "by a link");
    const page = await openObject("linked/ä b.txt");
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByText(/The link, which works until .* is on the clipboard/).waitFor();
    const link = await clipboardOf(page);
    const { s3 } = await project.call<{ s3: { url: string } }>("/api/project");
    expect(new URL(link).origin).toBe(new URL(s3.url).origin);
    expect(new URL(link).searchParams.get("X-Amz-Expires")).toBe("604800");
    const response = await fetch(link);
    expect({ status: response.status, text: await response.text() }).toEqual({
      status: 200,
      text: "by a link",
    });
    await page.getByRole("button", { name: "Copy key" }).click();
    await expect.poll(() => clipboardOf(page)).toBe("linked/ä b.txt");
  });

  it("that is deleted has one way to undo the deletion, and its details close", async () => {
    await put(project, "photos", "removed/a.txt", "content");
    const page = await openObject("removed/a.txt");
    await panelOf(page).getByRole("button", { name: "Delete" }).click();
    await panelOf(page).waitFor({ state: "detached" });
    await page.getByText(/deleted in \d+ s/).waitFor();
    expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(1);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText(/deleted in \d+ s/).waitFor({ state: "detached" });
    expect(await keysOf(project, "photos", "removed/")).toEqual(["removed/a.txt"]);
  });

  const keys = { "right-to-left": "שלום/תמונה של הים.txt", "1,024-byte": `${"ä".repeat(510)}.txt` };

  it.each(Object.entries(keys))("shows a %s key", async (_, key) => {
    await put(project, "photos", key, `content of ${key}`);
    const page = await openObject(key, { viewport: { width: 340, height: 700 } });
    const text = page.getByRole("region", { name: "Text of the object" });
    await text.waitFor();
    expect(await text.textContent()).toBe(`content of ${key}`);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(340);
    await page.getByRole("button", { name: "Copy key" }).click();
    await expect.poll(() => clipboardOf(page)).toBe(key);
    await page.reload();
    await text.waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});
