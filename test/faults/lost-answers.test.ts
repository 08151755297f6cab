/**
 * Answers of the owner that a client never receives. The client repeats its request, and each write
 * has its effect once: the client gets the results that it would have got, no object is damaged, and
 * a repeated request changes nothing that another writer wrote meanwhile.
 */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { copyAcross, listPages, putFile } from "../../src/store/node/bucket-objects.ts";
import { LocalBuckets } from "../../src/store/node/local-bucket.ts";
import { FileContent } from "../../src/store/node/file-content.ts";
import { startS3 } from "../../dist/index.js";
import { S3TestClient } from "../s3/support/s3-client.ts";
import { bytesOf } from "../support/bytes.ts";
import { startStore } from "../support/store.ts";
import { worker } from "../support/worker.ts";
import { EndpointProxy, endpointSocket, losses, type Loss } from "./support/endpoint-proxy.ts";
import { reportFigures } from "./support/figures.ts";
import { faultScript } from "./support/fault-script.ts";
import { callScript } from "./support/http-call.ts";
import { OwnerMonitor } from "./support/open-databases.ts";
import { throughS3 } from "./support/s3-endpoint.ts";
import { isLong, SeededRandom } from "./support/seed.ts";
import { readStoreState } from "./support/store-state.ts";
import { FaultProject, startMiniflare, type Tool } from "./support/tools.ts";
import { verifyWrites } from "./support/verify-writes.ts";
import { hashOf, throughScript, Writer, type Write } from "./support/writer.ts";

const timeout = isLong ? 3_600_000 : 180_000;

/**
 * A script that makes every kind of write once, one after the other, and answers with all results.
 * The results do not depend on the prefix of the keys, so two runs can be compared.
 */
const lostAnswersScript = `
const bytes = (size, seed) => new Uint8Array(size).fill(seed);
const hash = async (object) => {
  if (object === null) return null;
  const digest = await crypto.subtle.digest("MD5", await object.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
};

async function run(bucket, prefix) {
  const results = [];
  const step = async (name, work) => {
    try {
      const value = await work();
      results.push([name, value?.etag ?? value ?? null]);
      return value;
    } catch (error) {
      results.push([name, String(error)]);
      return null;
    }
  };
  const put = (name, size, seed, options) =>
    bucket.put(prefix + name, bytes(size, seed), options);
  const upload = async (name) => ({ created: await bucket.createMultipartUpload(prefix + name) });

  await step("put inline", () => put("inline", 100, 1));
  await step("put file", () => put("file", 200000, 2));
  const first = await step("put if absent", () =>
    put("conditional", 100, 3, { onlyIf: { etagDoesNotMatch: "*" } }));
  await step("put if match", () =>
    put("conditional", 200000, 4, { onlyIf: { etagMatches: first?.etag } }));
  await step("put if match, refused", () =>
    put("conditional", 200000, 5, { onlyIf: { etagMatches: first?.etag } }));
  await step("replace file", () => put("file", 200001, 6));
  await step("delete inline", () => bucket.delete(prefix + "inline"));
  await step("put again", () => put("inline", 100, 7));
  await step("delete file", async () => {
    await put("gone", 200000, 8);
    await bucket.delete(prefix + "gone");
  });
  await step("batch", async () => {
    const objects = await Promise.all([put("b1", 10, 9), put("b2", 10, 10), put("b1", 10, 11)]);
    return objects.map((object) => object.etag);
  });
  const { created } = (await step("create", () => upload("multipart"))) ?? {};
  await step("part inline", () => created.uploadPart(1, bytes(100, 12)));
  const part = await step("part file", () => created.uploadPart(1, bytes(200000, 13)));
  await step("complete", () => created.complete([part]));
  const aborted = (await step("create another", () => upload("aborted")))?.created;
  await step("part of aborted", () => aborted.uploadPart(1, bytes(200000, 14)));
  await step("abort", () => aborted.abort());
  for (const name of ["inline", "file", "conditional", "gone", "b1", "b2", "multipart", "aborted"]) {
    await step("read " + name, async () => hash(await bucket.get(prefix + name)));
  }
  const { objects } = await bucket.list({ prefix });
  results.push(["list", objects.map(({ key, etag, size }) => [key.slice(prefix.length), etag, size])]);
  // Results that carry ids of uploads differ from run to run.
  return results.map(([name, value]) =>
    [name, typeof value === "object" && value !== null && !Array.isArray(value) ? "done" : value]);
}

export default {
  async fetch(request, env) {
    const prefix = new URL(request.url).searchParams.get("prefix");
    return Response.json(await run(env.BUCKET, prefix));
  },
};
`;

