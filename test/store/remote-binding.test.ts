/** A script in workerd whose bucket is on an S3 service: our own endpoint. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { describe, expect, it, onTestFinished } from "vitest";
import { startS3, type RunningS3, type StoreBucket } from "../../dist/index.js";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { temporaryFolder } from "../support/store.ts";
import { bucketEntry, worker } from "../support/worker.ts";

const largeBytes = 20 * 1024 * 1024;

async function startService(): Promise<RunningS3> {
  const buckets = [{ name: "photos" }];
  const service = await startS3({ stateFolder: temporaryFolder(), buckets, port: 0 });
  onTestFinished(() => service.close());
  return service;
}

type Options = Readonly<Record<string, unknown>>;

/** A bucket of the service, as an entry of Miniflare's `env`. */
function remoteEntry(service: RunningS3, own: Options = {}, bucket: Options = {}) {
  const { accessKeyId, secretAccessKey } = service.credentials;
  const keys = { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
  const remote = { name: "cluster", endpoint: service.url, ...keys, ...own };
  return bucketEntry({ bucket_name: "photos", remote, ...bucket });
}

async function startScript(
  entry: ReturnType<typeof remoteEntry>,
  { script = "export default {};", folder = temporaryFolder() } = {},
): Promise<Miniflare> {
  const miniflare = new Miniflare({
    resourcePersistencePath: folder,
    workers: [worker(script, { env: { BUCKET: entry } })],
  });
  // A Miniflare that has not started rejects again.
  onTestFinished(() => miniflare.dispose().catch(() => {}));
  await miniflare.ready;
  return miniflare;
}

/** Starts a script, and returns the JSON of its answer to one request. */
async function run(service: RunningS3, body: string, bucket: Options = {}): Promise<unknown> {
  const script = `export default { async fetch(request, { BUCKET }) { ${body} } };`;
  const miniflare = await startScript(remoteEntry(service, {}, bucket), { script });
  const response = await miniflare.dispatchFetch("http://script/");
  return response.json();
}

async function bucketOf(miniflare: Miniflare): Promise<StoreBucket> {
  const { BUCKET } = await miniflare.getBindings<{ BUCKET: StoreBucket }>();
  return BUCKET;
}

async function keysOf(bucket?: StoreBucket): Promise<string[] | undefined> {
  return (await bucket?.list())?.objects.map(({ key }) => key);
}

describe("a bucket on an S3 service, in a script", () => {
  it("stores and reads a large stream, and leaves no file", async () => {
    const service = await startService();
    const folder = temporaryFolder();
    const script = `export default { async fetch(request, { BUCKET }) {
      if (request.method === "PUT") {
        // Miniflare sends the body in chunks, without a length.
        const sized = request.body.pipeThrough(new FixedLengthStream(${largeBytes}));
        const { size } = await BUCKET.put("large", sized);
        return Response.json(size);
      }
      const { body } = await BUCKET.get("large");
      await BUCKET.put("copy", body);
      return new Response((await BUCKET.get("copy")).body);
    } };`;
    const miniflare = await startScript(remoteEntry(service), { script, folder });
    const bytes = bytesOf(largeBytes);
    const put = await miniflare.dispatchFetch("http://script/", { method: "PUT", body: bytes });
    expect(await put.json()).toBe(largeBytes);
    const got = await miniflare.dispatchFetch("http://script/");
    expect(sameBytes(new Uint8Array(await got.arrayBuffer()), bytes)).toBe(true);
    const spool = readdirSync(join(folder, "store", "spool"), {
      recursive: true,
      withFileTypes: true,
    });
    expect(spool.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual(["lock"]);
    // No database, and no owner: the store is not used.
    expect(readdirSync(join(folder, "store"))).toEqual(["spool"]);
  });

  it("throws the errors of a local bucket, whose stacks begin in the script", async () => {
    const answer = await run(
      await startService(),
      `const attempt = async (act) => {
        try { await act(); return null; } catch (error) {
          return { message: error.message, first: error.stack.split("\\n    at ")[1] };
        }
      };
      await BUCKET.put("k", "value");
      return Response.json([
        await attempt(async function longKey() { await BUCKET.put("k".repeat(1025), "v"); }),
        await attempt(async function wrongHash() { await BUCKET.put("k", "v", { md5: "0".repeat(32) }); }),
        await attempt(async function farRange() { await BUCKET.get("k", { range: { offset: 99 } }); }),
        await attempt(async function noUpload() {
          await BUCKET.resumeMultipartUpload("k", "unknown").complete([]);
        }),
        await attempt(async function badList() { await BUCKET.list({ limit: 0 }); }),
      ]);`,
    );
    expect(answer).toEqual([
      error("put: The specified object name is not valid. (10020)", "longKey"),
      error(expect.stringMatching(/^put: The MD5 checksum .* \(10037\)$/s) as string, "wrongHash"),
      error("get: The requested range is not satisfiable (10039)", "farRange"),
      error(expect.stringMatching(/^completeMultipartUpload: .*\(10024\)$/) as string, "noUpload"),
      error(expect.stringMatching(/^list: .*/) as string, "badList"),
    ]);
  });

  it("is one bucket for two runtimes, also in Node", async () => {
    const service = await startService();
    const one = await bucketOf(await startScript(remoteEntry(service)));
    const other = await bucketOf(await startScript(remoteEntry(service)));
    const first = await one.put("k", "one");
    expect(await (await other.get("k"))?.text()).toBe("one");
    const results = await Promise.all(
      [one, other].map((bucket, index) =>
        bucket.put("k", `writer ${index}`, { onlyIf: { etagMatches: first.etag } }),
      ),
    );
    expect(results.filter((result) => result === null)).toHaveLength(1);
    const bytes = bytesOf(largeBytes, 2);
    await other.put("large", bytes);
    const got = await (await one.get("large"))?.arrayBuffer();
    expect(sameBytes(new Uint8Array(got as ArrayBuffer), bytes)).toBe(true);
  });

  it("has keys below the prefix of its remote", async () => {
    const service = await startService();
    const team = await bucketOf(await startScript(remoteEntry(service, { prefix: "team/" })));
    const whole = await bucketOf(await startScript(remoteEntry(service)));
    await team.put("a", "1");
    expect((await team.list()).objects.map(({ key }) => key)).toEqual(["a"]);
    expect((await whole.list()).objects.map(({ key }) => key)).toEqual(["team/a"]);
  });

  it("delays every operation by its latency", async () => {
    const service = await startService();
    const body = `
      const acts = [
        () => BUCKET.put("key", "value"),
        () => BUCKET.put("large", new Response("x".repeat(5_000_000)).body),
        () => BUCKET.head("key"),
        () => BUCKET.get("key"),
        () => BUCKET.list(),
        () => BUCKET.createMultipartUpload("key"),
        () => BUCKET.delete("key"),
      ];
      const isLate = async (act) => {
        const start = Date.now();
        await act();
        return Date.now() - start >= 990;
      };
      return Response.json(await Promise.all(acts.map(isLate)));`;
    const late = await run(service, body, { latency_milliseconds: 1000 });
    expect(late).toEqual(Array(7).fill(true));
  });

  it("stands beside local buckets", async () => {
    const service = await startService();
    const env = { BUCKET: remoteEntry(service), LOCAL: bucketEntry({ bucket_name: "photos" }) };
    const miniflare = new Miniflare({
      resourcePersistencePath: temporaryFolder(),
      workers: [worker("export default {};", { env })],
    });
    onTestFinished(() => miniflare.dispose());
    const { BUCKET, LOCAL } = await miniflare.getBindings<Record<string, StoreBucket>>();
    await BUCKET?.put("remote", "1");
    await LOCAL?.put("local", "1");
    expect([await keysOf(BUCKET), await keysOf(LOCAL)]).toEqual([["remote"], ["local"]]);
  });

  it("removes what a run that was killed has left in the spool", async () => {
    const folder = temporaryFolder();
    const dead = join(folder, "store", "spool", "process-abcdef");
    mkdirSync(dead, { recursive: true });
    // No process has the lock.
    for (const name of ["left", "lock"]) writeFileSync(join(dead, name), "");
    await startScript(remoteEntry(await startService()), { folder });
    expect(existsSync(dead)).toBe(false);
  });
});

describe("the start of a script with a bucket on an S3 service", () => {
  it("fails with one sentence when the service cannot be used", async () => {
    const service = await startService();
    const problems = await Promise.all(
      [
        remoteEntry(service, { access_key_id: "unknown" }),
        remoteEntry(service, { secret_access_key: "another-secret" }),
        remoteEntry(service, {}, { bucket_name: "missing" }),
        remoteEntry(service, { endpoint: `http://127.0.0.1:${await closedPort()}` }),
      ].map(async (entry) => {
        try {
          await startScript(entry);
          return null;
        } catch (thrown) {
          return (thrown as Error).message;
        }
      }),
    );
    const remote = `The remote "cluster" (${service.url})`;
    expect(problems).toEqual([
      `${remote} does not know the access key id. Correct access_key_id of [remotes.cluster].`,
      `${remote} refused the signature: the secret access key does not belong to the access key id. ` +
        "Correct secret_access_key of [remotes.cluster].",
      `${remote} has no bucket "missing". Create the bucket there, or correct bucket_name.`,
      expect.stringMatching(
        /^The remote "cluster" \(http:.*\) cannot be reached: .*ECONNREFUSED.*\. Check `endpoint`, and that the service is running\.$/,
      ),
    ]);
  });
});

function error(message: string, first: string) {
  return { message, first: expect.stringContaining(first) as string };
}

/** A port at which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
