/** Uploads: files and folders, drops, keys that exist, large files, failures, and uploads of other programs. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Locator, Page } from "playwright-core";
import type { ObjectPage } from "../../src/explorer/api/buckets.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accessibilityProblems, useBrowser } from "./support/browser.ts";
import { keysOf as keysOfBucket, put } from "./support/contents.ts";
import { FileDrag } from "./support/file-drag.ts";
import { s3Of } from "./support/programs.ts";
import { writeRandomFile } from "./support/random-file.ts";
import { serveProject } from "./support/served-project.ts";
import { UploadGate } from "./support/upload-gate.ts";

const project = serveProject();
const browser = useBrowser();
const folder = mkdtempSync(join(tmpdir(), "ledge-uploaded-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

function writeFile(name: string, content: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

async function openFolder(prefix: string, options = {}): Promise<Page> {
  const place = `/buckets/photos?${new URLSearchParams({ prefix }).toString()}`;
  const page = await browser.open(project.explorerUrl, { ...options, place });
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
    await page.getByRole("button", { name: "Uploads", exact: true }).click();
    await rowOf(page, "several/c").waitFor({ state: "hidden" });
    expect(await page.getByText("3 files, 5 bytes").isVisible()).toBe(true);
    await page.getByRole("button", { name: "Close the list of uploads" }).click();
    await page.getByRole("button", { name: "Uploads", exact: true }).waitFor({ state: "detached" });
  });

  it("of a folder keep their paths", async () => {
    writeFile("holiday/list.txt", "list");
    writeFile("holiday/day 1/לילה/a.txt", "night");
    const page = await openFolder("folders/");
    await page.getByLabel("Folder to upload").setInputFiles(join(folder, "holiday"));
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

  it.each([1280, 390])("keep their rows where they are, %i pixels wide", async (width) => {
    const names = ["1.txt", "2.txt", "3.txt", "4.txt"];
    const prefix = `places-${width}/`;
    for (const name of names) await put(project, "photos", prefix + name, "old");
    const page = await openFolder(prefix, {
      expectedErrors: /412/,
      viewport: { width, height: 800 },
    });
    const gate = await UploadGate.of(page);
    await choose(page, ...names.map((name) => writeFile(name, "new")), writeFile("5.txt", "5"));
    await page.getByText("4 waiting for you").waitFor();
    const rows = page.getByRole("list", { name: "Files" }).getByRole("listitem");
    const places = async () =>
      Promise.all(
        (await rows.all()).map((row) => row.evaluate((item: HTMLElement) => item.offsetTop)),
      );
    const before = await places();
    await page.getByRole("button", { name: `Replace: ${prefix}2.txt` }).click();
    await rows.nth(1).getByText("Uploaded").waitFor();
    await page.getByRole("button", { name: `Skip: ${prefix}1.txt` }).click();
    await rows.nth(0).getByText("Skipped").waitFor();
    gate.decide = () => "hold";
    await page.getByRole("button", { name: `Keep both: ${prefix}3.txt` }).click();
    await page.getByRole("button", { name: `Cancel: ${prefix}3 (2).txt` }).click();
    await rows.nth(2).getByText("Cancelled").waitFor();
    expect(await places()).toEqual(before);
    await page.getByRole("button", { name: "Cancel all" }).click();
    await page.getByText("2 files, 4 bytes · 1 skipped · 2 cancelled").waitFor();
  });

  it("have the type of their extension if the browser knows none", async () => {
    const page = await openFolder("types/");
    await choose(page, ...["a.ts", "b.toml", "c.unknown"].map((name) => writeFile(name, "1")));
    await page.getByText("3 files, 3 bytes").waitFor();
    const { objects } = await project.call<ObjectPage>("/api/buckets/photos/objects?prefix=types/");
    expect(objects.map(({ contentType }) => contentType)).toEqual([
      "text/plain",
      "application/toml",
      null,
    ]);
  });
});

describe("a large file", () => {
  const path = join(folder, "large.bin");
  let hash = "";
  beforeAll(() => {
    hash = writeRandomFile(path, { mebibytes: 40, seed: 1 });
  });

  it("is sent by one request, and asks before a person leaves the page", async () => {
    const page = await openFolder("large/");
    const gate = await UploadGate.of(page);
    gate.decide = () => "hold";
    await choose(page, path);
    await expect.poll(() => gate.held).toBe(1);
    const row = rowOf(page, "large/large.bin");
    await row.getByRole("progressbar", { name: "Upload of large/large.bin" }).waitFor();
    const asked: string[] = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.type());
      void dialog.dismiss();
    });
    await page.close({ runBeforeUnload: true });
    await expect.poll(() => asked).toEqual(["beforeunload"]);
    await gate.release();
    await row.getByText("Uploaded, 40.0 MiB").waitFor();
    expect(await hashOf("large/large.bin")).toBe(hash);
    expect(gate.sent).toBe(1);
  });

  it("is sent again by a person when the request fails", async () => {
    const page = await openFolder("broken/", { expectedErrors: /ERR_FAILED/ });
    const gate = await UploadGate.of(page);
    gate.decide = () => "break";
    await choose(page, path);
    const row = rowOf(page, "broken/large.bin");
    await row.getByText(/^Failed: The explorer does not answer/).waitFor();
    await page.getByText("1 failed", { exact: true }).waitFor();
    await gate.release();
    await page.getByRole("button", { name: "Retry: broken/large.bin" }).click();
    await row.getByText("Uploaded, 40.0 MiB").waitFor();
    expect(await hashOf("broken/large.bin")).toBe(hash);
  });

  it("that is cancelled leaves nothing", async () => {
    const page = await openFolder("cancelled/");
    const gate = await UploadGate.of(page);
    gate.decide = () => "hold";
    await choose(page, path);
    await expect.poll(() => gate.held).toBe(1);
    await page.getByRole("button", { name: "Cancel: cancelled/large.bin" }).click();
    await rowOf(page, "cancelled/large.bin").getByText("Cancelled", { exact: true }).waitFor();
    expect(await keysOf("cancelled/")).toEqual([]);
  });

  it("that exists is asked about before it is sent", async () => {
    await put(project, "photos", "taken/large.bin", "old");
    const page = await openFolder("taken/");
    const gate = await UploadGate.of(page);
    await choose(page, path);
    await page.getByRole("button", { name: "Keep both: taken/large.bin" }).click();
    await rowOf(page, "taken/large (2).bin").getByText("Uploaded, 40.0 MiB").waitFor();
    expect(gate.sent).toBe(1);
    expect(await hashOf("taken/large (2).bin")).toBe(hash);
    expect(await textOf("taken/large.bin")).toBe("old");
  });
});

describe("the uploads in progress of other programs", () => {
  it("are listed with the time left, and aborted", async () => {
    const key = "progress/ä <b>.bin";
    const target = `/photos/${encodeURIComponent(key).replaceAll("%2F", "/")}`;
    const s3 = await s3Of(project);
    const begun = await s3.send({ method: "POST", target: `${target}?uploads` });
    const uploadId = /<UploadId>([^<]+)/.exec(begun.text)?.[1] as string;
    const page = await openFolder("progress/");
    await page.getByRole("link", { name: "Uploads in progress" }).click();
    const table = page.getByRole("table", { name: "Uploads to photos" });
    await table.getByRole("cell", { name: "6 days and 23 hours" }).waitFor();
    await s3.send({ method: "POST", target: "/photos/progress/later.bin?uploads" });
    await table.getByRole("cell", { name: "progress/later.bin", exact: true }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole("button", { name: `Abort the upload of ${key}` }).click();
    const dialog = page.getByRole("dialog", { name: "Abort the upload" });
    await dialog.getByRole("button", { name: "Keep the upload" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: `Abort the upload of ${key}` }).click();
    await dialog.getByRole("button", { name: "Abort the upload" }).click();
    await table.getByRole("cell", { name: key, exact: true }).waitFor({ state: "detached" });
    const listed = await s3.send({ method: "GET", target: "/photos?uploads" });
    expect(listed.text).not.toContain(uploadId);
  });
});

const zoneOf = (page: Page): Locator => page.locator(".upload-zone");
const hintOf = (page: Page): Locator => page.getByText("Drop files and folders to upload them to");

describe("a drop on the list", () => {
  it("uploads a folder with its subfolders, and a file beside the folder", async () => {
    const paths = [
      "trip/day 1/morning/a.txt",
      "trip/day 1/לילה/b.txt",
      "trip/list.txt",
      // The browser hands out the entries of a folder a hundred at a time.
      ...Array.from({ length: 120 }, (_, index) => `trip/many/${1000 + index}.txt`),
    ];
    for (const path of paths) writeFile(path, path);
    mkdirSync(join(folder, "trip", "empty"));
    const page = await openFolder("dropped/");
    const dropped = [join(folder, "trip"), writeFile("beside.txt", "beside.txt")];
    await (await FileDrag.over(zoneOf(page), dropped)).drop();
    await page.getByRole("row", { name: "trip/" }).waitFor();
    const expected = ["beside.txt", ...paths].map((path) => `dropped/${path}`);
    await expect.poll(() => keysOf("dropped/")).toEqual(expected);
    for (const path of ["beside.txt", ...paths]) expect(await textOf(`dropped/${path}`)).toBe(path);
  });
});

describe("the hint of a drop", () => {
  it("names the folder while files are above the list, and goes with the files", async () => {
    const page = await openFolder("hint/");
    expect(await hintOf(page).count()).toBe(0);
    const left = await FileDrag.over(zoneOf(page), [writeFile("left.txt", "left")]);
    await hintOf(page).waitFor();
    expect(await hintOf(page).textContent()).toContain("photos/hint/");
    await left.moveTo(page.getByRole("navigation", { name: "Sections" }));
    await hintOf(page).waitFor({ state: "detached" });
    // A drop beside the list uploads no file, and the page stays.
    await left.drop();

    const dropped = await FileDrag.over(zoneOf(page), [writeFile("dropped.txt", "dropped")]);
    await hintOf(page).waitFor();
    await dropped.drop();
    await page.getByRole("row", { name: /dropped\.txt/ }).waitFor();
    await hintOf(page).waitFor({ state: "detached" });
    await expect.poll(() => keysOf("hint/")).toEqual(["hint/dropped.txt"]);
  });
});
