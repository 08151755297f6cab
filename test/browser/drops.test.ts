/** Files and folders that a person drops on the list of a bucket. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { useBrowser } from "./support/browser.ts";
import { bytesOf, keysOf } from "./support/contents.ts";
import { FileDrag } from "./support/file-drag.ts";
import { serveProject } from "./support/served-project.ts";

const project = serveProject();
const browser = useBrowser();
const folder = mkdtempSync(join(tmpdir(), "ledge-dropped-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

function writeFile(path: string, content: string | Uint8Array): string {
  const absolute = join(folder, path);
  mkdirSync(dirname(absolute), { recursive: true });
  writeFileSync(absolute, content);
  return absolute;
}

async function openFolder(prefix: string): Promise<Page> {
  const place = `/buckets/photos?${new URLSearchParams({ prefix }).toString()}`;
  const page = await browser.open(project.explorerUrl, { place });
  await page.getByRole("button", { name: "Upload files" }).waitFor();
  return page;
}

const zoneOf = (page: Page): Locator => page.locator(".upload-zone");
const hintOf = (page: Page): Locator => page.getByText("Drop files and folders to upload them to");

async function drop(page: Page, ...paths: readonly string[]): Promise<void> {
  const drag = await FileDrag.over(zoneOf(page), paths);
  await drag.drop();
}

function storedKeys(prefix: string) {
  return expect.poll(() => keysOf(project, "photos", prefix));
}

const textOf = async (key: string): Promise<string> =>
  new TextDecoder().decode(await bytesOf(project, "photos", key));

describe("a drop on the list", () => {
  it("uploads a file to the folder that is shown", async () => {
    const content = Uint8Array.from({ length: 70_000 }, (_, index) => index % 251);
    const page = await openFolder("one/");
    await drop(page, writeFile("picture ä.bin", content));
    await page.getByRole("row", { name: /picture ä\.bin/ }).waitFor();
    await storedKeys("one/").toEqual(["one/picture ä.bin"]);
    expect(await bytesOf(project, "photos", "one/picture ä.bin")).toEqual(content);
  });

  it("uploads several files", async () => {
    const page = await openFolder("several/");
    await drop(page, writeFile("a.txt", "A"), writeFile("b.html", "<p>B"), writeFile("empty", ""));
    await storedKeys("several/").toEqual(["several/a.txt", "several/b.html", "several/empty"]);
    const keys = ["several/a.txt", "several/b.html", "several/empty"];
    expect(await Promise.all(keys.map(textOf))).toEqual(["A", "<p>B", ""]);
  });

  it("uploads a folder with its subfolders, and a file beside the folder", async () => {
    const paths = [
      "holiday/day 1/morning/a.txt",
      "holiday/day 1/לילה/b.txt",
      "holiday/list.txt",
      // The browser hands out the entries of a folder a hundred at a time.
      ...Array.from({ length: 120 }, (_, index) => `holiday/many/${1000 + index}.txt`),
    ];
    for (const path of paths) writeFile(path, path);
    mkdirSync(join(folder, "holiday", "empty"));
    const page = await openFolder("folders/");
    await drop(page, join(folder, "holiday"), writeFile("beside.txt", "beside.txt"));
    await page.getByRole("row", { name: "holiday/" }).waitFor();
    const expected = ["beside.txt", ...paths].map((path) => `folders/${path}`);
    await storedKeys("folders/").toEqual(expected);
    for (const path of ["beside.txt", ...paths]) expect(await textOf(`folders/${path}`)).toBe(path);
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
    await storedKeys("hint/").toEqual(["hint/dropped.txt"]);
  });
});
