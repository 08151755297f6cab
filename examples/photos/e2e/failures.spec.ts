/** What the page says when the bucket fails. */
import { expect, test } from "ledge/playwright";
import { file, photos } from "./photo.ts";

test("tries an upload again that has failed", async ({ page, faults, contents }) => {
  await faults.fail({ method: "put", key: "lake.png", times: 1 });
  await page.goto("/");
  await page.getByLabel("Add photos").setInputFiles(file("lake.png"));
  await expect(page.getByRole("alert")).toBeVisible();
  expect(await contents("photos")).toEqual({});
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("link", { name: "lake.png" })).toBeVisible();
});

test("shows an error in place of the photos", async ({ page, seed, faults }) => {
  await seed("photos", photos("lake.png"));
  await faults.fail({ method: "list" });
  await page.goto("/");
  await expect(page.getByRole("alert")).toBeVisible();
  await expect(page.locator("#grid > li")).toHaveCount(0);
});

test("keeps a photo whose deletion fails", async ({ page, seed, faults }) => {
  await seed("photos", photos("lake.png"));
  await faults.fail({ method: "delete" });
  await page.goto("/");
  page.once("dialog", (dialog) => dialog.accept());
  await page.getByRole("button", { name: "Delete lake.png" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await expect(page.locator("#grid > li")).toHaveCount(1);
});
