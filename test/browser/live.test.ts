/** Live: what the script, other programs and the name server do, as the page shows it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openExplorerLink } from "../support/explorer-access.ts";
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startExplorer } from "../../dist/index.js";
import { accessibilityProblems, useBrowser } from "./support/browser.ts";
import { askByHttp, recordApiOf, s3Of } from "./support/programs.ts";
import { serveProject } from "./support/served-project.ts";

/** Types make the lines of the bundle other lines than those of the source. */
const failing = `
import gallery from "./index.js";

interface Failure {
  readonly reason: string;
}

export default {
  async fetch(request: Request, env: object, context: ExecutionContext): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/thrown") fail({ reason: "thrown on purpose" });
    if (pathname.startsWith("/at-once-")) fail({ reason: "thrown at once" });
    if (pathname === "/later") context.waitUntil(scheduler.wait(1).then(() => fail({ reason: "thrown too late" })));
    return gallery.fetch(request, env);
  },
};

function fail({ reason }: Failure): never {
  throw new RangeError(reason);
}
`;

const project = serveProject({}, () => {
  writeFileSync(join(project.folder, "failing.ts"), failing);
  return { main: "failing.ts" };
});
const browser = useBrowser();

/** Observed requests arrive late on a busy machine. */
const waiting = { timeout: 60_000 };

beforeAll(async () => {
  const api = await recordApiOf(project);
  const record = { type: "A", name: "www", content: "192.0.2.1", ttl: 300 };
  await api.ok("POST", `/zones/${await zoneId()}/dns_records`, record);
});

async function zoneId(): Promise<string> {
  const zones = await (await recordApiOf(project)).ok("GET", "/zones?name=example.com");
  return (zones as { id: string }[])[0]!.id;
}

async function openLive(filter = "", options = {}): Promise<Page> {
  const place = `/live${filter && `?${new URLSearchParams({ filter })}`}`;
  const page = await browser.open(project.explorerUrl, { ...options, place });
  await page.getByText("Connected").waitFor(waiting);
  return page;
}

function send(key: string, init?: RequestInit): Promise<Response> {
  return fetch(`${project.dev.url}/${encodeURIComponent(key)}`, init);
}

function rowOf(page: Page, ...texts: string[]): Locator {
  return texts.reduce(
    (rows, hasText) => rows.filter({ hasText }),
    page.getByRole("row").filter({ visible: true }),
  );
}

function details(page: Page): Locator {
  return page.getByRole("complementary", { name: "Details of the entry" });
}

/** Acts until the page shows a row with the text: the page follows other programs soon after it is opened. */
async function actUntilSeen(page: Page, text: string, act: () => Promise<unknown>): Promise<void> {
  await expect
    .poll(async () => {
      await act();
      return rowOf(page, text).count();
    }, waiting)
    .toBeGreaterThan(0);
}

async function waitForStream(page: Page): Promise<void> {
  const s3 = await s3Of(project);
  await actUntilSeen(page, "heartbeat", () =>
    s3.send({ method: "GET", target: "/photos/heartbeat" }),
  );
}

async function askUntilSeen(page: Page, name: string): Promise<void> {
  await actUntilSeen(page, name, () => askByHttp(project, name, "A"));
}

