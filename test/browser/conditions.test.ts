/** Conditions: faults, latency and the clock, switched on and off by a person, and felt by the script. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterEach, describe, expect, it } from "vitest";
import type { Conditions, ConditionsState } from "../../src/explorer/api/conditions.ts";
import { accessibilityProblems, useBrowser } from "./support/browser.ts";
import { put } from "./support/contents.ts";
import { askByHttp } from "./support/programs.ts";
import { serveProject } from "./support/served-project.ts";

const project = serveProject();
const browser = useBrowser();

const waiting = { timeout: 60_000 };
const noConditions: Conditions = {
  bucketFaults: [],
  dnsFaults: [],
  latencyMilliseconds: 0,
  clockOffsetMilliseconds: 0,
};

afterEach(async () => {
  await project.call("/api/conditions", { method: "PUT", body: JSON.stringify(noConditions) });
});

async function openConditions(options = {}): Promise<Page> {
  const page = await browser.open(project.explorerUrl, options);
  await page.goto(`${project.origin}/faults`);
  await page.getByRole("heading", { name: "Bad days on purpose" }).waitFor(waiting);
  return page;
}

/** A request of a browser to the script: the status, and the message of an error of the script. */
async function send(key: string, body?: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${project.dev.url}/${key}`, {
    ...(body !== undefined && { method: "PUT", body }),
  });
  return { status: response.status, text: await response.text() };
}

function section(page: Page, name: string): Locator {
  return page.getByRole("region", { name, exact: true });
}

function faults(page: Page): Locator {
  return page.getByRole("list", { name: "Bucket faults in force" });
}

function banner(page: Page): Locator {
  return page.getByRole("status").filter({ hasText: "Unusual conditions" });
}

/** Switches a fault on by its text. */
async function switchOn(page: Page, name: string, text: string): Promise<void> {
  const form = section(page, name);
  await form.getByLabel("The fault as text").fill(text);
  await form.getByRole("button", { name: "Switch on" }).click();
}

describe("faults of buckets", () => {
  it("are made by the form, fail the calls of the script, and are switched off", async () => {
    const page = await openConditions();
    const form = section(page, "Bucket faults");
    await form.getByLabel("Bucket", { exact: true }).selectOption("photos");
    await form.getByLabel("Keys (* is any text)").fill("bad/*");
    const text = "put:photos/bad/*:10001";
    expect(await form.getByLabel("The fault as text").inputValue()).toBe(text);
    await form.getByRole("button", { name: "Switch on" }).click();
    const fault = faults(page).getByRole("listitem").filter({ hasText: text });
    await fault.waitFor(waiting);
    expect(await fault.innerText()).toContain("Error 10001 InternalError for every call");
    expect(await fault.innerText()).toContain("0 hits");

    expect(await send("bad/a", "content")).toMatchObject({
      status: 500,
      text: expect.stringContaining("(10001)"),
    });
    expect(await send("bad/b", "content")).toMatchObject({ status: 500 });
    expect(await send("good", "content")).toMatchObject({ status: 200 });
    await fault.getByText("2 hits").waitFor(waiting);

    await page.getByRole("button", { name: `Switch off ${text}` }).click();
    await form.getByText("No fault is in force.").waitFor(waiting);
    expect(await send("bad/a", "content")).toMatchObject({ status: 200 });
  });

  it("are made by text, which fills the form, with a number of times", async () => {
    const page = await openConditions();
    const form = section(page, "Bucket faults");
    await form.getByLabel("The fault as text").fill("get:photos/twice:10058:times=2");
    expect(await form.getByLabel("Method").inputValue()).toBe("get");
    expect(await form.getByLabel("Times").inputValue()).toBe("2");
    await form.getByLabel("The fault as text").press("Enter");
    await faults(page).getByText("get:photos/twice:10058:times=2").waitFor(waiting);
    await send("twice", "content");
    const statuses = [];
    for (let request = 0; request < 3; request++) statuses.push((await send("twice")).status);
    expect(statuses).toEqual([500, 500, 200]);
    await faults(page).getByText("2 hits").waitFor(waiting);
  });

  it("that the server refuses change nothing, and the refusal quotes the text", async () => {
    const page = await openConditions({ expectedErrors: /400/ });
    await switchOn(page, "Bucket faults", "put:photos/kept:10001");
    await faults(page).getByText("put:photos/kept:10001").waitFor(waiting);
    await switchOn(page, "Bucket faults", "putt:photos:10001");
    const form = section(page, "Bucket faults");
    const refusal = form.getByText('"putt:photos:10001"');
    await refusal.waitFor(waiting);
    expect(await refusal.innerText()).toContain('Did you mean "put"?');
    expect(await form.getByLabel("The fault as text").inputValue()).toBe("putt:photos:10001");
    expect(await faults(page).getByRole("listitem").count()).toBe(1);
    expect(await send("kept", "content")).toMatchObject({ status: 500 });
    await switchOn(page, "Bucket faults", "put:absent:10001");
    await form.getByText(/absent.*photos/).waitFor(waiting);
    await switchOn(page, "Bucket faults", "put:photos/<img src=x>:10001");
    await faults(page).getByText("put:photos/<img src=x>:10001").waitFor(waiting);
    expect(await page.locator("img[src=x]").count()).toBe(0);
  });

  it("survive a saved script", async () => {
    const page = await openConditions();
    await switchOn(page, "Bucket faults", "put:photos:10001");
    await faults(page).getByText("put:photos:10001").waitFor(waiting);
    const path = join(project.folder, "index.js");
    const script = readFileSync(path, "utf8");
    writeFileSync(path, script.replace('"Not found"', '"Nothing here"'));
    await expect
      .poll(async () => (await send("none").catch(() => null))?.text, waiting)
      .toBe("Nothing here");
    expect(await send("after", "content")).toMatchObject({
      status: 500,
      text: expect.stringContaining("(10001)"),
    });
    await page.getByRole("button", { name: "Switch off put:photos:10001" }).click();
    await section(page, "Bucket faults").getByText("No fault is in force.").waitFor(waiting);
    expect(await send("after", "content")).toMatchObject({ status: 200 });
  });
});

describe("the banner", () => {
  it("is in every view while a condition is unusual, and ends all conditions", async () => {
    const page = await openConditions();
    expect(await banner(page).count()).toBe(0);
    await page.getByRole("button", { name: "Everything is 200 ms slower" }).click();
    await page.getByRole("button", { name: "All writes fail" }).click();
    await banner(page).getByText("1 fault and 200 ms of latency").waitFor(waiting);
    for (const place of ["/buckets", "/buckets/photos", "/zones", "/lookup", "/live"]) {
      await page.goto(`${project.origin}${place}`);
      await banner(page).getByText("1 fault and 200 ms of latency").waitFor(waiting);
    }
    await banner(page).getByRole("link", { name: "Show" }).click();
    await page.getByRole("heading", { name: "Bad days on purpose" }).waitFor();
    await page.goBack();
    await banner(page).getByRole("button", { name: "Back to normal" }).click();
    await page.getByText("All conditions are back to normal.").waitFor(waiting);
    await banner(page).waitFor({ state: "detached" });
    expect(await project.call<ConditionsState>("/api/conditions")).toMatchObject(noConditions);
    expect(await send("normal", "content")).toMatchObject({ status: 200 });
  });
});

describe("the latency", () => {
  it("is added to each call, by the field and by the slider", async () => {
    await put(project, "photos", "slow.txt", "slow");
    const page = await openConditions();
    const latency = section(page, "Latency");
    await latency.getByLabel("Latency in milliseconds", { exact: true }).fill("700");
    await latency.getByLabel("Latency in milliseconds", { exact: true }).press("Enter");
    await banner(page).getByText("700 ms of latency").waitFor(waiting);
    const started = performance.now();
    expect(await send("slow.txt")).toEqual({ status: 200, text: "slow" });
    expect(performance.now() - started).toBeGreaterThanOrEqual(690);
    await latency.getByRole("slider").focus();
    await page.keyboard.press("Home");
    await banner(page).waitFor({ state: "detached", ...waiting });
    expect((await project.call<ConditionsState>("/api/conditions")).latencyMilliseconds).toBe(0);
  });
});

describe("the clock", () => {
  it("moves 8 days, which ends an upload, and goes back", async () => {
    await project.call("/api/buckets/photos/uploads", {
      method: "POST",
      body: JSON.stringify({ key: "old.bin" }),
      headers: { "content-type": "application/json" },
    });
    const uploads = async (): Promise<unknown[]> =>
      (await project.call<{ uploads: unknown[] }>("/api/buckets/photos/uploads")).uploads;
    expect(await uploads()).toHaveLength(1);
    const page = await openConditions();
    const clock = section(page, "Clock");
    await clock.getByText("as the machine's clock").waitFor();
    await clock.getByRole("button", { name: "8 days later" }).click();
    await clock.getByText("8 days ahead").waitFor(waiting);
    await banner(page).getByText("a clock 8 days ahead").waitFor(waiting);
    await expect.poll(uploads, waiting).toEqual([]);
    await page.goto(`${project.origin}/buckets/photos/uploads`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await page.getByText("old.bin").count()).toBe(0);

    await send("dated.txt", "content");
    const { uploaded } = await project.call<{ uploaded: number }>(
      "/api/buckets/photos/object?key=dated.txt",
    );
    expect(uploaded).toBeGreaterThan(Date.now() + 7 * 86_400_000);
    await page.goto(`${project.origin}/faults`);
    await clock.getByRole("button", { name: "+1 hour" }).click();
    await clock.getByText("8 days and 1 hour ahead").waitFor(waiting);
    await clock.getByRole("button", { name: "Back to now" }).click();
    await clock.getByText("as the machine's clock").waitFor(waiting);
  });
});

describe("faults of DNS queries", () => {
  it("fail queries, count them, and end", async () => {
    const page = await openConditions();
    const form = section(page, "DNS faults");
    expect(await askByHttp(project, "www.example.com", "A")).toMatchObject({ Status: 3 });
    await form.getByLabel("Name (* is any text)").fill("www.example.com");
    await form.getByLabel("Type").selectOption("A");
    await form.getByRole("button", { name: "Switch on" }).click();
    const list = page.getByRole("list", { name: "DNS faults in force" });
    await list.getByText("dns:servfail:www.example.com/A").waitFor(waiting);
    expect(await askByHttp(project, "www.example.com", "A")).toMatchObject({ Status: 2 });
    expect(await askByHttp(project, "www.example.com", "MX")).toMatchObject({ Status: 3 });
    await list.getByText("1 hit").waitFor(waiting);
    await page.getByRole("button", { name: "All back to normal" }).click();
    await form.getByText("No fault is in force.").waitFor(waiting);
    expect(await askByHttp(project, "www.example.com", "A")).toMatchObject({ Status: 3 });
    await expect
      .poll(() => page.getByRole("button", { name: "All back to normal" }).isDisabled(), waiting)
      .toBe(true);
  });
});

describe("the view of the conditions", () => {
  it.each([
    { colorScheme: "light", width: 1280 },
    { colorScheme: "dark", width: 1280 },
    { colorScheme: "dark", width: 340 },
  ] as const)("has no violation of axe-core, $colorScheme at $width px", async (form) => {
    const page = await openConditions({
      colorScheme: form.colorScheme,
      viewport: { width: form.width, height: 800 },
      expectedErrors: /400/,
    });
    await switchOn(page, "Bucket faults", "put:photos/a:10001");
    await faults(page).getByText("put:photos/a:10001").waitFor(waiting);
    await page.getByRole("button", { name: "8 days later" }).click();
    await banner(page).getByText("8 days ahead").waitFor(waiting);
    await switchOn(page, "Bucket faults", "putt");
    await section(page, "Bucket faults").getByText('"putt"').first().waitFor(waiting);
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});

describe("a dev server with --fault", () => {
  const faulty = serveProject({ faults: ["put:photos/*:10001"] });

  it("fails the script from the first request on, and shows the fault", async () => {
    const response = await fetch(`${faulty.dev.url}/first`, { method: "PUT", body: "content" });
    expect(response.status).toBe(500);
    expect(await response.text()).toContain("(10001)");
    const page = await browser.open(faulty.explorerUrl);
    await banner(page).getByText("1 fault").waitFor(waiting);
    await page.goto(`${faulty.origin}/faults`);
    await faults(page).getByText("put:photos/*:10001").waitFor(waiting);
    await faults(page).getByText("1 hit").waitFor(waiting);
    await page.getByRole("button", { name: "All back to normal" }).click();
    await section(page, "Bucket faults").getByText("No fault is in force.").waitFor(waiting);
    const second = await fetch(`${faulty.dev.url}/second`, { method: "PUT", body: "content" });
    expect(second.status).toBe(200);
  });
});
