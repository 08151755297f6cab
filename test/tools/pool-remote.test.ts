/** Tests in the pool whose bucket is on an S3 service: our own endpoint. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { getPlatformProxy, startS3, type RunningS3, type StoreBucket } from "../../dist/index.js";
import { makeProject, runVitest } from "./support/packed-project.ts";

function configuration({ url, credentials }: RunningS3): string {
  return JSON.stringify({
    name: "remote",
    compatibility_date: "2026-08-01",
    store_buckets: [{ binding: "PHOTOS", bucket_name: "photos", remote: "cluster" }],
    remotes: {
      cluster: {
        endpoint: url,
        access_key_id: credentials.accessKeyId,
        secret_access_key: credentials.secretAccessKey,
        prefix: "team/",
      },
    },
  });
}

const tests = `
import { env } from "cloudflare:workers";
import { calls, seed } from "ledge/test";
import { expect, it } from "vitest";

it("begins with an empty bucket", async () => {
  await env.PHOTOS.put("kept", "1");
  await env.PHOTOS.createMultipartUpload("upload");
  expect((await env.PHOTOS.list()).objects.map(({ key }) => key)).toEqual(["kept"]);
  expect(calls[0]).toMatchObject({ bucket: "photos", method: "put", key: "kept", outcome: "ok" });
});

it("shares the bucket with other tests of the run", async () => {
  expect(await env.PHOTOS.head("kept")).not.toBe(null);
  await expect(seed(env.PHOTOS, { a: "1" })).rejects.toThrow('The bucket "photos" is on an S3 service');
});

it("fails", () => expect(1).toBe(2));
`;

it("a run has a prefix of its own in a remote bucket, and removes it, also when tests fail", async () => {
  const stateFolder = mkdtempSync(join(tmpdir(), "ledge-service-"));
  onTestFinished(() => rmSync(stateFolder, { recursive: true, force: true, maxRetries: 5 }));
  const service = await startS3({ stateFolder, buckets: [{ name: "photos" }], port: 0 });
  onTestFinished(() => service.close());
  const project = makeProject({
    "wrangler.json": configuration(service),
    "vitest.config.ts":
      'import { ledge } from "ledge/vitest";\nexport default { plugins: [ledge()], test: { testTimeout: 60_000 } };\n',
    "test/remote.test.ts": tests,
  });
  const bucket = await openBucket(project.folder);
  await bucket.put("before", "of another program");
  const { status, output } = await runVitest(project.folder);
  expect(output).toMatch(/Tests +1 failed \| 2 passed/);
  expect(status).toBe(1);
  expect(output).toMatch(
    /Tests write to "team\/test-[0-9a-f]{12}\/" in the bucket "photos" of the remote "cluster" \(http:.*\), and remove it at the end\./,
  );
  expect(output).not.toContain("Cannot remove");
  expect((await bucket.list()).objects.map(({ key }) => key)).toEqual(["before"]);
});

/** The bucket with the prefix of the configuration only. */
async function openBucket(folder: string): Promise<StoreBucket> {
  const { env, dispose } = await getPlatformProxy<{ PHOTOS: StoreBucket }>({ folder });
  onTestFinished(dispose);
  return env.PHOTOS;
}