describe("requests of the script", () => {
  it("appear with their bucket calls, outcomes and console", async () => {
    const page = await openLive();
    await send("cat.jpg", { method: "PUT", body: "a cat" });
    await send("cat.jpg");
    await send("no dog.jpg");
    const found = rowOf(page, "GET", "/cat.jpg");
    await found.waitFor(waiting);
    expect(await found.innerText()).toMatch(/Request[^]*script, 1 call[^]*200/);
    expect(await rowOf(page, "PUT", "/cat.jpg").innerText()).toMatch(/200/);

    await found.click();
    await details(page).getByText("looking for cat.jpg").waitFor();
    expect(await details(page).innerText()).toMatch(/1 call[^]*Bucket[^]*get[^]*photos\/cat\.jpg/);

    const absent = rowOf(page, "/no%20dog.jpg");
    await page.getByRole("button", { name: /new$/ }).or(absent).first().waitFor(waiting);
    await page.getByRole("button", { name: "Close the details" }).click();
    await page.mouse.move(0, 0);
    await page.getByRole("heading", { name: "Live" }).click();
    await absent.waitFor(waiting);
    expect(await absent.innerText()).toContain("404");
    await absent.click();
    const call = details(page).getByRole("listitem").filter({ hasText: "photos/no dog.jpg" });
    expect(await call.innerText()).toMatch(/get[^]*not found/);
    // The bar of a call has a text.
    await call.getByRole("img", { name: /^from .* [mµ]?s, for .* [mµ]?s$/ }).waitFor();
  });

  it("that throw say why: the message, and the stack by the lines of the source", async () => {
    await send("thrown");
    const page = await openLive("is:error");
    const row = rowOf(page, "/thrown", "RangeError: thrown on purpose");
    await row.waitFor(waiting);
    expect(await row.innerText()).toContain("500");
    await row.click();
    const exception = details(page).getByRole("region", { name: "Exception" });
    expect(await exception.innerText()).toMatch(
      /RangeError: thrown on purpose\s+at fail \(.*failing\.ts:19:9\)\s+at [^\n]*failing\.ts:11:/,
    );
  });

  it("that throw at once say why, each of them", async () => {
    await Promise.all(Array.from({ length: 20 }, (_, index) => send(`at-once-${index}`)));
    const page = await openLive('at-once- "RangeError: thrown at once"');
    const count = page.getByText(/^\d+ rows?$/);
    await expect.poll(() => count.innerText(), waiting).toBe("20 rows");
  });

  it("that throw after the response say so, too", async () => {
    await send("later");
    const page = await openLive("is:error");
    await rowOf(page, "/later", "RangeError: thrown too late").click(waiting);
    expect(await details(page).innerText()).toMatch(/at fail \(.*failing\.ts:19:9\)/);
  });

  it("lead to the object", async () => {
    await send("holidays/sea.txt", { method: "PUT", body: "the sea" });
    const page = await openLive("kind:request sea.txt");
    await rowOf(page, "sea.txt").click(waiting);
    await details(page).getByRole("link", { name: "photos/holidays/sea.txt" }).click();
    await page.getByRole("region", { name: "Text of the object" }).waitFor();
    expect(page.url()).toBe(
      `${project.origin}/buckets/photos?prefix=holidays%2F&key=holidays%2Fsea.txt`,
    );
    await page.goBack();
    await rowOf(page, "sea.txt").waitFor(waiting);
  });
});

describe("calls of other programs", () => {
  it("appear with their source, and lead to their object", async () => {
    const page = await openLive();
    await waitForStream(page);
    const s3 = await s3Of(project);
    await s3.send({ method: "PUT", target: "/backup/report.txt", body: "a report" });
    const row = rowOf(page, "backup/report.txt");
    await row.waitFor(waiting);
    expect(await row.innerText()).toMatch(/Bucket[^]*put[^]*s3[^]*ok/);
    expect(await rowOf(page, "heartbeat").first().innerText()).toContain("not found");
    await row.getByRole("link").click();
    await page.getByText("a report").waitFor();
    expect(page.url()).toContain("/buckets/backup?key=report.txt");
  });

  it("are DNS queries and calls of the record API, too", async () => {
    const page = await openLive("-heartbeat");
    const api = await recordApiOf(project);
    const zone = await zoneId();
    await askUntilSeen(page, "www.example.com");
    await askByHttp(project, "absent.example.com", "AAAA");
    await api.call("GET", `/zones/${zone}/dns_records?name=www.example.com`);
    await api.call("GET", `/zones/${zone}/dns_records/none`);
    const failed = rowOf(page, "dns_records/none");
    await failed.waitFor(waiting);
    expect(await failed.innerText()).toMatch(/DNS API[^]*GET[^]*\(\d+\)[^]*http[^]*error/);
    expect(await rowOf(page, "www.example.com", "DNS query").first().innerText()).toMatch(
      /A\s[^]*ok/,
    );
    const absent = rowOf(page, "absent.example.com");
    expect(await absent.innerText()).toMatch(/AAAA[^]*NXDOMAIN[^]*not found/);

    await absent.getByRole("link").click();
    await page.getByRole("heading", { name: "DNS lookup" }).waitFor();
    await page.getByText("NXDOMAIN").first().waitFor();
    expect(page.url()).toBe(`${project.origin}/lookup?name=absent.example.com&type=AAAA`);
    await page.goBack();
    await rowOf(page, "dns_records?name=www").getByRole("link").click(waiting);
    await page.getByRole("row").filter({ hasText: "192.0.2.1" }).waitFor();
    expect(page.url()).toBe(`${project.origin}/zones/example.com`);
  });
});

