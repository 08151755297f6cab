/** A bucket on an S3 service in Node: our own S3-compatible API, or the service that the environment names. */
import { hash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Method } from "../../src/store/core/errors.ts";
import { uploadLifetimeMilliseconds } from "../../src/store/core/limits.ts";
import { decodeObject } from "../../src/store/core/object.ts";
import type { Request, Result } from "../../src/store/core/operations.ts";
import type { Bucket } from "../../src/store/node/bucket.ts";
import { StoreClient } from "../../src/store/node/store-client.ts";
import { isOwnService, useS3Service } from "../support/s3-services.ts";
import { bucketSuite } from "./support/bucket-suite.ts";
import {
  allFeatures,
  callRemote,
  contentOf,
  openRemote,
  type RemoteStore,
} from "./support/remote-store.ts";
import { description } from "./support/store-client.ts";

const s3 = useS3Service("photos");
const folder = mkdtempSync(join(tmpdir(), "ledge-remote-"));
let client: StoreClient;
let bucket: Bucket;
let remote: RemoteStore;
let clock = 0;
/** Requests of the transport: method and target. */
const sent: string[] = [];

beforeAll(async () => {
  const { port, credentials } = s3.server;
  const place = { remote: "cluster", endpoint: `http://localhost:${port}`, region: "us-east-1" };
  const access = { ...place, bucketName: "photos", prefix: "ü &+%/", credentials, accept: [] };
  const remotes = new Map([["remote", access]]);
  client = new StoreClient(folder, () => ({ names: ["remote"], file: "ledge.toml", remotes }));
  bucket = (await client.find("remote")) as Bucket;
  remote = openRemote(s3.server, "photos", {
    prefix: "team/",
    now: () => Date.now() + clock,
    around: (transport) => (message) => {
      sent.push(`${message.method} ${message.target}`);
      return transport(message);
    },
  });
});
afterAll(async () => {
  remote.close();
  await client.close();
  rmSync(folder, { recursive: true });
});

bucketSuite("remote", () => bucket, isOwnService);

const call = <M extends Exclude<Method, "get">>(request: Request<M>): Promise<Result<M>> =>
  callRemote(remote, request);

async function put(key: string, value: string, options: Partial<Request<"put">> = {}) {
  const request = { method: "put", key, content: contentOf(value), ...description } as const;
  const text = await call<"put">({ ...request, ...options });
  return text === null ? null : decodeObject(key, text);
}

/** The requests of some work. */
async function requestsOf(work: () => Promise<unknown>): Promise<string[]> {
  sent.length = 0;
  await work();
  return [...sent];
}

