/** Saved states: save, compare, restore, undo and delete by a person, in a dev server that runs on. */
import type { Locator, Page } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import { connectState } from "../../src/explorer/server/state-client.ts";
import type { StateList } from "../../src/explorer/api/state.ts";
import { accessibilityProblems, useBrowser } from "./support/browser.ts";
import { put } from "./support/contents.ts";
import { recordApiOf } from "./support/programs.ts";
import { serveProject } from "./support/served-project.ts";

const project = serveProject();
const browser = useBrowser();

const waiting = { timeout: 60_000 };

beforeEach(async () => {
  for (const { name } of (await project.call<StateList>("/api/state")).states) {
    await project.call(`/api/state/${name}`, { method: "DELETE" });
  }
});

async function openState(place = "/state", options = {}): Promise<Page> {
  return browser.open(project.explorerUrl, { ...options, place });
}

function row(page: Page, name: string): Locator {
  return page
    .getByRole("table", { name: "Saved states" })
    .getByRole("row")
    .filter({ has: page.getByRole("link", { name, exact: true }) });
}

/** What the script has at a key. */
async function read(key: string): Promise<string> {
  return (await fetch(`${project.dev.url}/${key}`)).text();
}

function call<Result>(path: string, body?: object): Promise<Result> {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  return project.call(`/api/state${path}`, { method: "POST", ...json });
}

