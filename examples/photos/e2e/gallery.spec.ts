/** What the page shows. */
import { expect, test } from "ledge/playwright";
import { photos } from "./photo.ts";

test("is empty at first", async ({ page }) => {
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "No photos yet" })).toBeVisible();
});

test("shows the photos by name, with their sizes", async ({ page, seed }) => {
  await seed("photos", photos("lake.png", "ridge.png"));
  await page.goto("/");
  await expect(page.getByRole("listitem")).toContainText(["All", "lake.png", "ridge.png"]);
  await expect(page.getByRole("link", { name: "lake.png" })).toContainText("70 bytes");
});

test("shows a folder once, and opens it", async ({ page, seed }) => {
  await seed("photos", photos("alps/lake.png", "alps/ridge.png"));
  await page.goto("/");
  await expect(page.locator("#grid > li")).toHaveCount(1);
  await page.getByRole("link", { name: "alps" }).click();
  await expect(page.locator("#grid > li")).toHaveCount(2);
  await expect(page).toHaveTitle("alps · Photos");
});

test("leads from a folder back to all photos", async ({ page, seed }) => {
  await seed("photos", photos("alps/2026/lake.png"));
  await page.goto("/#/alps/2026/");
  await expect(page.getByRole("navigation").getByRole("listitem")).toHaveText([
    "All",
    "alps",
    "2026",
  ]);
  await page.getByRole("navigation").getByRole("link", { name: "All" }).click();
  await expect(page.locator("#grid > li")).toHaveText([/^alps/]);
});

test("says that a folder is empty", async ({ page, seed }) => {
  await seed("photos", photos("lake.png"));
  await page.goto("/#/alps/");
  await expect(page.getByRole("heading", { name: "This folder is empty" })).toBeVisible();
});

test("shows a hundred photos, and then the others", async ({ page, seed }) => {
  const keys = Array.from({ length: 103 }, (_, index) => `${index}.png`);
  await seed("photos", photos(...keys));
  await page.goto("/");
  await expect(page.locator("#grid > li")).toHaveCount(100);
  await page.getByRole("button", { name: "Show more" }).click();
  await expect(page.locator("#grid > li")).toHaveCount(103);
});

test("opens a photo, and shows the next by a key", async ({ page, seed }) => {
  await seed("photos", photos("lake.png", "ridge.png"));
  await page.goto("/");
  await page.getByRole("link", { name: "lake.png" }).click();
  const viewer = page.getByRole("dialog");
  await expect(viewer).toContainText("1 of 2");
  await viewer.press("ArrowRight");
  await expect(viewer).toContainText("ridge.png");
  await expect(viewer.getByRole("button", { name: "Next photo" })).toBeHidden();
});

test("closes a photo by Escape", async ({ page, seed }) => {
  await seed("photos", photos("lake.png"));
  await page.goto("/");
  await page.getByRole("link", { name: "lake.png" }).click();
  await expect(page.getByRole("dialog")).toContainText("1 of 1");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
});