describe("a bucket on a service", () => {
  it("has headers that other readers see, and describes the objects of other writers", async () => {
    await put("typed", "x", { http: { contentType: "image/png" } });
    const seen = await s3.client.send({ method: "HEAD", target: "/photos/team/typed" });
    expect(seen.headers["content-type"]).toBe("image/png");
    const headers = { "content-type": "text/csv", "x-amz-meta-name": "value" };
    const target = "/photos/team/foreign";
    await s3.client.send({ method: "PUT", target, headers, body: "1,2" });
    const text = await call<"head">({ method: "head", key: "foreign" });
    const object = decodeObject("foreign", text as string);
    expect(object).toMatchObject({
      version: hash("md5", "1,2"),
      etag: hash("md5", "1,2"),
      http: { contentType: "text/csv" },
      custom: { name: "value" },
      storageClass: "Standard",
      size: 3,
    });
    expect(Math.abs(object.uploaded - Date.now())).toBeLessThan(60_000);
  });

  it("refuses content that arrives with another MD5, and stores nothing", async () => {
    const content = { bytes: Buffer.from("other"), checksums: { md5: hash("md5", "hello") } };
    await expect(put("mangled", "", { content })).rejects.toMatchObject({ code: 10037 });
    expect(await call<"head">({ method: "head", key: "mangled" })).toBeNull();
  });

  it("sends one request where the service has the same condition, and decides otherwise", async () => {
    const ifAbsent = { onlyIf: { etagDoesNotMatch: [{ kind: "any" }] } } as const;
    const first = await put("guarded", "1", ifAbsent);
    expect(await put("guarded", "2", ifAbsent)).toBeNull();
    const etagMatches = [{ kind: "strong", value: first?.etag ?? "" }] as const;
    const replace = () => put("guarded", "3", { onlyIf: { etagMatches } });
    expect(await requestsOf(replace)).toEqual(["PUT /photos/team/guarded"]);
    expect(await replace()).toBeNull();
    const newer = () => put("guarded", "3", { onlyIf: { uploadedAfter: 0 } });
    const decided = ["HEAD /photos/team/guarded", "PUT /photos/team/guarded"];
    expect(await requestsOf(newer)).toEqual(decided);
    expect(await put("guarded", "5", { onlyIf: { uploadedBefore: 0 } })).toBeNull();
    const range = { offset: 0, length: 1 };
    const get = () => remote.bucket.get({ key: "guarded", range });
    expect(await requestsOf(get)).toEqual(["GET /photos/team/guarded"]);
    const keys = ["guarded", "none", "guarded"];
    const remove = () => call<"delete">({ method: "delete", keys });
    expect(await requestsOf(remove)).toEqual(["POST /photos?delete="]);
  });

  it("refuses conditions of completions and deletes where the service ignores them", async () => {
    const features = { ...allFeatures, conditionalComplete: false, conditionalDelete: false };
    const older = openRemote(s3.server, "photos", { prefix: "team/", features });
    await put("kept", "1");
    const remove = { method: "delete", keys: ["kept"], onlyIf: { uploadedAfter: 0 } } as const;
    await expect(callRemote<"delete">(older, { ...remove, keys: ["kept"] })).rejects.toThrow(
      /the S3 service ignores conditions of a delete/,
    );
    const request = { method: "createUpload", key: "condition", ...description } as const;
    const { uploadId } = await call<"createUpload">(request);
    const upload = { key: "condition", uploadId };
    const onlyIf = { etagDoesNotMatch: [{ kind: "any" }] } as const;
    const content = contentOf("x");
    const part = { method: "uploadPart", ...upload, partNumber: 1, content } as const;
    const parts = [await call<"uploadPart">(part)];
    const complete = { method: "completeUpload", ...upload, parts, onlyIf } as const;
    const ignored = callRemote<"completeUpload">(older, complete);
    await expect(ignored).rejects.toThrow(/the S3 service ignores conditions/);
    const conditional = callRemote<"createUpload">(older, { ...request, onlyIf });
    await expect(conditional).rejects.toThrow(/the S3 service ignores conditions/);
    older.close();
    expect(await call<"head">({ method: "head", key: "kept" })).not.toBeNull();
    await call<"abortUpload">({ method: "abortUpload", ...upload });
  });

  it("keeps the condition of an upload's creation for its completion", async () => {
    const request = { method: "createUpload", key: "created", ...description } as const;
    const onlyIf = { etagDoesNotMatch: [{ kind: "any" }] } as const;
    const { uploadId } = await call<"createUpload">({ ...request, onlyIf });
    const upload = { key: "created", uploadId };
    const part = {
      method: "uploadPart",
      ...upload,
      partNumber: 1,
      content: contentOf("x"),
    } as const;
    const parts = [await call<"uploadPart">(part)];
    const complete = { method: "completeUpload", ...upload, parts } as const;
    await put("created", "meanwhile");
    await expect(call<"completeUpload">(complete)).rejects.toMatchObject({ code: 10031 });
    await expect(call<"createUpload">({ ...request, onlyIf })).rejects.toMatchObject({
      code: 10031,
    });
    const listed = await call<"listParts">({
      method: "listParts",
      ...upload,
      afterPartNumber: 0,
      limit: 1,
    });
    expect(listed.upload).not.toHaveProperty("onlyIf");
    await call<"delete">({ method: "delete", keys: ["created"] });
    expect(decodeObject("created", await call<"completeUpload">(complete)).size).toBe(1);
    const tags = Array.from(
      { length: 40 },
      () => ({ kind: "strong", value: "0".repeat(32) }) as const,
    );
    const long = call<"createUpload">({ ...request, onlyIf: { etagDoesNotMatch: tags } });
    await expect(long).rejects.toThrow(/Name fewer entity tags/);
  });

  it("gives a completed upload the time of its end, and lists no upload that has expired", async () => {
    const hour = 3_600_000;
    clock = -hour;
    const key = "late";
    const { uploadId } = await call<"createUpload">({
      method: "createUpload",
      key,
      ...description,
    });
    const list = { method: "listUploads", prefix: key, limit: 1 } as const;
    clock = uploadLifetimeMilliseconds + 1000;
    const none = { uploads: [], prefixes: [], truncated: false };
    expect(await call<"listUploads">(list)).toEqual(none);
    clock = 0;
    const upload = { key, uploadId };
    const content = contentOf("text");
    const request = { method: "uploadPart", ...upload, partNumber: 1, content } as const;
    const parts = [await call<"uploadPart">(request)];
    const text = await call<"completeUpload">({ method: "completeUpload", ...upload, parts });
    expect(Math.abs(decodeObject(key, text).uploaded - Date.now())).toBeLessThan(hour / 2);
  });

  it("has the settings of the service", async () => {
    expect(await call<"getSettings">({ method: "getSettings" })).toEqual({});
    const change = call<"putSettings">({ method: "putSettings", cors: "x" });
    await expect(change).rejects.toThrow(
      'The bucket "photos" is on the remote "cluster" and has its settings there. Change them there.',
    );
    const removal = call<"deleteBucket">({ method: "deleteBucket" });
    await expect(removal).rejects.toMatchObject({ code: 200003 });
    const disk = await call<"checkDisk">({ method: "checkDisk", bytes: 1, blobs: [] });
    expect(disk).toEqual({ problem: null });
  });
});
