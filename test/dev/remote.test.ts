/** `ledge dev` with a bucket on an S3 service: our own endpoint. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startS3, type RunningS3 } from "../../dist/index.js";
import {
  createProject,
  DevServer,
  ledgeDev,
  waitForAnswer,
  write,
} from "../support/dev-process.ts";
import { temporaryFolder } from "../support/store.ts";

const script = `export default {
  async fetch(request, env) {
    const { PHOTOS } = env;
    if (request.url.endsWith("/env")) return Response.json(Object.keys(env).sort());
    await PHOTOS.put("k", "value");
    return Response.json((await PHOTOS.list()).objects.map(({ key }) => key));
  },
};`;

async function startService(): Promise<RunningS3> {
  const buckets = [{ name: "photos" }];
  const service = await startS3({ stateFolder: temporaryFolder(), buckets, port: 0 });
  onTestFinished(() => service.close());
  return service;
}

function configuration({ url }: RunningS3, bucketName = "photos") {
  return {
    name: "remote",
    main: "index.js",
    compatibility_date: "2026-08-01",
    store_buckets: [{ binding: "PHOTOS", bucket_name: bucketName, remote: "cluster" }],
    remotes: { cluster: { endpoint: url } },
  };
}

function secretsOf({ accessKeyId, secretAccessKey }: RunningS3["credentials"]): string {
  return (
    `LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID=${accessKeyId}\n` +
    `LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY=${secretAccessKey}\n`
  );
}

it("a script uses the bucket, and the summary names its service", async () => {
  const service = await startService();
  const { credentials } = service;
  const folder = createProject({
    "wrangler.json": configuration(service),
    "index.js": script,
    ".dev.vars": secretsOf(credentials),
  });
  const dev = await DevServer.start(folder, { dns: false });
  const url = await dev.url();
  await waitForAnswer(url, ["k"]);
  expect(dev.output).toContain(`Remote     cluster, ${service.url}\n`);
  expect(dev.output).toMatch(/env\.PHOTOS \(photos\) +Store Bucket +on cluster/);
  expect(dev.output).not.toContain(credentials.secretAccessKey);

  const changed = dev.output.length;
  write(join(folder, ".dev.vars"), secretsOf({ ...credentials, secretAccessKey: "wrong-secret" }));
  await dev.waitForOutput(
    /refused the signature.*\nThe previous configuration stays in use\./,
    changed,
  );
  await waitForAnswer(url, ["k"]);
  const corrected = dev.output.length;
  write(join(folder, ".dev.vars"), `${secretsOf(credentials)}OTHER=1\n`);
  await dev.waitForOutput(/The configuration has changed\./, corrected);
  await waitForAnswer(url, ["k"]);
  // The script has the secrets that are its own.
  await waitForAnswer(new URL("/env", url).href, ["OTHER", "PHOTOS"]);
});

it("does not start when the service cannot be used", async () => {
  const service = await startService();
  const folder = createProject({
    "wrangler.json": configuration(service, "missing"),
    "index.js": script,
    ".dev.vars": secretsOf(service.credentials),
  });
  const dev = ledgeDev(folder, "--no-dns");
  expect(await dev.exited).toBe(1);
  expect(dev.output.trim()).toBe(
    `The remote "cluster" (${service.url}) has no bucket "missing". Create the bucket there, or correct bucket_name.`,
  );
});

it("does not start without keys", async () => {
  const service = await startService();
  const folder = createProject({
    "wrangler.json": configuration(service),
    "index.js": script,
  });
  const text = readFileSync(join(folder, "wrangler.json"), "utf8");
  const line = text.split("\n").findIndex((each) => each.includes('"cluster": {')) + 1;
  const dev = ledgeDev(folder, "--no-dns");
  expect(await dev.exited).toBe(1);
  expect(dev.output.trim()).toBe(
    `wrangler.json:${line}:5: remotes.cluster has no access_key_id and no secret_access_key. ` +
      "Set LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID and LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY in .dev.vars or in the environment.",
  );
});