/** An owner, and a proxy that all clients which start later go through. */
async function startOwner(): Promise<{ project: FaultProject; owner: Tool; proxy: EndpointProxy }> {
  const project = new FaultProject();
  const owner = await startMiniflare(project.persistPath);
  // The endpoint opens with the first object.
  await callScript(`${owner.url}/?list`);
  const proxy = await EndpointProxy.start(endpointSocket(project.persistPath));
  return { project, owner, proxy };
}

/** Calls the script of a client of the owner. */
async function startClient({ persistPath }: FaultProject, script: string) {
  const { miniflare } = await startStore(persistPath, [worker(script)]);
  return async (path: string, init: { method?: string; body?: Uint8Array<ArrayBuffer> } = {}) => {
    const response = await miniflare.dispatchFetch(`http://script${path}`, init);
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
  };
}

function expectNothingLeft({ persistPath }: FaultProject): void {
  expect(readStoreState(persistPath)).toEqual({
    corrupt: [],
    missing: [],
    orphans: [],
    uploads: 0,
  });
}

/** The quick form loses a part of the answers, more of those after the commit. */
function requestNumbers(count: number, loss: Loss): number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  const step = isLong ? 1 : loss === "after" ? 3 : 8;
  return all.filter((number) => number % step === 1 % step);
}

/**
 * Runs the work once as it is, and once for each answer that gets lost. The results are the same.
 *
 * @returns how many answers were lost
 */
async function loseEach(proxy: EndpointProxy, run: () => Promise<unknown>): Promise<number> {
  proxy.plan();
  const expected = await run();
  const count = proxy.requests;
  expect(count).toBeGreaterThan(6);
  let lost = 0;
  for (const loss of losses) {
    for (const requestNumber of requestNumbers(count, loss)) {
      proxy.plan({ loss, requestNumber });
      expect.soft(await run(), `${loss} request ${requestNumber}`).toEqual(expected);
      expect(proxy.lost).toBe(1);
      lost++;
    }
  }
  return lost;
}