it("what the page itself asks is not in the list", async () => {
  const page = await openLive();
  await askUntilSeen(page, "one.example.com");
  await page.keyboard.press("c");
  await page.getByText("Nothing has happened yet").waitFor(waiting);
  // Each query that appears is a question of the explorer to the companion worker.
  await askUntilSeen(page, "two.example.com");
  await askUntilSeen(page, "three.example.com");
  const kinds = await page.locator("[data-serial] .live-kind").allTextContents();
  expect(new Set(kinds)).toEqual(new Set(["DNS query"]));
});

describe("the filter", () => {
  it("is a text with chips, and stands in the address", async () => {
    await send("filter-one.txt", { method: "PUT", body: "1" });
    await send("filter-two.txt");
    const page = await openLive();
    await rowOf(page, "filter-two.txt").waitFor(waiting);
    await page.keyboard.press("/");
    await page.keyboard.type("filter-");
    await rowOf(page, "cat.jpg").first().waitFor({ state: "detached" });
    await rowOf(page, "filter-one.txt").waitFor();
    await page.getByRole("searchbox", { name: "Filter" }).fill("filter- is:not-found");
    await rowOf(page, "filter-one.txt").waitFor({ state: "detached" });
    await rowOf(page, "filter-two.txt").waitFor();

    await page.getByRole("button", { name: "DNS queries" }).click();
    await page.getByText("No entry matches the filter").waitFor();
    expect(new URL(page.url()).searchParams.get("filter")).toBe("filter- is:not-found kind:query");
    await page.getByRole("button", { name: "DNS queries" }).click();
    await page.getByRole("button", { name: "Requests" }).click();
    await page.reload();
    await page.getByText("Connected").waitFor(waiting);
    const chip = page.getByRole("button", { name: "Requests" });
    expect(await chip.getAttribute("aria-pressed")).toBe("true");
    const field = page.getByRole("searchbox", { name: "Filter" });
    expect(await field.inputValue()).toBe("filter- is:not-found kind:request");

    await field.fill("is:soon");
    await page
      .getByText('"is:soon" matches nothing. After "is:" write ok, not-found, error.')
      .waitFor();
  });
});

