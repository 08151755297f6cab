/** The frame of the page: sections, keys, colours and widths. */
import { describe, expect, it } from "vitest";
import { accessibilityProblems, useBrowser } from "./support/browser.ts";
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

  it("lists the keys that work, and returns the focus", async () => {
    const page = await browser.open(project.explorerUrl);
    await page.getByRole("button", { name: "Shortcuts" }).focus();
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog", { name: "Shortcuts" });
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("Shortcuts");
  });

  it("keeps the chosen colours", async () => {
    const page = await browser.open(project.explorerUrl, { colorScheme: "light" });
    await page.getByRole("button", { name: "Colours: As the system" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("d");
    await page.keyboard.press("Enter");
    await page.waitForFunction(
      () => document.activeElement?.getAttribute("aria-label") === "Colours: Dark",
    );
    await page.reload();
    await page.getByRole("button", { name: "Colours: Dark" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
  });

  const places = ["/buckets", "/zones", "/lookup", "/live", "/faults", "/nothing"];
  const forms = [
    { colorScheme: "light", width: 1280 },
    { colorScheme: "dark", width: 340 },
  ] as const;

  it.each(forms)("has no violation of axe-core, $colorScheme at $width px", async (form) => {
    const page = await browser.open(project.explorerUrl, {
      colorScheme: form.colorScheme,
      viewport: { width: form.width, height: 800 },
    });
    const problems: Record<string, string[]> = {};
    for (const place of places) {
      await page.goto(`${project.origin}${place}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      problems[place] = await accessibilityProblems(page);
    }
    expect(problems).toEqual(Object.fromEntries(places.map((place) => [place, []])));
  });

  it("fits into 340 px without a horizontal scroll bar", async () => {
    const page = await browser.open(project.explorerUrl, { viewport: { width: 340, height: 700 } });
    for (const place of places) {
      await page.goto(`${project.origin}${place}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      const { scrollWidth } = await page.evaluate(() => ({
        scrollWidth: document.documentElement.scrollWidth,
      }));
      expect({ place, isWide: scrollWidth > 340 }).toEqual({ place, isWide: false });
    }
  });
});