describe("a lost answer", { timeout }, () => {
  it("to a script changes no result and leaves nothing, whichever request it belongs to", async () => {
    const { project, proxy } = await startOwner();
    const call = await startClient(project, lostAnswersScript);
    const run = async (): Promise<unknown> => {
      const { body } = await call(`/?prefix=${randomUUID()}/`);
      return JSON.parse(body.toString());
    };
    const lost = await loseEach(proxy, run);
    expect(lost).toBeGreaterThan(5);
    expectNothingLeft(project);
    reportFigures("lost answers: script", { acknowledged: lost });
  });

  it("to a command changes no result and leaves nothing", async () => {
    const { project, proxy } = await startOwner();
    const { persistPath } = project;
    const buckets = new LocalBuckets(join(persistPath, "store"));
    onTestFinished(() => buckets.close());
    const bucket = buckets.bucket("photos");
    const file = (name: string, size: number): FileContent => {
      const path = join(project.folder, name);
      writeFileSync(path, bytesOf(size));
      return FileContent.of(path);
    };
    const [small, large] = [file("small", 100), file("large", 200_000)];
    const description = { http: {}, custom: {}, storageClass: "Standard" as const };
    const copy = async (prefix: string, source: string, key: string) => {
      const from = { bucket, key: prefix + source };
      return (await copyAcross({ from, to: { bucket, key: prefix + key } }))?.copy;
    };
    const operations: [name: string, run: (prefix: string) => Promise<unknown>][] = [
      ["put inline", (prefix) => putFile(bucket, { key: `${prefix}small`, ...description }, small)],
      ["put file", (prefix) => putFile(bucket, { key: `${prefix}large`, ...description }, large)],
      ["copy inline", (prefix) => copy(prefix, "small", "a")],
      ["copy file", (prefix) => copy(prefix, "large", "b")],
      ["delete", (prefix) => bucket.call({ method: "delete", keys: [`${prefix}small`] })],
      [
        "upload",
        async (prefix) => {
          const key = `${prefix}upload`;
          const create = { method: "createUpload" as const, key, ...description };
          const { uploadId } = await bucket.call(create);
          return bucket.call({ method: "abortUpload", key, uploadId });
        },
      ],
    ];
    const runAll = async (): Promise<unknown> => {
      const prefix = `${randomUUID()}/`;
      const results: unknown[] = [];
      for (const [name, run] of operations) {
        const result = (await run(prefix)) as { etag?: string } | null;
        results.push([name, result?.etag ?? null]);
      }
      for await (const page of listPages(bucket, { prefix })) {
        results.push(page.objects.map(({ key, etag }) => [key.slice(prefix.length), etag]));
      }
      return results;
    };
    await loseEach(proxy, runAll);
    expect(proxy.channelRequests).toBeGreaterThan(0);
    expectNothingLeft(project);
  });

  it("to the S3-compatible API changes no answer and leaves nothing", async () => {
    const { project, proxy } = await startOwner();
    const server = await startS3({
      stateFolder: join(project.folder, ".wrangler/state"),
      buckets: [{ name: "photos" }],
      port: 0,
    });
    onTestFinished(() => server.close());
    const client = new S3TestClient(server);
    const execute = throughS3(async () => client);
    const [small, large] = [bytesOf(100), bytesOf(200_000)];
    const run = async (): Promise<unknown> => {
      const prefix = `${randomUUID()}/`;
      const write = (method: Write["method"], key: string, body = large) =>
        execute({ method, key: prefix + key, body, value: null, match: null });
      const etags = [
        await write("put", "small", small),
        await write("put", "large"),
        await write("put if", "absent"),
        await write("upload", "parts"),
        await write("abort", "aborted"),
        await write("delete", "small"),
      ];
      const got = await client.send({ target: `/photos/${encodeURIComponent(prefix)}large` });
      const listed = await client.send({
        target: `/photos?list-type=2&prefix=${encodeURIComponent(prefix)}`,
      });
      const keys = Array.from(listed.text.matchAll(/<Key>.*?\/(.*?)<\/Key>/g), ([, key]) => key);
      return [etags, hashOf(got.body), keys];
    };
    const expected = [expect.any(Array), hashOf(large), ["absent", "large", "parts"]];
    expect(await run()).toEqual(expected);
    await loseEach(proxy, run);
    expect(proxy.channelRequests).toBeGreaterThan(0);
    expectNothingLeft(project);
  });

  it("leads to no second effect: another writer's later write stays", async () => {
    const { project, owner, proxy } = await startOwner();
    const call = await startClient(project, faultScript);
    const mine = bytesOf(100, 1);
    const mineLarge = bytesOf(200_000, 2);
    const theirs = bytesOf(150_000, 3);
    const cases: [name: string, path: string, init: { method: string; body?: typeof mine }][] = [
      ["put inline", "", { method: "PUT", body: mine }],
      ["put file", "", { method: "PUT", body: mineLarge }],
      ["conditional put", "?absent", { method: "PUT", body: mineLarge }],
      ["delete", "", { method: "DELETE" }],
      ["completed upload", "?upload", { method: "PUT", body: mineLarge }],
    ];
    for (const [name, query, init] of cases) {
      for (const loss of ["after", "middle"] as const) {
        const key = `${name} ${loss}`.replaceAll(" ", "-");
        // The last request of an upload completes it.
        const requestNumber = name === "completed upload" ? 3 : 1;
        const meanwhile = async (): Promise<void> => {
          await callScript(`${owner.url}/${key}`, { method: "PUT", body: theirs });
        };
        proxy.plan({ loss, requestNumber, meanwhile });
        const { status } = await call(`/${key}${query}`, init);
        expect.soft(status, name).toBe(200);
        expect(proxy.lost).toBe(1);
        const { body } = await callScript(`${owner.url}/${key}`);
        expect.soft(hashOf(body), `${name}, ${loss}`).toBe(hashOf(theirs));
      }
    }
    expectNothingLeft(project);
  });
});

describe("an owner that reloads under load", { timeout }, () => {
  it("loses no call of a client that puts files, and damages no object", async () => {
    const random = new SeededRandom("reloads");
    const project = new FaultProject();
    const monitor = new OwnerMonitor(project.persistPath);
    const owner = await startMiniflare(project.persistPath);
    const client = await startMiniflare(project.persistPath);
    const writers = Array.from(
      { length: 3 },
      (_, index) =>
        new Writer(
          `w${index}`,
          random,
          throughScript(() => client.url),
          [200_000],
        ),
    );
    for (const writer of writers) writer.start();
    const reloads = isLong ? 100 : 2;
    for (let reload = 1; reload <= reloads; reload++) {
      const before = writers.map(({ acknowledged }) => acknowledged);
      owner.process.send("reload");
      await owner.process.waitForOutput(new RegExp(`^reloaded ${reload} `, "m"));
      await expect
        .poll(() => writers.every(({ acknowledged }, index) => acknowledged > before[index]! + 2), {
          timeout: 60_000,
        })
        .toBe(true);
    }
    await Promise.all(writers.map((writer) => writer.stop()));
    expect(writers.map(({ lastError }) => lastError)).toEqual([undefined, undefined, undefined]);
    // A file of a run that has not ended is no garbage yet.
    await client.process.stop();
    await owner.process.stop();
    const reader = await startMiniflare(project.persistPath);
    const { problems, ...found } = await verifyWrites(reader.url, project.persistPath, writers);
    expect(problems).toEqual([]);
    expect(monitor.end()).toEqual([]);
    const acknowledged = writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
    reportFigures("lost answers: reloads", { kills: reloads, acknowledged, ...found });
  });
});
