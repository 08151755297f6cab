/** Lists of objects: folders, search, pages, keys of the keyboard, and actions on many objects. */
import { readFileSync } from "node:fs";
import { DeleteObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import type { S3Access } from "../../src/explorer/api/project.ts";
import { zipNames } from "../explorer/support/zip-names.ts";
import { accessibilityProblems, useBrowser } from "./support/browser.ts";
import { keysOf, put } from "./support/contents.ts";
import { s3Of } from "./support/programs.ts";
import { serveProject } from "./support/served-project.ts";

const project = serveProject();
const browser = useBrowser();

const html = "<img src=x onerror=alert(1)>.html";
const rightToLeft = "שלום.txt";
const longest = "k".repeat(1024);
const objects = [
  "readme.md",
  "docs/a.txt",
  "docs/b.txt",
  "docs/deep/c.txt",
  html,
  rightToLeft,
  longest,
];

beforeAll(async () => {
  for (const key of objects) await put(project, "photos", key, key);
  for (let number = 0; number < 1200; number += 100) {
    const keys = Array.from({ length: 100 }, (_, index) => String(number + index).padStart(4, "0"));
    await Promise.all(keys.map((key) => put(project, "backup", `many/${key}`, "1")));
  }
});

async function openBucket(path: string, options = {}): Promise<Page> {
  const page = await browser.open(project.explorerUrl, { ...options, place: `/buckets/${path}` });
  await page.getByRole("grid").waitFor();
  return page;
}

/** The names of the rows on the screen. */
async function names(page: Page): Promise<string[]> {
  return page.getByRole("rowheader").allTextContents();
}

describe("the list of objects", () => {
  it("shows folders first, and opens them by a click and by the breadcrumbs", async () => {
    const page = await openBucket("photos");
    await page.getByRole("row", { name: "docs/" }).waitFor();
    expect((await names(page))[0]).toContain("docs/");
    await page.getByRole("link", { name: "docs/" }).click();
    await page.getByRole("row", { name: /a\.txt/ }).waitFor();
    expect(page.url()).toBe(`${project.origin}/buckets/photos?prefix=docs%2F`);
    expect(await names(page)).toEqual(
      ["deep/", "a.txt", "b.txt"].map((name) => expect.stringContaining(name)),
    );
    await page
      .getByRole("navigation", { name: "Breadcrumbs" })
      .getByRole("link", { name: "photos" })
      .click();
    await page.getByRole("row", { name: /readme\.md/ }).waitFor();
    await page.goBack();
    await page.getByRole("row", { name: /a\.txt/ }).waitFor();
    await page.reload();
    await page.getByRole("row", { name: /a\.txt/ }).waitFor();
  });

  it("is requested once, before the scripts of the page run", async () => {
    const page = await openBucket("photos?prefix=docs%2F&sort=-size");
    await page.getByRole("row", { name: /a\.txt/ }).waitFor();
    const initiators = await page.evaluate(() =>
      (performance.getEntriesByType("resource") as PerformanceResourceTiming[])
        .filter(({ name }) => name.includes("/objects?"))
        .map(({ initiatorType }) => initiatorType),
    );
    // A request of a script would have the initiator "fetch". The stream of changes asks again later.
    expect(initiators[0]).toBe("link");
  });

  it("shows names that look like HTML, right-to-left names and the longest keys, as they are", async () => {
    const page = await openBucket("photos");
    await page.getByRole("row", { name: /readme/ }).waitFor();
    const shown = await names(page);
    for (const name of [html, rightToLeft, longest]) {
      expect(shown).toContainEqual(expect.stringContaining(name));
    }
    expect(await page.locator("img[src=x]").count()).toBe(0);
  });

  it("searches by prefix as a person types", async () => {
    const page = await openBucket("photos");
    await page.keyboard.press("/");
    await page.keyboard.type("rea");
    await page.waitForFunction(() => document.querySelectorAll("[role=rowheader]").length === 1);
    expect(await names(page)).toEqual([expect.stringContaining("readme.md")]);
  });

  it("draws the rows on the screen only, and has pages of 1,000 rows", async () => {
    const page = await openBucket("backup?prefix=many%2F");
    await page.getByRole("row", { name: /0000/ }).waitFor();
    expect((await names(page)).length).toBeLessThan(100);
    await page.getByRole("grid").hover();
    await page.mouse.wheel(0, 100_000);
    await page.getByRole("row", { name: /0999/ }).waitFor();
    await page.getByRole("button", { name: /Next/ }).click();
    await page.getByRole("row", { name: /1000/ }).waitFor();
    expect(page.url()).toContain("after=");
    await page.goBack();
    await page.getByRole("row", { name: /0000/ }).waitFor();
    await page.goForward();
    await page.reload();
    await page.getByRole("row", { name: /1000/ }).waitFor();
    await page.getByRole("button", { name: "First page" }).click();
    await page.getByRole("row", { name: /0000/ }).waitFor();
  });

  it("says that sorting and selecting cover a page, and searches all keys", async () => {
    const page = await openBucket("backup?prefix=many%2F");
    await page.getByText("The first 1,000 rows. Sorting and selecting cover this page.").waitFor();
    await page.getByText("1,000 objects on this page", { exact: true }).waitFor();
    expect(await page.getByTitle("Sorts the rows of this page").count()).toBe(3);
    await page.getByRole("checkbox", { name: "Select all rows of this page" }).check();
    await page.getByText("1,000 rows selected").waitFor();
    await page.getByRole("searchbox", { name: "Search all keys by prefix" }).fill("119");
    await page.getByText("10 objects", { exact: true }).waitFor();
    expect(await page.getByText("Sorting and selecting cover this page.").count()).toBe(0);
    await page.getByRole("checkbox", { name: "Select all rows", exact: true }).check();
    await page.getByText("10 rows selected").waitFor();
  });

  it.each([
    ["/buckets/photos?prefix=docs%2F", "/objects", "a.txt"],
    ["/buckets/photos/uploads", "/api/buckets/photos/uploads", "No uploads in progress"],
    ["/buckets", "/api/buckets", "backup"],
  ])("of %s that cannot be loaded says why, and is loaded again", async (path, end, shown) => {
    const page = await browser.open(project.explorerUrl, { expectedErrors: /500/ });
    const isList = ({ pathname }: URL): boolean => pathname.endsWith(end);
    await page.route(isList, (route) =>
      route.fulfill({ status: 500, json: { message: "The disk is broken." } }),
    );
    await page.goto(project.origin + path);
    const problem = page.getByRole("main").getByRole("alert");
    await problem.getByText("The disk is broken.").waitFor();
    await page.unroute(isList);
    await problem.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("main").getByText(shown, { exact: true }).waitFor();
    expect(await problem.count()).toBe(0);
  });

  it("sorts the rows of a page", async () => {
    const page = await openBucket("photos?prefix=docs%2F");
    await page.getByRole("row", { name: /a\.txt/ }).waitFor();
    await page.getByRole("columnheader", { name: /Name/ }).getByRole("button").click();
    await page.waitForFunction(() => location.search.includes("sort=-key"));
    expect((await names(page)).slice(1)).toEqual([
      expect.stringContaining("b.txt"),
      expect.stringContaining("a.txt"),
    ]);
  });

  it("counts folders and objects, and shows the types of objects", async () => {
    await put(project, "photos", "types/a/1.txt", "1");
    await put(project, "photos", "types/b.json", "{}", "application/json; charset=utf-8");
    const page = await openBucket("photos?prefix=types%2F");
    await page.getByText("1 folder, 1 object", { exact: true }).waitFor();
    const row = page.getByRole("row", { name: /b\.json/ });
    await row.getByRole("gridcell", { name: "application/json", exact: true }).waitFor();
    expect(await page.getByRole("columnheader").allTextContents()).toEqual([
      "",
      "Name",
      "Type",
      "Size",
      "Modified",
      "Actions",
    ]);
  });

  it("shows odd characters of keys as escapes", async () => {
    await put(project, "photos", "odd/a\u202Egnp.exe", "1");
    await put(project, "photos", "odd/line\nbreak", "1");
    const page = await openBucket("photos?prefix=odd%2F");
    await page.getByRole("row", { name: /line/ }).waitFor();
    expect(await names(page)).toEqual(["a\\u202egnp.exe", "line\\nbreak"]);
    await page.getByRole("link", { name: "line\\nbreak" }).click();
    await page.getByRole("heading", { name: "odd/line\\nbreak", exact: true }).waitFor();
  });

  it("has a menu in each row, for the mouse and for the keyboard", async () => {
    await put(project, "photos", "menu/a.txt", "1");
    const page = await openBucket("photos?prefix=menu%2F");
    const button = page.getByRole("button", { name: "Actions of a.txt" });
    await button.click();
    expect(await page.getByRole("menuitem").allTextContents()).toEqual([
      "Download",
      "Copy…",
      "Move…",
      "Rename…",
      "Delete",
    ]);
    expect(await accessibilityProblems(page)).toEqual([]);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Download" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("a.txt");
    await button.click();
    for (const key of ["End", "ArrowUp", "Enter"]) await page.keyboard.press(key);
    await page.getByRole("dialog", { name: "Rename 1 object" }).waitFor();
    await page.keyboard.press("Escape");
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label")))
      .toBe("Objects of photos/menu/");
  });

  it("works by the keyboard alone", async () => {
    const page = await openBucket("photos?prefix=docs%2F");
    await page.getByRole("row", { name: /a\.txt/ }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const text = page.getByRole("region", { name: "Text of the object" });
    await expect.poll(() => text.textContent()).toBe("docs/a.txt");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => text.textContent()).toBe("docs/b.txt");
    expect(page.url()).toContain("key=docs%2Fb.txt");
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press("Control+a");
    await page.getByText("3 rows selected").waitFor();
    await page.keyboard.press("Escape");
    await text.waitFor({ state: "detached" });
    await page.keyboard.press("Backspace");
    await page.getByRole("row", { name: /readme\.md/ }).waitFor();
  });

  it("says that a folder is empty, and that a bucket does not exist", async () => {
    const page = await browser.open(project.explorerUrl, { expectedErrors: /404/ });
    await page.goto(`${project.origin}/buckets/photos?prefix=nothing%2F`);
    await page
      .getByText(/no objects|empty|Nothing/i)
      .first()
      .waitFor();
    await page.goto(`${project.origin}/buckets/absent`);
    expect(await page.getByRole("alert").first().textContent()).toContain("absent");
  });
});

describe("actions on objects", () => {
  it("deletes after ten seconds, unless a person undoes it", async () => {
    await put(project, "photos", "trash/a", "a");
    await put(project, "photos", "trash/b", "b");
    const page = await openBucket("photos?prefix=trash%2F");
    await page.getByRole("checkbox", { name: "Select a", exact: true }).check();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("checkbox", { name: "Select b", exact: true }).check();
    await page.getByRole("checkbox", { name: "Select a", exact: true }).uncheck();
    await page.keyboard.press("Delete");
    await page.getByText(/deleted in \d+ s/).waitFor();
    await expect.poll(() => keysOf(project, "photos", "trash/")).toEqual(["trash/a"]);
    await page
      .getByRole("checkbox", { name: "Select b", exact: true })
      .waitFor({ state: "detached" });
    await page.getByText("Deleted 1 object.").waitFor();
  });

  it("says how many objects a folder has that is deleted", async () => {
    for (const key of ["counted/a/1", "counted/a/2", "counted/a/b/3"]) {
      await put(project, "photos", key, "1");
    }
    const page = await openBucket("photos?prefix=counted%2F");
    await page.getByRole("checkbox", { name: "Select a/" }).check();
    await page.keyboard.press("Delete");
    await page
      .getByRole("list", { name: "Tasks" })
      .getByText("Deleting 1 folder (3 objects in all) of photos")
      .waitFor();
    await page.keyboard.press("z");
    await page.getByText("Cancelled: no object was deleted.").waitFor();
    expect((await keysOf(project, "photos", "counted/")).length).toBe(3);
  });

  it("downloads an object and a folder as one zip file", async () => {
    for (const key of ["zip/a.txt", "zip/b.txt", "zip/sub/c.txt", "zip/sub/deep/d.txt"]) {
      await put(project, "photos", key, key);
    }
    const page = await openBucket("photos?prefix=zip%2F");
    await page.getByRole("checkbox", { name: "Select a.txt" }).check();
    await page.getByRole("checkbox", { name: "Select sub/" }).check();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download as zip" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("zip.zip");
    const file = readFileSync(await download.path());
    expect(zipNames(file)).toEqual(["a.txt", "sub/c.txt", "sub/deep/d.txt"]);
    expect(file.includes("zip/sub/deep/d.txt")).toBe(true);
    expect(page.url()).toContain("prefix=zip%2F");
  });

  it("renames, copies to another bucket and moves a folder", async () => {
    await put(project, "photos", "work/one.txt", "1");
    await put(project, "photos", "work/sub/two.txt", "2");
    const page = await openBucket("photos?prefix=work%2F");
    await page.getByRole("checkbox", { name: "Select one.txt" }).check();
    await page.keyboard.press("F2");
    const rename = page.getByRole("dialog");
    await rename.getByRole("textbox").fill("work/uno.txt");
    await rename.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("row", { name: /uno\.txt/ }).waitFor();
    await page.getByRole("checkbox", { name: "Select sub" }).check();
    await page.keyboard.press("c");
    const copy = page.getByRole("dialog");
    await copy.getByRole("combobox").selectOption("backup");
    await copy.getByRole("textbox").fill("copied/");
    await copy.getByRole("button", { name: "Copy" }).click();
    await expect.poll(() => keysOf(project, "backup", "copied/")).toEqual(["copied/sub/two.txt"]);
    expect(await keysOf(project, "photos", "work/")).toEqual(["work/sub/two.txt", "work/uno.txt"]);
    await page.getByRole("checkbox", { name: "Select sub/" }).check();
    await page.getByRole("checkbox", { name: "Select uno.txt" }).uncheck();
    await page.keyboard.press("m");
    const move = page.getByRole("dialog");
    await move.getByRole("textbox").fill("moved/");
    await move.getByRole("button", { name: "Move" }).click();
    await page.getByRole("row", { name: /sub/ }).waitFor({ state: "detached" });
    expect(await keysOf(project, "photos", "moved/")).toEqual(["moved/sub/two.txt"]);
  });
});

const rowOf = (page: Page, name: string) => page.getByRole("row", { name: new RegExp(name) });

/** Opens a dialog by the keyboard, and closes it: what has the focus in the dialog and afterwards. */
async function focusAround(page: Page, opener: Locator): Promise<readonly (string | boolean)[]> {
  await opener.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  const inside = await page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement;
    return element.labels?.[0]?.textContent ?? element.textContent;
  });
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  return [inside, await opener.evaluate((element) => element === document.activeElement)];
}

