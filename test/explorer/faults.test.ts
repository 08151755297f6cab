/**
 * Faults on purpose: faults, latency and the clock of a store, switched on through the explorer's API
 * and met by a script in a runtime on the same folder, by S3 clients and by commands.
 */
import { Miniflare } from "miniflare";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startS3, type RunningS3 } from "../../dist/index.js";
import type { Faults, FaultsState } from "../../src/explorer/api/faults.ts";
import { bucketEntry, worker } from "../support/worker.ts";
import { S3TestClient } from "../s3/support/s3-client.ts";
import { useExplorer } from "./support/explorer.ts";

const used = useExplorer({ buckets: ["photos", "logs"] });

const usual: Faults = { faults: [], latencyMilliseconds: 0, clockOffsetMilliseconds: 0 };

const change = (changed: Partial<Faults>): Promise<FaultsState> =>
  used.call("/api/faults", { method: "PUT", json: { ...usual, ...changed } });
const read = (): Promise<FaultsState> => used.call("/api/faults");
const withFaults = (...faults: string[]): Promise<FaultsState> => change({ faults });

/** Calls a method of a bucket, and returns its result or the message of its error. */
const script = worker(
  `export default {
    async fetch(request, env) {
      const { bucket, method, args } = await request.json();
      const start = Date.now();
      try {
        const result = await env[bucket][method](...args);
        const value = method === "get" ? await result.text() : (result ?? null);
        return Response.json({ value, milliseconds: Date.now() - start });
      } catch (error) {
        return Response.json({ error: error.message, milliseconds: Date.now() - start });
      }
    },
  };`,
  {
    env: {
      BUCKET: bucketEntry({ bucket_name: "photos" }),
      LOGS: bucketEntry({ bucket_name: "logs" }),
    },
  },
);

interface Called {
  readonly value?: unknown;
  readonly error?: string;
  readonly milliseconds: number;
}

let miniflare: Miniflare;
let s3: RunningS3;
let client: S3TestClient;

const newMiniflare = () =>
  new Miniflare({ resourcePersistencePath: `${used.stateFolder}/v3`, workers: [script] });

async function call(
  bucket: "BUCKET" | "LOGS",
  method: string,
  ...args: unknown[]
): Promise<Called> {
  const body = JSON.stringify({ bucket, method, args });
  const response = await miniflare.dispatchFetch("http://script/", { method: "POST", body });
  return (await response.json()) as Called;
}

const put = (key: string) => call("BUCKET", "put", key, "content");

beforeAll(async () => {
  miniflare = newMiniflare();
  await miniflare.ready;
  s3 = await startS3({ stateFolder: used.stateFolder, buckets: [{ name: "photos" }], port: 0 });
  client = new S3TestClient(s3);
});

afterEach(() => change({}));

afterAll(async () => {
  await s3?.close();
  await miniflare?.dispose();
});

/** A request of an S3 client for one object. */
const send = (method: "PUT" | "HEAD" | "GET") =>
  client.send({ method, target: "/photos/by-s3", ...(method === "PUT" && { body: "text" }) });

const internalError = "put: We encountered an internal error. Please try again. (10001)";

describe("a fault of buckets", () => {
  it("fails the calls of a script that it names, and no others, and counts its hits", async () => {
    const text = "put:photos/a/*:10001";
    expect(await withFaults(text)).toMatchObject({ faults: [{ text, hits: 0 }], problem: null });
    expect((await put("a/1")).error).toBe(internalError);
    expect((await put("b/1")).error).toBeUndefined();
    expect((await call("LOGS", "put", "a/1", "content")).error).toBeUndefined();
    expect((await call("BUCKET", "head", "a/1")).value).toBeNull();
    expect((await read()).faults).toEqual([{ text, hits: 1 }]);
  });

  it("ends after the calls that its options name", async () => {
    await withFaults("put:photos:10001:times=2");
    const errors = [];
    for (let count = 0; count < 3; count++) errors.push((await put("key")).error);
    expect(errors).toEqual([internalError, internalError, undefined]);
  });

  it("goes on counting when other faults change", async () => {
    const text = "put:photos:10001:times=1";
    await withFaults(text);
    expect((await put("key")).error).toBe(internalError);
    const state = await withFaults("delete:photos:10001", text);
    expect(state.faults.map(({ hits }) => hits)).toEqual([0, 1]);
    expect((await put("key")).error).toBeUndefined();
  });

  it("makes calls slow, loses answers, and breaks bodies off", async () => {
    await put("key");
    await withFaults("head:photos:slow=300ms", "put:photos:drop:when=after", "get:photos:drop=3");
    expect((await call("BUCKET", "head", "key")).milliseconds).toBeGreaterThanOrEqual(299);
    expect((await put("stored")).error).toBe("Network connection lost.");
    expect((await call("BUCKET", "get", "key")).error).toBe("Network connection lost.");
    await withFaults();
    expect((await call("BUCKET", "get", "stored")).value).toBe("content");
  });

  it("is an error of S3 for an S3 client, and the end of the connection when answers are lost", async () => {
    await withFaults("put:photos:10001:times=1", "head:photos:10058", "get:photos:drop");
    expect(await send("PUT")).toMatchObject({ status: 500, code: "InternalError" });
    expect(await send("PUT")).toMatchObject({ status: 200 });
    expect(await send("HEAD")).toMatchObject({ status: 429 });
    await expect(send("GET")).rejects.toMatchObject({ code: "ECONNRESET" });
    await withFaults();
    expect(await send("GET")).toMatchObject({ status: 200, text: "text" });
  });
});

