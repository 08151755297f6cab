import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findFreePort } from "../base/ports.ts";
import { readConfig, type ProjectConfig } from "../config/read-config.ts";
import { CompanionS3 } from "./companion-s3.ts";

const folder = mkdtempSync(join(tmpdir(), "ledge-unit-"));
const bucket = { binding: "PHOTOS", bucket_name: "photos" };

function configOf(table: object): ProjectConfig {
  mkdirSync(folder, { recursive: true });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "wrangler.jsonc");
  writeFileSync(path, JSON.stringify({ name: "project", ...table }));
  return readConfig({ configPath: path });
}

/** No request of this test reaches a store. */
it("CompanionS3.update() follows the port, and keeps a free port that the system has chosen", async () => {
  const keys = { access_key_id: "some-key", secret_access_key: "some-secret" };
  const other = { ...keys, access_key_id: "other-key" };
  let config = configOf({ store_buckets: [bucket], s3: { port: 0, ...keys } });
  const s3 = new CompanionS3(() => config, {});
  onTestFinished(() => s3.stop());
  const update = (table: object): Promise<void> => {
    config = configOf({ store_buckets: [bucket], ...table });
    return s3.update();
  };
  await s3.update();
  const first = s3.describe();
  expect(first).toMatchObject({
    credentials: { accessKeyId: "some-key" },
    secretPlace: "secret_access_key of [s3]",
  });

  await update({ s3: { port: 0, ...other } });
  expect(s3.describe()).toMatchObject({
    url: first?.url,
    credentials: { accessKeyId: "other-key" },
  });

  const port = await findFreePort(0, "127.0.0.1");
  await update({ s3: { port, ...other } });
  expect(s3.describe()?.url).toBe(`http://localhost:${port}`);
  expect((await fetch(`http://localhost:${port}/`)).status).toBe(400);
  await expect(fetch(first?.url as string)).rejects.toThrow("fetch failed");

  await update({ store_buckets: [] });
  expect(s3.describe()).toBeNull();
  await update({ s3: { port: 0, ...keys } });
  expect(s3.describe()).toMatchObject({ credentials: { accessKeyId: "some-key" } });
});
