/** Uploads: files and folders, keys that exist, parts, pauses, failures, and a page that is reloaded. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accessibilityProblems, useBrowser } from "./support/browser.ts";
import { keysOf as keysOfBucket, put } from "./support/contents.ts";
import { PartGate } from "./support/part-gate.ts";
import { writeRandomFile } from "./support/random-file.ts";
import { serveProject } from "./support/served-project.ts";

const project = serveProject();
const browser = useBrowser();
const folder = mkdtempSync(join(tmpdir(), "ledge-uploaded-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

/** The size of parts that the page chooses for these files. */
const partMebibytes = 16;
/** The size of the file of the upload that a reload interrupts. */
const interruptedMebibytes = Number(process.env["LEDGE_UPLOAD_MEBIBYTES"] ?? 256);
/** A slow machine sends a mebibyte in a second. */
const interruptedMilliseconds = 120_000 + interruptedMebibytes * 1000;

function writeFile(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function openFolder(prefix: string, options = {}): Promise<Page> {
  const page = await browser.open(project.explorerUrl, options);
  await page.goto(`${project.origin}/buckets/photos?${new URLSearchParams({ prefix }).toString()}`);
  await page.getByRole("button", { name: "Upload files" }).waitFor();
  return page;
}

async function choose(page: Page, ...paths: readonly string[]): Promise<void> {
  await page.getByLabel("Files to upload").setInputFiles(paths);
}

function rowOf(page: Page, key: string): Locator {
  return page.getByRole("list", { name: "Files" }).getByRole("listitem").filter({ hasText: key });
}

function contentPath(key: string): string {
  return `/api/buckets/photos/content?${new URLSearchParams({ key }).toString()}`;
}

async function textOf(key: string): Promise<string> {
  const response = await project.fetch(contentPath(key));
  return response.text();
}

/** The SHA-256 of what is stored. */
async function hashOf(key: string): Promise<string> {
  const response = await project.fetch(contentPath(key));
  const hash = createHash("sha256");
  for await (const chunk of response.body as ReadableStream<Uint8Array>) hash.update(chunk);
  return hash.digest("hex");
}

function keysOf(prefix: string): Promise<string[]> {
  return keysOfBucket(project, "photos", prefix);
}

interface Upload {
  readonly key: string;
  readonly uploadId: string;
}

async function uploadsOf(prefix: string): Promise<readonly Upload[]> {
  const query = new URLSearchParams({ prefix });
  const { uploads } = await project.call<{ uploads: readonly Upload[] }>(
    `/api/buckets/photos/uploads?${query.toString()}`,
  );
  return uploads;
}

/** The numbers of the parts that the store has of the only upload below a prefix. */
async function partsOf(prefix: string): Promise<number[]> {
  const [upload] = await uploadsOf(prefix);
  if (upload === undefined) return [];
  const query = new URLSearchParams({ key: upload.key });
  const { parts } = await project.call<{ parts: { partNumber: number }[] }>(
    `/api/buckets/photos/uploads/${upload.uploadId}?${query.toString()}`,
  );
  return parts.map(({ partNumber }) => partNumber);
}

function numbers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

describe("files", () => {
  it("are uploaded by the button, several at once", async () => {
    const page = await openFolder("several/");
    await choose(page, writeFile("a.txt", "A"), writeFile("b.html", "<p>B"), writeFile("c", ""));
    for (const name of ["several/a.txt", "several/b.html", "several/c"]) {
      await rowOf(page, name)
        .getByText(/^Uploaded/)
        .waitFor();
    }
    await page.getByRole("row", { name: /b\.html/ }).waitFor();
    expect(await keysOf("several/")).toEqual(["several/a.txt", "several/b.html", "several/c"]);
    expect(await textOf("several/b.html")).toBe("<p>B");
    const response = await project.fetch(contentPath("several/b.html"));
    expect(response.headers.get("content-type")).toContain("text/html");
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole("button", { name: "Close the list of uploads" }).click();
    await page.getByRole("list", { name: "Files" }).waitFor({ state: "detached" });
  });

  it("of a folder keep their paths", async () => {
    const holiday = join(folder, "holiday");
    mkdirSync(join(holiday, "day 1", "לילה"), { recursive: true });
    writeFileSync(join(holiday, "list.txt"), "list");
    writeFileSync(join(holiday, "day 1", "לילה", "a.txt"), "night");
    const page = await openFolder("folders/");
    await page.getByLabel("Folder to upload").setInputFiles(holiday);
    await page.getByRole("row", { name: "holiday/" }).waitFor();
    await expect
      .poll(() => keysOf("folders/"))
      .toEqual(["folders/holiday/day 1/לילה/a.txt", "folders/holiday/list.txt"]);
    expect(await textOf("folders/holiday/day 1/לילה/a.txt")).toBe("night");
  });

  it("whose keys exist wait for an answer: replace, keep both or skip", async () => {
    const names = ["replaced.txt", "kept.txt", "skipped.txt"];
    for (const name of names) await put(project, "photos", `exist/${name}`, "old");
    const page = await openFolder("exist/", { expectedErrors: /412/ });
    await choose(page, ...names.map((name) => writeFile(name, "new")));
    await page.getByText("3 waiting for you").waitFor();
    expect(await rowOf(page, "exist/kept.txt").textContent()).toContain("already");
    await page.getByRole("button", { name: "Replace: exist/replaced.txt" }).click();
    await page.getByRole("button", { name: "Keep both: exist/kept.txt" }).click();
    await page.getByRole("button", { name: "Skip: exist/skipped.txt" }).click();
    await page.getByText(/2 files, .* 1 skipped/).waitFor();
    const keys = [
      "exist/kept (2).txt",
      "exist/kept.txt",
      "exist/replaced.txt",
      "exist/skipped.txt",
    ];
    expect(await keysOf("exist/")).toEqual(keys);
    expect(await Promise.all(keys.map(textOf))).toEqual(["new", "old", "new", "old"]);
  });
});

describe("a large file", () => {
  const path = join(folder, "large.bin");
  let hash = "";
  beforeAll(() => {
    hash = writeRandomFile(path, { mebibytes: 40, seed: 1 });
  });

  it("is sent in parts, with a pause", async () => {
    const page = await openFolder("paused/");
    const gate = await PartGate.of(page);
    gate.decide = (partNumber) => (partNumber === 1 ? "pass" : "hold");
    const [first] = await Promise.all([page.waitForResponse(/\/parts\/1\?/), choose(page, path)]);
    await first.finished();
    const row = rowOf(page, "paused/large.bin");
    await row.getByText(/16\.0 MiB of 40\.0 MiB/).waitFor();
    const bar = row.getByRole("progressbar");
    expect(await bar.evaluate((element: HTMLProgressElement) => element.position)).toBe(0.4);
    await page.getByRole("button", { name: "Pause: paused/large.bin" }).click();
    await row.getByText("Paused at 16.0 MiB of 40.0 MiB").waitFor();
    expect(await partsOf("paused/")).toEqual([1]);
    gate.forget();
    await gate.release();
    await page.getByRole("button", { name: "Continue: paused/large.bin" }).click();
    await row.getByText("Uploaded, 40.0 MiB").waitFor();
    expect(await hashOf("paused/large.bin")).toBe(hash);
    expect(gate.sent).toEqual(new Map([1, 2, 3].map((partNumber) => [partNumber, 1])));
    expect(await uploadsOf("paused/")).toEqual([]);
  });

  it("is sent again where requests fail, by itself and by a person", async () => {
    const page = await openFolder("broken/", { expectedErrors: /ERR_FAILED/ });
    const gate = await PartGate.of(page);
    gate.decide = (partNumber) => {
      const isFirst = partNumber === 1 && (gate.broken.get(1) ?? 0) < 2;
      return isFirst || partNumber === 3 ? "break" : "pass";
    };
    await choose(page, path);
    const row = rowOf(page, "broken/large.bin");
    await row.getByText(/^Failed: The connection to the explorer broke 5 times/).waitFor();
    await page.getByText("1 failed", { exact: true }).waitFor();
    expect(await partsOf("broken/")).toEqual([1, 2]);
    await gate.release();
    await page.getByRole("button", { name: "Retry: broken/large.bin" }).click();
    await row.getByText("Uploaded, 40.0 MiB").waitFor();
    expect(await hashOf("broken/large.bin")).toBe(hash);
    expect(gate.sent).toEqual(new Map([1, 2, 3].map((partNumber) => [partNumber, 1])));
    expect(gate.broken).toEqual(
      new Map([
        [1, 2],
        [3, 5],
      ]),
    );
  });

  it("that is cancelled leaves no parts", async () => {
    const page = await openFolder("cancelled/");
    const gate = await PartGate.of(page);
    gate.decide = (partNumber) => (partNumber === 1 ? "pass" : "hold");
    await choose(page, path);
    await expect.poll(() => partsOf("cancelled/"), { timeout: 60_000 }).toEqual([1]);
    await page.getByRole("button", { name: "Cancel: cancelled/large.bin" }).click();
    await rowOf(page, "cancelled/large.bin").waitFor({ state: "detached" });
    expect(await uploadsOf("cancelled/")).toEqual([]);
    expect(await keysOf("cancelled/")).toEqual([]);
  });

  it("that exists is asked about before its parts are sent", async () => {
    await put(project, "photos", "taken/large.bin", "old");
    const page = await openFolder("taken/");
    const gate = await PartGate.of(page);
    await choose(page, path);
    await page.getByRole("button", { name: "Keep both: taken/large.bin" }).click();
    await rowOf(page, "taken/large (2).bin").getByText("Uploaded, 40.0 MiB").waitFor();
    expect([...gate.sent.values()]).toEqual([1, 1, 1]);
    expect(await hashOf("taken/large (2).bin")).toBe(hash);
    expect(await textOf("taken/large.bin")).toBe("old");
  });
});

describe("an upload that a reload interrupts", () => {
  it(
    "continues with the missing parts when the file is chosen again",
    async () => {
      const path = join(folder, "interrupted.bin");
      const hash = writeRandomFile(path, { mebibytes: interruptedMebibytes, seed: 2 });
      const { size } = statSync(path);
      const count = Math.ceil(interruptedMebibytes / partMebibytes);
      const half = Math.floor(count / 2);
      const page = await openFolder("interrupted/");
      page.on("dialog", (dialog) => void dialog.accept());
      const gate = await PartGate.of(page);
      gate.decide = (partNumber) => (partNumber <= half ? "pass" : "hold");
      await choose(page, path);
      await expect
        .poll(() => partsOf("interrupted/"), { timeout: interruptedMilliseconds, interval: 500 })
        .toEqual(numbers(1, half));
      await expect.poll(() => gate.held).toBeGreaterThan(0);

      await page.reload();
      gate.forget();
      const key = `interrupted/${basename(path)}`;
      const row = rowOf(page, key);
      const share = Math.floor((half * partMebibytes * 100) / interruptedMebibytes);
      await row.getByText(`${share} % uploaded; choose the file again to go on.`).waitFor();
      const input = page.getByLabel(`File of ${key}`);
      await input.setInputFiles(writeFile("other.bin", "another file"));
      await row
        .getByText(`and the file of this upload has ${size.toLocaleString("en")} bytes`)
        .waitFor();
      await gate.release();
      await input.setInputFiles(path);
      await row.getByText(/^Uploaded/).waitFor({ timeout: interruptedMilliseconds });

      expect(await keysOf("interrupted/")).toEqual([key]);
      expect(await hashOf(key)).toBe(hash);
      const all = numbers(1, count);
      expect(new Map([...gate.sent].sort(([one], [other]) => one - other))).toEqual(
        new Map(all.map((partNumber) => [partNumber, 1])),
      );
      expect(await uploadsOf("interrupted/")).toEqual([]);
      await page.reload();
      await page.getByRole("row", { name: /interrupted\.bin/ }).waitFor();
      expect(await page.getByRole("list", { name: "Files" }).count()).toBe(0);
    },
    2 * interruptedMilliseconds,
  );
});

describe("the uploads in progress", () => {
  it("are listed with their parts and the time left, and aborted", async () => {
    const key = "progress/ä <b>.bin";
    const { uploadId } = await project.call<{ uploadId: string }>("/api/buckets/photos/uploads", {
      method: "POST",
      body: JSON.stringify({ key }),
      headers: { "content-type": "application/json" },
    });
    for (const number of [1, 2]) {
      const query = new URLSearchParams({ key });
      await project.call(
        `/api/buckets/photos/uploads/${uploadId}/parts/${number}?${query.toString()}`,
        { method: "PUT", body: "x".repeat(1024 * number) },
      );
    }
    const page = await openFolder("progress/");
    await page.getByRole("link", { name: "Uploads in progress" }).click();
    const table = page.getByRole("table", { name: "Uploads to photos" });
    await table.getByRole("cell", { name: "6 days 23 hours" }).waitFor();
    await table.getByRole("button", { name: key, exact: true }).click();
    await page.getByText("2 parts, 3.0 KiB in all").waitFor();
    const parts = page.getByRole("region", { name: "Parts" });
    expect(await parts.getByRole("row").count()).toBe(3);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole("button", { name: `Abort the upload of ${key}` }).click();
    const dialog = page.getByRole("dialog", { name: "Abort the upload" });
    await dialog.getByRole("button", { name: "Keep the upload" }).click();
    expect((await uploadsOf("progress/")).length).toBe(1);
    await page.getByRole("button", { name: `Abort the upload of ${key}` }).click();
    await dialog.getByRole("button", { name: "Abort the upload" }).click();
    await page.getByText("No uploads in progress").waitFor();
    expect(await uploadsOf("progress/")).toEqual([]);
  });
});
