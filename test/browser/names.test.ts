/** Names in a browser: what they lead to, and what the explorer shows of them. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { accessibilityProblems, useBrowser } from "./support/browser.ts";
import { serveProject } from "./support/served-project.ts";

const origin: Server = createServer((_, response) => response.end("<h1>The origin</h1>"));
beforeAll(() => once(origin.listen(0, "127.0.0.1"), "listening"));
afterAll(() => void origin.close());

const project = serveProject({}, () => ({
  routes: ["gallery.example.com/*"],
  edge: { origins: [{ host: "app.example.com", port: (origin.address() as AddressInfo).port }] },
}));
const browser = useBrowser();
const statusErrors = /status of (?:404|530)/;

function linkTo(name: string): string {
  return `http://${name}.localhost:${new URL(project.dev.url).port}/`;
}

it("lead to the script and to what a record says, a moment after the record is made", async () => {
  await fetch(new URL("/page", project.dev.url), {
    method: "PUT",
    body: "<h1>In the bucket</h1>",
    headers: { "content-type": "text/html" },
  });
  const page = await browser.open(`${linkTo("gallery.example.com")}page`);
  expect(await page.textContent("body")).toContain("In the bucket");

  const other = await browser.open(linkTo("app.example.com"), { expectedErrors: statusErrors });
  await other.getByRole("heading", { name: "No record app.example.com" }).waitFor();
  expect(await accessibilityProblems(other)).toEqual([]);

  const explorer = await browser.open(project.explorerUrl, { place: "/zones/example.com" });
  await explorer.getByRole("button", { name: "New record" }).click();
  const dialog = explorer.getByRole("dialog");
  await dialog.getByLabel("Name").fill("app");
  await dialog.getByLabel("Content").fill("127.0.0.1");
  await dialog.getByLabel("Proxied").check();
  await dialog.getByRole("button", { name: "Add" }).click();
  const link = explorer.getByRole("row", { name: /^A app/ }).getByRole("link", { name: "open" });
  expect(await link.getAttribute("href")).toBe(linkTo("app.example.com"));
  await other.reload();
  await other.getByRole("heading", { name: "The origin" }).waitFor();
});

it("are links beside the script, and rows of the live view with their way", async () => {
  const explorer = await browser.open(project.explorerUrl, { place: "/live?filter=kind:edge" });
  await explorer.getByText("Connected").waitFor();
  const link = explorer.getByRole("link", { name: "gallery.example.com" });
  expect(await link.getAttribute("href")).toBe(linkTo("gallery.example.com"));

  const page = await browser.open(`${linkTo("gallery.example.com")}absent`, {
    expectedErrors: statusErrors,
  });
  expect(await page.textContent("body")).toContain("Not found");
  const row = explorer.getByRole("row", { name: "http://gallery.example.com/absent" });
  await row.waitFor();
  expect(await row.textContent()).toContain("gallery.example.com/* → script gallery");
  expect(await row.getByText("404").count()).toBe(1);
  await row.click();
  await explorer.getByLabel("Details of the entry").waitFor();
  expect(await accessibilityProblems(explorer)).toEqual([]);
});