describe("the latency", () => {
  it("is added to each call of a script, also to calls that fail", async () => {
    await change({ latencyMilliseconds: 200, faults: ["put:photos:10001"] });
    expect((await call("BUCKET", "head", "key")).milliseconds).toBeGreaterThanOrEqual(199);
    const failed = await put("key");
    expect(failed.error).toBe(internalError);
    expect(failed.milliseconds).toBeGreaterThanOrEqual(199);
  });
});

const day = 86_400_000;

describe("the clock", () => {
  it("moves the store, expires uploads, and goes back to the machine's time", async () => {
    const { value } = await call("BUCKET", "createMultipartUpload", "upload");
    const { uploadId } = value as { uploadId: string };
    const uploads = async () =>
      (await client.send({ target: "/photos?uploads" })).text.includes(uploadId);
    expect(await uploads()).toBe(true);
    const state = await change({ clockOffsetMilliseconds: 8 * day });
    expect(state.storeTime - Date.now()).toBeGreaterThan(7.9 * day);
    expect(await uploads()).toBe(false);
    const { value: stored } = await put("later");
    expect(Date.parse((stored as { uploaded: string }).uploaded) - Date.now()).toBeGreaterThan(
      7.9 * day,
    );
    expect(Math.abs((await change({})).storeTime - Date.now())).toBeLessThan(day);
    expect(await uploads()).toBe(false);
    const { value: now } = await put("now");
    expect(Date.parse((now as { uploaded: string }).uploaded) - Date.now()).toBeLessThan(day);
  });
});

describe("the faults", () => {
  it("hold again before the first call of a script whose runtime has started again", async () => {
    await withFaults("put:photos:10001");
    await miniflare.setOptions({
      resourcePersistencePath: `${used.stateFolder}/v3`,
      workers: [script],
    });
    // The first call of the new runtime waits for the faults.
    expect((await put("key")).error).toBe(internalError);
    expect((await read()).problem).toBeNull();
  });

  it.each([
    [
      "putt:photos:10001",
      'The fault "putt:photos:10001": "putt" is no method of a bucket. Did you mean "put"?',
    ],
    [
      "put:fotos:10001",
      'No bucket has the name "fotos", so the fault would hit no call. Did you mean "photos"?',
    ],
    ["put:photos:1001", '"1001" is no code of an error of the store. Did you mean "10001"?'],
  ])("stay as they are when %s is refused", async (text, sentence) => {
    await withFaults("put:photos/kept:10001");
    const before = await read();
    const refused = await used.fetch("/api/faults", {
      method: "PUT",
      body: JSON.stringify({
        ...usual,
        latencyMilliseconds: 5,
        faults: ["put:photos:drop", text],
      }),
    });
    expect(refused.status).toBe(400);
    expect(((await refused.json()) as { message: string }).message).toContain(sentence);
    const { storeTime: _, ...state } = await read();
    expect(before).toMatchObject(state);
    expect((await put("kept")).error).toBe(internalError);
    expect((await put("other")).error).toBeUndefined();
  });

  it.each([
    [{ latencyMilliseconds: -1 }, "The latency -1 is not a whole number of milliseconds"],
    [{ latencyMilliseconds: 60_001 }, "from 0 to 60000"],
    [{ clockOffsetMilliseconds: 1e15 }, "The clock cannot be moved by 1000000000000000"],
    [{ faults: [1] }, '"faults.0" of the request is not valid: must be text'],
    [{ faults: undefined }, '"faults" of the request is missing'],
  ])("are refused as %j", async (fields, sentence) => {
    const body = JSON.stringify({ ...usual, ...fields });
    const refused = await used.fetch("/api/faults", { method: "PUT", body });
    expect(refused.status).toBe(400);
    expect(((await refused.json()) as { message: string }).message).toContain(sentence);
  });

  it("say why faults of DNS queries are not in force", async () => {
    const state = await withFaults("dns:drop:*");
    expect(state.problem).toBe("DNS does not run, so the faults of DNS queries are not in force.");
    expect((await change({})).problem).toBeNull();
  });
});
