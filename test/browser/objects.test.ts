/** Lists of objects: folders, search, pages, keys of the keyboard, and actions on many objects. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { accessibilityProblems, useBrowser } from "./support/browser.ts";
import { keysOf, put } from "./support/contents.ts";
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
  const page = await browser.open(project.explorerUrl, options);
  await page.goto(`${project.origin}/buckets/${path}`);
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
    // A request of a script would have the initiator "fetch".
    expect(initiators).toEqual(["link"]);
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
    await page.reload();
    await page.getByRole("row", { name: /1000/ }).waitFor();
    await page.getByRole("button", { name: /Previous/ }).click();
    await page.getByRole("row", { name: /0000/ }).waitFor();
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

  it("works by the keyboard alone", async () => {
    const page = await openBucket("photos?prefix=docs%2F");
    await page.getByRole("row", { name: /a\.txt/ }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Text of the object" }).waitFor();
    expect(page.url()).toContain("key=docs%2F");
    await page.keyboard.press("Escape");
    await page.getByRole("region", { name: "Text of the object" }).waitFor({ state: "detached" });
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

  it("has no violation of axe-core", async () => {
    const page = await openBucket("photos?key=readme.md");
    await page.getByRole("region", { name: "Text of the object" }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
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
  });

  it("renames, copies to another bucket and moves a folder", async () => {
    await put(project, "photos", "work/one.txt", "1");
    await put(project, "photos", "work/sub/two.txt", "2");
    const page = await openBucket("photos?prefix=work%2F");
    await page.getByRole("checkbox", { name: "Select one.txt" }).check();
    await page.keyboard.press("r");
    const rename = page.getByRole("dialog");
    await rename.getByRole("textbox").fill("uno.txt");
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
