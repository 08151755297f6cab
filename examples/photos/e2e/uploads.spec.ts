/** How photos are added, by the page and by other programs. */
import { expect, test } from "ledge/playwright";
import { file, photos } from "./photo.ts";

test("adds a photo", async ({ page, contents, calls }) => {
  await page.goto("/");
  await page.getByLabel("Add photos").setInputFiles(file("lake.png"));
  await expect(page.getByRole("link", { name: "lake.png" })).toBeVisible();
  expect(Object.keys(await contents("photos"))).toEqual(["lake.png"]);
  expect(await calls()).toHavePut("lake.png", { bytes: 70, times: 1 });
});

test("adds several photos", async ({ page, contents }) => {
  await page.goto("/");
  const files = ["lake.png", "ridge.png", "summit.png", "valley.png"];
  await page.getByLabel("Add photos").setInputFiles(files.map((name) => file(name)));
  await expect(page.locator("#grid > li")).toHaveCount(4);
  expect(Object.keys(await contents("photos"))).toEqual(files);
});

test("adds a photo to the folder that is open", async ({ page, contents }) => {
  await page.goto("/#/alps/");
  await page.getByLabel("Add photos").setInputFiles(file("lake.png"));
  await expect(page.getByRole("link", { name: "lake.png" })).toBeVisible();
  expect(Object.keys(await contents("photos"))).toEqual(["alps/lake.png"]);
});

test("keeps a photo with the same name", async ({ page, seed, contents }) => {
  await seed("photos", photos("lake.png"));
  const before = await contents("photos");
  await page.goto("/");
  await page.getByLabel("Add photos").setInputFiles(file("lake.png", Buffer.from("another")));
  await page.getByRole("button", { name: "Keep the old photo" }).click();
  await expect(page.getByLabel("Uploads").getByRole("listitem")).toHaveCount(0);
  expect(await contents("photos")).toEqual(before);
});

test("replaces a photo when the user says so", async ({ page, seed, contents }) => {
  await seed("photos", photos("lake.png"));
  await page.goto("/");
  await page.getByLabel("Add photos").setInputFiles(file("lake.png", Buffer.from("another")));
  await page.getByRole("button", { name: "Replace" }).click();
  await expect(page.getByRole("link", { name: "lake.png" })).toContainText("7 bytes");
  expect(await contents("photos")).toEqual({ "lake.png": "another" });
});

test("shows a photo that another program has added", async ({ page, request }) => {
  const stored = await request.put("/photos/lake.png", { data: "a photo" });
  expect(stored.status()).toBe(201);
  await page.goto("/");
  await expect(page.getByRole("link", { name: "lake.png" })).toContainText("7 bytes");
});

test("shows the day of an upload", async ({ page, clock, request }) => {
  await clock.set("2034-05-06T12:00:00Z");
  await request.put("/photos/lake.png", { data: "a photo" });
  await page.goto("/");
  await expect(page.getByRole("link", { name: "lake.png" })).toContainText("2034");
});