describe("a dialog", () => {
  it("has the focus in its first field, and returns the focus to its opener", async () => {
    await put(project, "photos", "focus/a.txt", "1");
    const page = await openBucket("photos?prefix=focus%2F&key=focus%2Fa.txt");
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    expect(await focusAround(page, button("Edit metadata…"))).toEqual(["Content type", true]);
    await page.getByRole("checkbox", { name: "Select a.txt" }).check();
    for (const name of ["Copy…", "Move…", "Rename…"]) {
      expect(await focusAround(page, button(name))).toEqual(["Key", true]);
    }
    await page.keyboard.press("Escape");
    await page.getByRole("grid").focus();
    for (const [key, name] of [
      ["c", "Copy"],
      ["m", "Move"],
      ["F2", "Rename"],
    ] as const) {
      await page.keyboard.press(key);
      await page.getByRole("dialog", { name: `${name} 1 object` }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      expect(await page.evaluate(() => document.activeElement?.role)).toBe("grid");
    }
    const s3 = await s3Of(project);
    await s3.send({ method: "POST", target: "/photos/focus.bin?uploads" });
    await s3.send({ method: "PUT", target: "/focus-empty" });
    await page.goto(`${project.origin}/buckets/photos/uploads`);
    const abort = button("Abort the upload of focus.bin");
    expect(await focusAround(page, abort)).toEqual(["Keep the upload", true]);
    await page.goto(`${project.origin}/buckets`);
    expect(await focusAround(page, button("New bucket"))).toEqual(["Name", true]);
    const remove = button("Delete the bucket focus-empty");
    expect(await focusAround(page, remove)).toEqual(["Cancel", true]);
  });
});

describe("a list that other programs change", () => {
  it("shows what a script and the AWS SDK put, and what they delete", async () => {
    await put(project, "photos", "live/b.txt", "b");
    const page = await openBucket("photos?prefix=live%2F");
    await rowOf(page, "b.txt").waitFor();
    await fetch(`${project.dev.url}/live/a.txt`, { method: "PUT", body: "by a script" });
    await rowOf(page, "a.txt").waitFor();
    const { s3: access } = await project.call<{ s3: S3Access }>("/api/project");
    const aws = new S3Client({
      endpoint: access.url,
      region: "auto",
      credentials: access as S3Access & { secretAccessKey: string },
      forcePathStyle: true,
    });
    const name = { Bucket: "photos", Key: "live/c.txt" };
    await aws.send(new PutObjectCommand({ ...name, Body: "by the AWS SDK" }));
    await rowOf(page, "c.txt").waitFor();
    await page.getByText("3 objects", { exact: true }).waitFor();
    await page.getByRole("link", { name: "b.txt" }).click();
    const text = page.getByRole("region", { name: "Text of the object" });
    await expect.poll(() => text.textContent()).toBe("b");
    await aws.send(new DeleteObjectCommand({ ...name, Key: "live/a.txt" }));
    await rowOf(page, "a.txt").waitFor({ state: "detached" });
    aws.destroy();
    await fetch(`${project.dev.url}/live/b.txt`, { method: "PUT", body: "replaced" });
    await expect.poll(() => text.textContent()).toBe("replaced");
  });

  it("keeps the rows that a person reads, selects and has active where they are", async () => {
    const keys = Array.from({ length: 150 }, (_, index) => `still/${1000 + index}`);
    await Promise.all(keys.map((key) => put(project, "backup", key, "1")));
    const page = await openBucket("backup?prefix=still%2F");
    const row = rowOf(page, "1100");
    const grid = page.getByRole("grid");
    await grid.evaluate((element) => element.scrollTo(0, 100 * 36 - 90));
    await row.waitFor();
    await page.getByRole("checkbox", { name: "Select 1101" }).check();
    const before = await row.boundingBox();
    const added = Array.from({ length: 30 }, (_, index) => `still/0${100 + index}`);
    await Promise.all(added.map((key) => put(project, "backup", key, "1")));
    await page.getByText("180 objects", { exact: true }).waitFor();
    expect(await row.boundingBox()).toEqual(before);
    expect(await page.getByRole("checkbox", { name: "Select 1101" }).isChecked()).toBe(true);
    const focused = await grid.evaluate((element) => element === document.activeElement);
    expect(focused).toBe(true);
    const active = await grid.getAttribute("aria-activedescendant");
    expect(await page.locator(`#${active}`).textContent()).toContain("1101");
  });

  it("counts the objects of buckets again, and shows buckets that are made elsewhere", async () => {
    const page = await browser.open(project.explorerUrl);
    const other = await browser.open(project.explorerUrl);
    await page.goto(`${project.origin}/buckets`);
    await other.goto(`${project.origin}/buckets`);
    await other.getByRole("button", { name: "New bucket" }).click();
    await other.getByRole("dialog").getByLabel("Name").fill("made-elsewhere");
    await other.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    const row = page.getByRole("row", { name: /made-elsewhere/ });
    await row.getByRole("cell", { name: "0 bytes" }).waitFor();
    await put(project, "made-elsewhere", "a", "12345");
    await row.getByRole("cell", { name: "5 bytes" }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it("is loaded again by the button and by r", async () => {
    const page = await openBucket("photos?prefix=docs%2F");
    for (const act of [
      () => page.getByRole("button", { name: "Reload" }).click(),
      () => page.keyboard.press("r"),
    ]) {
      const [request] = await Promise.all([
        page.waitForRequest((each) => each.url().includes("/objects?")),
        act(),
      ]);
      expect(request.url()).toContain("prefix=docs%2F");
    }
  });
});
