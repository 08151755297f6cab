/** The frame of the page: sections, keys, colours and widths. */
import { describe, expect, it } from "vitest";
import type { ProjectInfo } from "../../src/explorer/api/project.ts";
import { accessibilityProblems, useBrowser } from "./support/browser.ts";
import { put } from "./support/contents.ts";
import { serveProject } from "./support/served-project.ts";

const project = serveProject();
const browser = useBrowser();

describe("the page", () => {
  it("opens by the printed link, and its address has no token", async () => {
    const page = await browser.open(project.explorerUrl);
    await page.getByRole("link", { name: "Buckets" }).waitFor();
    expect(page.url()).toBe(`${project.origin}/`);
    expect(await page.title()).toBe("Buckets · Ledge explorer");
  });

  it("says what to do without the token", async () => {
    const page = await browser.open(`${project.origin}/live`, { expectedErrors: /401/ });
    expect(await page.getByRole("main").textContent()).toContain("Open the link");
  });

  it("is found again from an address without its path, and after a click in another page", async () => {
    const { origin } = new URL(project.explorerUrl);
    const page = await browser.open(project.explorerUrl, { expectedErrors: /401|404/ });
    await page.getByRole("link", { name: "Buckets" }).waitFor();
    await page.goto(`${origin}/live`);
    await page.waitForURL(`${project.origin}/live`);
    await page.goto(new URL("/absent", project.dev.url).href);
    await page.evaluate((href) => (location.href = href), `${origin}/zones`);
    await page.getByRole("link", { name: "Open the explorer" }).click();
    await page.waitForURL(`${project.origin}/zones`);
    expect(await page.getByRole("link", { name: "example.com" }).textContent()).toBe("example.com");
  });

  /** The dialogs of objects and records are opened in the tests of their views. */
  it.each([
    { place: "/live", opener: "Shortcuts", dialog: "Shortcuts", focus: "Close" },
    { place: "/zones", opener: "S3 access", dialog: "S3 access", focus: "Close" },
    { place: "/zones", opener: "New zone", dialog: "New zone", focus: "Name" },
    { place: "/state", opener: "Save the state", dialog: "Save the state", focus: "Name" },
    { place: "/faults", opener: "8 days later", dialog: /^Move the clock/, focus: "Cancel" },
  ])("has the focus in the dialog $dialog, and then at the opener", async (row) => {
    const page = await browser.open(project.explorerUrl);
    await page.goto(`${project.origin}${row.place}`);
    const opener = page.getByRole("button", { name: row.opener, disabled: false });
    await opener.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: row.dialog });
    await dialog.waitFor();
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement;
      return element.ariaLabel ?? (element.labels?.[0] ?? element).textContent;
    });
    expect(focused).toBe(row.focus);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await opener.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it("keeps the chosen colours", async () => {
    const page = await browser.open(project.explorerUrl, { colorScheme: "light" });
    await page.getByRole("button", { name: "Colours: As the system" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.waitForFunction(
      () => document.activeElement?.getAttribute("aria-label") === "Colours: Dark",
    );
    await page.reload();
    await page.getByRole("button", { name: "Colours: Dark" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
  });

  it("shows the address and the keys of S3 to copy, and returns the focus", async () => {
    const page = await browser.open(project.explorerUrl);
    await page.getByRole("button", { name: "S3 access" }).click();
    const dialog = page.getByRole("dialog", { name: "S3 access" });
    await dialog.getByRole("button", { name: "Copy Address" }).click();
    await dialog.getByRole("button", { name: "Address copied" }).waitFor();
    const { s3 } = await project.call<ProjectInfo>("/api/project");
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(s3?.url);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.activeElement?.textContent === "S3 access");
  });

  it("loads each list once, and a list that changes once more", async () => {
    const page = await browser.open(project.explorerUrl);
    await page.getByRole("link", { name: "photos" }).waitFor();
    const calls: string[] = [];
    page.on("request", (request) => calls.push(new URL(request.url()).pathname));
    const countOf = (end: string): number => calls.filter((path) => path.endsWith(end)).length;
    await page.goto(`${project.origin}/buckets/photos`);
    await page.getByText("This bucket is empty").waitFor();
    await put(project, "photos", "new.txt", "new");
    await page.getByRole("link", { name: "new.txt" }).waitFor();
    expect(countOf("/api/changes")).toBe(1);
    expect(countOf("/buckets/photos/objects")).toBe(2);
    for (const list of ["/api/project", "/api/faults", "/api/tasks"]) expect(countOf(list)).toBe(1);
  });

  const places = ["/buckets", "/zones", "/lookup", "/live", "/faults", "/state", "/nothing"];

  it.each([
    { colorScheme: "light", width: 1280, height: 800 },
    { colorScheme: "dark", width: 320, height: 256 },
  ] as const)(
    "has no violation of axe-core, $colorScheme at $width x $height px, and no scroll bar to the side",
    async ({ colorScheme, ...viewport }) => {
      const page = await browser.open(project.explorerUrl, { colorScheme, viewport });
      const found: Record<string, unknown> = {};
      for (const place of places) {
        await page.goto(`${project.origin}${place}`);
        await page.getByRole("heading", { level: 1 }).waitFor();
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        found[place] = [width, ...(await accessibilityProblems(page))];
      }
      expect(found).toEqual(Object.fromEntries(places.map((place) => [place, [viewport.width]])));
    },
  );

  it("has targets of at least 24 px on a phone", async () => {
    const page = await browser.open(project.explorerUrl, { viewport: { width: 390, height: 800 } });
    const small: Record<string, string[]> = {};
    for (const place of places) {
      await page.goto(`${project.origin}${place}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      small[place] = await page.evaluate(() =>
        [
          ...document.querySelectorAll(
            "main :is(button, select, input:not([type=checkbox])), nav a",
          ),
        ]
          .filter((element) => element.checkVisibility())
          .filter((element) => element.getBoundingClientRect().height < 24)
          .map((element) => element.outerHTML),
      );
    }
    expect(small).toEqual(Object.fromEntries(places.map((place) => [place, []])));
  });
});
