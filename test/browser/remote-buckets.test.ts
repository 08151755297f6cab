/** A project with a bucket on an S3 service: our own endpoint. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { startS3, type RunningS3 } from "../../dist/index.js";
import { useBrowser } from "./support/browser.ts";
import { serveProject } from "./support/served-project.ts";

const stateFolder = mkdtempSync(join(tmpdir(), "ledge-service-"));
let service: RunningS3 | undefined;

const project = serveProject({}, async () => {
  service = await startS3({ stateFolder, buckets: [{ name: "photos" }], port: 0 });
  return {
    store_buckets: [
      { binding: "PHOTOS", bucket_name: "photos", remote: "cluster" },
      { binding: "BACKUP", bucket_name: "backup" },
    ],
    remotes: {
      cluster: {
        endpoint: service.url,
        access_key_id: service.credentials.accessKeyId,
        secret_access_key: service.credentials.secretAccessKey,
      },
    },
  };
});
const browser = useBrowser();
const waiting = { timeout: 60_000 };

afterAll(async () => {
  await service?.close();
  rmSync(stateFolder, { recursive: true, force: true, maxRetries: 3 });
});

it("the list of buckets says which bucket is on a service", async () => {
  const page = await browser.open(project.explorerUrl);
  await page.goto(`${project.origin}/buckets`);
  const rows = page.getByRole("row");
  const mark = rows.filter({ hasText: "photos" }).getByText("on cluster", { exact: true });
  await mark.waitFor(waiting);
  expect(await mark.getAttribute("title")).toBe(service?.url);
  const other = rows.filter({ hasText: "backup" });
  await other.first().waitFor(waiting);
  expect(await other.getByText("on cluster").count()).toBe(0);
});

it("a fault of the bucket is refused, and the page says why", async () => {
  const page = await browser.open(project.explorerUrl, { expectedErrors: /400/ });
  await page.goto(`${project.origin}/faults`);
  await page.getByLabel("A fault as text").fill("put:photos:10001");
  await page.getByLabel("A fault as text").press("Enter");
  await page.getByRole("alert").filter({ hasText: "S3 service" }).waitFor(waiting);
  expect(await page.getByRole("list", { name: "Faults that are on" }).count()).toBe(0);
});