describe("the list", () => {
  it("stays while it is paused, and says how much is new", async () => {
    const page = await openLive();
    await waitForStream(page);
    await page.keyboard.press("Space");
    await page.getByText("Paused").waitFor();
    await send("paused.txt");
    await page.getByRole("button", { name: /^\d+ new$/ }).waitFor(waiting);
    expect(await rowOf(page, "paused.txt").count()).toBe(0);
    // An earlier entry may be late: the entry is there with one of the next clicks.
    await expect
      .poll(async () => {
        await page.getByRole("button", { name: /^\d+ new$/ }).click(waiting);
        return rowOf(page, "paused.txt").count();
      }, waiting)
      .toBe(1);
    await send("later.txt");
    await page.getByRole("button", { name: /^\d+ new$/ }).waitFor(waiting);
    await page.getByRole("button", { name: /^Continue/ }).click();
    await rowOf(page, "later.txt").waitFor();
    await page.getByText("Connected").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("c");
    await page.getByText("Nothing has happened yet").waitFor();
    await send("after-clear.txt");
    await rowOf(page, "after-clear.txt").waitFor(waiting);
  });

  it("works by the keyboard alone", async () => {
    await send("keys-one.txt");
    await send("keys-two.txt");
    const page = await openLive("keys- kind:request");
    await rowOf(page, "keys-one.txt").waitFor(waiting);
    await rowOf(page, "keys-two.txt").waitFor(waiting);
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(() => document.activeElement?.textContent?.includes("keys-two"));
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(() => document.activeElement?.textContent?.includes("keys-one"));
    await page.keyboard.press("Enter");
    await details(page).getByText("looking for keys-one.txt").waitFor();
    await page.keyboard.press("ArrowUp");
    await details(page).getByText("looking for keys-two.txt").waitFor();
    await page.keyboard.press("Escape");
    await details(page).waitFor({ state: "detached" });
    await page.waitForFunction(() => document.activeElement?.textContent?.includes("keys-two"));
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.activeElement === document.body);
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Shortcuts" });
    await keys.waitFor();
    expect(await keys.innerText()).toContain("Pause or continue");
  });

  it("shows rates and errors in one strip", async () => {
    const page = await openLive();
    const strip = page.getByRole("region", { name: /^Rates/ });
    await send("charted.txt");
    await strip.getByRole("img", { name: /^At most [1-9]\d* a second/ }).waitFor(waiting);
    expect(await strip.innerText()).toMatch(/\d+ a second\s+\d+ errors? in a minute/);
  });

  it("shows names that look like HTML, right-to-left names and the longest keys, as they are", async () => {
    const html = "<img src=x onerror=document.title=1>";
    const rightToLeft = "שלום-עולם.txt";
    const longest = "k".repeat(1024);
    const keys = [html, rightToLeft, longest];
    const page = await openLive("kind:request");
    for (const key of keys) await send(key);
    const title = await page.title();
    for (const key of keys) {
      const row = rowOf(page, encodeURIComponent(key));
      await row.waitFor(waiting);
      await row.click();
      await details(page).getByText(`looking for ${key}`, { exact: true }).waitFor();
      await details(page)
        .getByRole("link", { name: `photos/${key}` })
        .waitFor();
      await page.getByRole("button", { name: "Close the details" }).click();
      await page.getByRole("heading", { name: "Live" }).click();
    }
    expect(await page.locator("img[src=x]").count()).toBe(0);
    expect(await page.title()).toBe(title);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1280);

    const s3 = await s3Of(project);
    await s3.send({ method: "PUT", target: `/backup/${encodeURIComponent(html)}` });
    await page.getByRole("searchbox", { name: "Filter" }).fill("kind:bucket source:s3");
    await rowOf(page, `backup/${html}`).waitFor(waiting);
    expect(await page.locator("img[src=x]").count()).toBe(0);
  });

  it("goes on after the server was away, and says so meanwhile", async () => {
    const s3 = await s3Of(project);
    const stateFolder = project.dev.persistFolder;
    const buckets = ["photos", "backup"];
    const first = await startExplorer({ stateFolder, buckets, port: 0 });
    onTestFinished(() => first.close());
    const page = await browser.open(first.url, { expectedErrors: /ERR_|Failed to load/ });
    await page.goto(`${(await openExplorerLink(first.url)).address}/live`);
    await page.getByText("Connected").waitFor(waiting);
    await page.getByText("Requests of a script appear here when ledge dev serves").waitFor();
    const putUntilSeen = (name: string): Promise<void> =>
      actUntilSeen(page, `backup/${name}`, () =>
        s3.send({ method: "PUT", target: `/backup/${name}`, body: name }),
      );
    await putUntilSeen("before");
    await first.close();
    await page.getByText("The explorer does not answer.").waitFor(waiting);
    expect(await rowOf(page, "backup/before").count()).toBeGreaterThan(0);
    const second = await startExplorer({ stateFolder, buckets, port: first.port });
    onTestFinished(() => second.close());
    expect(second.url).toBe(first.url);
    await page.getByText("Connected").waitFor(waiting);
    await putUntilSeen("after");
    expect(await rowOf(page, "backup/before").count()).toBeGreaterThan(0);
  });

  it.each([
    { colorScheme: "light", width: 1280 },
    { colorScheme: "dark", width: 1280 },
    { colorScheme: "dark", width: 340 },
  ] as const)("has no violation of axe-core, $colorScheme at $width px", async (form) => {
    await send("axe.txt");
    const page = await openLive("", {
      colorScheme: form.colorScheme,
      viewport: { width: form.width, height: 800 },
    });
    await rowOf(page, "/axe.txt").first().click(waiting);
    await details(page).getByText("looking for axe.txt").waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});