describe("a person", () => {
  it("saves, compares, restores, undoes and deletes, by keys", async () => {
    await put(project, "photos", "cat.txt", "one");
    const page = await openState();
    await page.getByText("No saved states yet").waitFor(waiting);
    await page.keyboard.press("n");
    await page.getByLabel("Name").fill("base");
    await page.keyboard.press("Enter");
    await page.getByText("Saved the state as base.").waitFor(waiting);
    await row(page, "base").waitFor(waiting);
    await put(project, "photos", "cat.txt", "two");
    await put(project, "photos", "new.txt", "new");

    await row(page, "base").getByRole("link").press("Enter");
    const photos = page.getByRole("region", { name: "bucket photos" });
    await photos
      .getByText("1 added, 1 changed")
      .or(photos.getByText("1 changed, 1 added"))
      .waitFor(waiting);
    expect(await photos.getByRole("listitem").allInnerTexts()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/changed\s+key cat\.txt/),
        expect.stringMatching(/added\s+key new\.txt/),
      ]),
    );
    await page.goBack();

    await page.getByRole("button", { name: "Restore base" }).press("Enter");
    await page.getByText("Restored base.").waitFor(waiting);
    expect([await read("cat.txt"), await read("new.txt")]).toEqual(["one", "Not found"]);
    await page.getByText("automatic", { exact: true }).waitFor(waiting);
    await page.getByRole("button", { name: "Undo" }).press("Enter");
    await page.getByText(/Restored (?!base\.)/).waitFor(waiting);
    expect([await read("cat.txt"), await read("new.txt")]).toEqual(["two", "new"]);

    await row(page, "base").getByRole("link").focus();
    await page.keyboard.press("Delete");
    const question = page.getByRole("dialog", { name: "Delete the saved state?" });
    await question.getByText("cannot be undone").waitFor();
    await question.getByRole("button", { name: "Delete" }).click();
    await row(page, "base").waitFor({ state: "detached", ...waiting });
    expect(await read("cat.txt")).toBe("two");
  });

  it("is asked before a state is replaced, and reads why a name is refused", async () => {
    await call("/save", { name: "base" });
    await put(project, "photos", "later.txt", "later");
    const page = await openState("/state", { expectedErrors: /409/ });
    await row(page, "base").waitFor(waiting);
    await page.getByRole("button", { name: "Save the state" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("ba/se");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").filter({ hasText: "letters, digits" }).waitFor(waiting);
    await dialog.getByLabel("Name").fill("base");
    await dialog.getByText("Replace it?").waitFor();
    await dialog.getByRole("button", { name: "Replace" }).click();
    await page.getByText("Saved the state as base.").waitFor(waiting);
    await page.getByRole("link", { name: "base" }).click();
    await page.getByText("No difference").waitFor(waiting);
    expect(await page.getByRole("listitem").filter({ hasText: "later.txt" }).count()).toBe(0);
  });

  it("compares two states, at an address of its own", async () => {
    await call("/save", { name: "first" });
    await put(project, "photos", "between.txt", "between");
    await call("/save", { name: "second" });
    const page = await openState("/state/first");
    await page.getByLabel("To", { exact: true }).selectOption("second");
    await page.waitForURL(`${project.origin}/state/first?to=second`);
    await page
      .getByRole("region", { name: "bucket photos" })
      .getByText("between.txt")
      .waitFor(waiting);
    await page.getByLabel("From", { exact: true }).selectOption("second");
    await page.getByText("second and second have the same content").waitFor(waiting);
    expect(await page.title()).toBe("second and second · Ledge explorer");
  });

  it("reads that a state does not exist", async () => {
    const page = await openState("/state/absent", { expectedErrors: /404/ });
    const alert = page.getByRole("alert").filter({ hasText: "absent" });
    expect(await alert.innerText()).toContain('There is no saved state "absent"');
  });

  it("sees restored objects and records without a touch, when another process restores", async () => {
    await put(project, "backup", "kept.txt", "kept");
    await call("/save", { name: "base" });
    await put(project, "backup", "gone.txt", "gone");
    const api = await recordApiOf(project);
    const [{ id }] = (await api.ok("GET", "/zones?name=example.com")) as [{ id: string }];
    const gone = { type: "A", name: "gone", content: "192.0.2.1" };
    await api.ok("POST", `/zones/${id}/dns_records`, gone);
    const objects = await openState("/buckets/backup");
    // DNS ends for a moment when its files are replaced.
    const records = await openState("/zones/example.com", { expectedErrors: /502/ });
    const [object, record] = [
      objects.getByRole("link", { name: "gone.txt" }),
      records.getByRole("row").filter({ hasText: "192.0.2.1" }),
    ];
    await Promise.all([object.waitFor(waiting), record.waitFor(waiting)]);
    const state = await connectState(project.dev.persistFolder);
    expect(await state.restore("base")).toMatchObject({
      name: "base",
      ended: [],
      isRestarted: false,
    });
    await object.waitFor({ state: "detached", ...waiting });
    await record.waitFor({ state: "detached", ...waiting });
    await objects.getByRole("link", { name: "kept.txt" }).waitFor(waiting);
  });

  it("deletes nothing of a restored state by a deletion that waits", async () => {
    await put(project, "photos", "wanted.txt", "wanted");
    await call("/save", { name: "base" });
    const page = await openState("/buckets/photos");
    const deletion = { kind: "delete", bucket: "photos", keys: ["wanted.txt"], prefixes: [] };
    await project.call("/api/tasks", { method: "POST", body: JSON.stringify(deletion) });
    await page.getByRole("button", { name: "Undo" }).waitFor(waiting);
    await call("/restore", { name: "base" });
    await page.getByText("Cancelled: no object was deleted.").waitFor(waiting);
    expect(await read("wanted.txt")).toBe("wanted");
  });
});

it.each([
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 320 },
] as const)("the views have no violation of axe-core, $colorScheme at $width px", async (form) => {
  await call("/save", { name: "base" });
  await put(project, "photos", `${form.colorScheme}.txt`, form.colorScheme);
  const { colorScheme, width } = form;
  const page = await openState("/state", { colorScheme, viewport: { width, height: 800 } });
  await page.getByRole("button", { name: "Restore base" }).click();
  await page.getByText("automatic", { exact: true }).waitFor(waiting);
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  await page.getByRole("button", { name: "Save the state" }).click();
  await page.getByLabel("Name").fill("base");
  await page.getByText("Replace it?").waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByText("automatic", { exact: true }).locator("xpath=..").getByRole("link").click();
  await page.getByRole("region", { name: "bucket photos" }).waitFor(waiting);
  expect(await accessibilityProblems(page)).toEqual([]);
});
