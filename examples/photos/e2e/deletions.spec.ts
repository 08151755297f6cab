/** How photos are deleted. All tests of the file start with the same album. */
import { expect, test } from "ledge/playwright";
import { file, photos } from "./photo.ts";

test.beforeAll(async ({ seed }) => {
  await seed("photos", photos("lake.png", "ridge.png"));
});

test("deletes a photo", async ({ page, contents }) => {
  await page.goto("/");
  page.once("dialog", (dialog) => dialog.accept());
  await page.getByRole("button", { name: "Delete lake.png" }).click();
  await expect(page.locator("#grid > li")).toHaveCount(1);
  expect(Object.keys(await contents("photos"))).toEqual(["ridge.png"]);
});

test("deletes all photos, and says that there are none", async ({ page, contents }) => {
  await page.goto("/");
  page.on("dialog", (dialog) => dialog.accept());
  for (const name of ["lake.png", "ridge.png"]) {
    await page.getByRole("button", { name: `Delete ${name}` }).click();
  }
  await expect(page.getByRole("heading", { name: "No photos yet" })).toBeVisible();
  expect(await contents("photos")).toEqual({});
});

test("asks before it deletes", async ({ page, calls }) => {
  await page.goto("/");
  page.once("dialog", (dialog) => dialog.dismiss());
  await page.getByRole("button", { name: "Delete ridge.png" }).click();
  await expect(page.locator("#grid > li")).toHaveCount(2);
  expect(await calls()).not.toHaveDeleted();
});

test("does not delete a photo that was replaced meanwhile", async ({ page, seed, contents }) => {
  await page.goto("/");
  await expect(page.locator("#grid > li")).toHaveCount(2);
  await seed("photos", { "lake.png": "another" });
  page.once("dialog", (dialog) => dialog.accept());
  await page.getByRole("button", { name: "Delete lake.png" }).click();
  await expect(page.getByRole("alert")).toContainText("Get the photo again");
  expect(await contents("photos", { prefix: "lake" })).toEqual({ "lake.png": "another" });
});

test("adds a photo to the album", async ({ page }) => {
  await page.goto("/");
  await page.getByLabel("Add photos").setInputFiles(file("summit.png"));
  await expect(page.locator("#grid > li")).toHaveCount(3);
});
