/** Faults: faults, latency and the clock, switched on and off by a person, and felt by the script. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterEach, describe, expect, it } from "vitest";
import { accessibilityProblems, useBrowser } from "./support/browser.ts";
import { put } from "./support/contents.ts";
import { askByHttp, s3Of } from "./support/programs.ts";
import { serveProject, switchFaults } from "./support/served-project.ts";

const project = serveProject();
const browser = useBrowser();

const waiting = { timeout: 60_000 };

afterEach(() => switchFaults(project));

async function openFaults(options = {}): Promise<Page> {
  const page = await browser.open(project.explorerUrl, { ...options, place: "/faults" });
  await page.getByRole("heading", { name: "Faults" }).waitFor(waiting);
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
  return page.getByRole("list", { name: "Faults that are on" });
}

function banner(page: Page): Locator {
  return page.getByRole("status").filter({ hasText: "Faults are on" });
}

async function switchOn(page: Page, text: string): Promise<void> {
  await page.getByLabel("A fault as text").fill(text);
  await page.getByLabel("A fault as text").press("Enter");
}

describe("faults", () => {
  it("fail the calls of the script, count their hits, and are switched off", async () => {
    const page = await openFaults();
    const text = "put:photos/bad/*:10001";
    await switchOn(page, text);
    const fault = faults(page).getByRole("listitem").filter({ hasText: text });
    await fault.getByText("0 hits").waitFor(waiting);
    expect(await send("bad/a", "content")).toMatchObject({
      status: 500,
      text: expect.stringContaining("(10001)"),
    });
    expect(await send("bad/b", "content")).toMatchObject({ status: 500 });
    expect(await send("good", "content")).toMatchObject({ status: 200 });
    await fault.getByText("2 hits").waitFor(waiting);
    await page.getByRole("button", { name: `Switch off ${text}` }).click();
    await page.getByText("No fault is on").waitFor(waiting);
    expect(await send("bad/a", "content")).toMatchObject({ status: 200 });
  });

  it("that the server refuses change nothing, and the refusal quotes the text", async () => {
    const page = await openFaults({ expectedErrors: /400/ });
    await switchOn(page, "put:photos/kept:10001");
    await faults(page).getByText("put:photos/kept:10001").waitFor(waiting);
    await switchOn(page, "putt:photos:10001");
    const refusal = page.getByRole("alert").filter({ hasText: '"putt:photos:10001"' });
    await refusal.waitFor(waiting);
    expect(await refusal.innerText()).toContain('Did you mean "put"?');
    expect(await page.getByLabel("A fault as text").inputValue()).toBe("putt:photos:10001");
    expect(await faults(page).getByRole("listitem").count()).toBe(1);
    expect(await send("kept", "content")).toMatchObject({ status: 500 });
    await switchOn(page, "put:photos/<img src=x>:10001");
    await faults(page).getByText("put:photos/<img src=x>:10001").waitFor(waiting);
    expect(await page.locator("img[src=x]").count()).toBe(0);
  });

  it("survive a saved script", async () => {
    const page = await openFaults();
    await page.getByRole("button", { name: "All writes fail" }).click();
    await faults(page).getByText(":*:10001").waitFor(waiting);
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
    await page.getByRole("button", { name: /^Switch off put/ }).click();
    await page.getByText("No fault is on").waitFor(waiting);
    expect(await send("after", "content")).toMatchObject({ status: 200 });
  });

  it("fail DNS queries, too", async () => {
    const page = await openFaults();
    expect(await askByHttp(project, "www.example.com", "A")).toMatchObject({ Status: 3 });
    await switchOn(page, "dns:servfail:www.example.com/A");
    await faults(page).getByText("dns:servfail:www.example.com/A").waitFor(waiting);
    expect(await askByHttp(project, "www.example.com", "A")).toMatchObject({ Status: 2 });
    expect(await askByHttp(project, "www.example.com", "MX")).toMatchObject({ Status: 3 });
    await faults(page).getByText("1 hit").waitFor(waiting);
    await page.getByRole("button", { name: "Switch all off" }).click();
    await page.getByText("No fault is on").waitFor(waiting);
    expect(await askByHttp(project, "www.example.com", "A")).toMatchObject({ Status: 3 });
  });
});

describe("the banner", () => {
  it("comes without a touch when another program switches faults on, is in every view, and ends all", async () => {
    const page = await browser.open(project.explorerUrl);
    await page.getByRole("heading", { name: "Buckets" }).waitFor(waiting);
    expect(await banner(page).count()).toBe(0);
    await switchFaults(project, {
      faults: ["put:photos:10001"],
      latencyMilliseconds: 200,
    });
    await banner(page).getByText("1 fault and 200 ms of latency").waitFor(waiting);
    for (const place of ["/buckets", "/buckets/photos", "/zones", "/lookup", "/live"]) {
      await page.goto(`${project.origin}${place}`);
      await banner(page).getByText("1 fault and 200 ms of latency").waitFor(waiting);
    }
    await banner(page).getByRole("link", { name: "Show" }).click();
    await page.getByRole("heading", { name: "Faults" }).waitFor();
    await page.goBack();
    await banner(page).getByRole("button", { name: "Switch all off" }).click();
    await page.getByText("All faults are off.").waitFor(waiting);
    await banner(page).waitFor({ state: "detached" });
    expect(await send("normal", "content")).toMatchObject({ status: 200 });
  });
});

describe("the latency", () => {
  it("is added to each call", async () => {
    await put(project, "photos", "slow.txt", "slow");
    const page = await openFaults();
    const latency = section(page, "Latency");
    await latency.getByLabel("Milliseconds").fill("700");
    await latency.getByLabel("Milliseconds").press("Enter");
    await banner(page).getByText("700 ms of latency").waitFor(waiting);
    const started = performance.now();
    expect(await send("slow.txt")).toEqual({ status: 200, text: "slow" });
    expect(performance.now() - started).toBeGreaterThanOrEqual(690);
    await latency.getByRole("button", { name: "None" }).click();
    await banner(page).waitFor({ state: "detached", ...waiting });
  });
});

describe("the clock", () => {
  it("asks before it moves 8 days, which ends an upload, and goes back", async () => {
    const s3 = await s3Of(project);
    await s3.send({ method: "POST", target: "/photos/old.bin?uploads" });
    const uploads = async (): Promise<unknown[]> =>
      (await project.call<{ uploads: unknown[] }>("/api/buckets/photos/uploads")).uploads;
    expect(await uploads()).toHaveLength(1);
    const page = await openFaults();
    const clock = section(page, "Clock");
    await clock.getByText("as the machine's clock").waitFor();
    await clock.getByRole("button", { name: "8 days later" }).click();
    const question = page.getByRole("dialog");
    expect(await question.innerText()).toContain("Uploads in progress expire after seven days");
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "detached" });
    await page.waitForFunction(() => document.activeElement?.textContent === "8 days later");
    expect(await uploads()).toHaveLength(1);
    await page.keyboard.press("Enter");
    await question.getByRole("button", { name: "Move the clock" }).click();
    await clock.getByText("8 days ahead").waitFor(waiting);
    await banner(page).getByText("a clock 8 days ahead").waitFor(waiting);
    await expect.poll(uploads, waiting).toEqual([]);

    await send("dated.txt", "content");
    const { uploaded } = await project.call<{ uploaded: number }>(
      "/api/buckets/photos/object?key=dated.txt",
    );
    expect(uploaded).toBeGreaterThan(Date.now() + 7 * 86_400_000);
    await clock.getByRole("button", { name: "Back to now" }).click();
    await clock.getByText("as the machine's clock").waitFor(waiting);
    await clock.getByRole("button", { name: "1 hour later" }).click();
    await clock.getByText("1 hour ahead").waitFor(waiting);
  });
});

it.each([
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 320 },
] as const)("the view has no violation of axe-core, $colorScheme at $width px", async (form) => {
  const page = await openFaults({
    colorScheme: form.colorScheme,
    viewport: { width: form.width, height: 800 },
    expectedErrors: /400/,
  });
  await switchOn(page, "put:photos/a:10001");
  await faults(page).getByText("put:photos/a:10001").waitFor(waiting);
  await switchOn(page, "putt");
  await page.getByRole("alert").filter({ hasText: '"putt"' }).waitFor(waiting);
  expect(await accessibilityProblems(page)).toEqual([]);
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
    await page.getByRole("button", { name: "Switch all off" }).click();
    await page.getByText("No fault is on").waitFor(waiting);
    const second = await fetch(`${faulty.dev.url}/second`, { method: "PUT", body: "content" });
    expect(second.status).toBe(200);
  });
});
