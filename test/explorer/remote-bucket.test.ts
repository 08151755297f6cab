/** The explorer with a bucket on an S3 service: our own endpoint on another state folder. */
import { createHash } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import type {
  BucketStatistics,
  BucketSummary,
  UploadPage,
} from "../../src/explorer/api/buckets.ts";
import type { NewTask, Task } from "../../src/explorer/api/tasks.ts";
import { S3TestClient } from "../s3/support/s3-client.ts";
import { useS3 } from "../s3/support/running-s3.ts";
import { bytesOf } from "../support/bytes.ts";
import { BucketCalls } from "./support/bucket-calls.ts";
import { useExplorer } from "./support/explorer.ts";
import { zipNames } from "./support/zip-names.ts";

const service = useS3({ buckets: [{ name: "photos" }] });
const remote = () => ({
  name: "cluster",
  endpoint: service.server.url,
  region: "us-east-1",
  prefix: "explored/",
  accept: [],
  credentials: service.server.credentials,
});
const used = useExplorer({ buckets: () => ["local", { name: "photos", remote: remote() }] });
const photos = new BucketCalls(used, "photos");
const local = new BucketCalls(used, "local");
const large = bytesOf(2_000_000, 3);
const waiting = { timeout: 60_000 };

/** A task of the remote bucket, unless `json` names another. */
function start(json: Partial<NewTask> & Record<string, unknown>): Promise<Task> {
  const complete = { bucket: "photos", keys: [], prefixes: [], ...json };
  return used.call<Task>("/api/tasks", { method: "POST", json: complete });
}

async function taskOf({ id }: Task): Promise<Task> {
  return (await used.call<Task[]>("/api/tasks")).find((each) => each.id === id) as Task;
}

function ended(task: Task): Promise<Task> {
  return vi.waitFor(async () => {
    const current = await taskOf(task);
    expect(["waiting", "running"]).not.toContain(current.state);
    return current;
  }, waiting);
}

async function finish(json: Partial<NewTask> & Record<string, unknown>): Promise<Task> {
  return ended(await start({ overwrite: false, ...json }));
}

const done = (count: number) => ({ state: "done", done: count, total: count, failures: [] });
const md5 = (bytes: Uint8Array) => createHash("md5").update(bytes).digest("hex");

describe("a remote bucket in the explorer", () => {
  it("is listed with the name of its service, and cannot be deleted", async () => {
    const listed = await used.call<BucketSummary[]>("/api/buckets");
    expect(listed).toMatchObject([
      { name: "local", remote: null },
      {
        name: "photos",
        remote: { name: "cluster", endpoint: service.server.url },
        isDeletable: false,
      },
    ]);
    expect(JSON.stringify(listed)).not.toContain(service.server.credentials.secretAccessKey);
    expect((await used.fetch("/api/buckets/photos", { method: "DELETE" })).status).toBe(409);
  });

  it("is uploaded to, read, changed and counted", async () => {
    await photos.put("a/large", large, { type: "image/png" });
    await photos.put("b", "text", { type: "text/plain" });
    expect(await photos.keys()).toEqual(["a/large", "b"]);
    expect(md5(Buffer.from(await (await photos.get("a/large")).arrayBuffer()))).toBe(md5(large));
    expect(await (await photos.get("b", { range: "bytes=1-2" })).text()).toBe("ex");
    await photos.change("b", { customMetadata: { owner: "me" } });
    expect(await photos.head("b")).toMatchObject({ customMetadata: { owner: "me" }, size: 4 });
    const counted = await used.call<BucketStatistics>("/api/buckets/photos");
    expect(counted).toMatchObject({ objects: 2, bytes: 2_000_004, uploads: 0 });
    const refused = await used.fetch(photos.path("/content", { key: "b", overwrite: "false" }), {
      method: "PUT",
      body: "other",
    });
    expect(refused.status).toBe(412);
    expect(await photos.text("b")).toBe("text");
  });

  it("has copies and moves, within the bucket and between it and a local bucket", async () => {
    await photos.put("c/large", large, { type: "image/png" });
    await photos.change("c/large", { customMetadata: { Owner: "ä" } });
    const described = { customMetadata: { Owner: "ä" }, contentType: "image/png" };
    const within = { bucket: "photos", key: "c/copy" };
    expect(await finish({ kind: "copy", keys: ["c/large"], to: within })).toMatchObject(done(1));
    expect(await photos.head("c/copy")).toMatchObject({ ...described, size: large.length });

    const out = { bucket: "local", key: "" };
    expect(await finish({ kind: "move", prefixes: ["c/"], to: out })).toMatchObject(done(2));
    expect(await photos.keys("c/")).toEqual([]);
    expect(await local.keys("c/")).toEqual(["c/copy", "c/large"]);
    expect(await local.head("c/copy")).toMatchObject(described);

    await photos.put("c/copy", "old");
    const back = {
      kind: "move" as const,
      bucket: "local",
      prefixes: ["c/"],
      to: { bucket: "photos", key: "" },
    };
    expect(await finish(back)).toMatchObject({
      done: 1,
      failures: [
        { key: "c/copy", message: 'An object "c/copy" exists already, and is not replaced.' },
      ],
    });
    expect(await photos.text("c/copy")).toBe("old");
    expect(await finish({ ...back, overwrite: true })).toMatchObject(done(1));
    expect(await local.keys("c/")).toEqual([]);
    expect(await photos.head("c/copy")).toMatchObject(described);
    expect(md5(Buffer.from(await (await photos.get("c/copy")).arrayBuffer()))).toBe(md5(large));
  });

  it("has deletions, which can be cancelled and which leave replaced objects", async () => {
    await photos.putAll(["d/a", "d/b", "d/f/1", "d/f/2"]);
    const cancelled = await start({ kind: "delete", prefixes: ["d/"] });
    await used.call(`/api/tasks/${cancelled.id}`, { method: "DELETE" });
    const task = await start({ kind: "delete", keys: ["d/a", "d/b"], prefixes: ["d/f/"] });
    await vi.waitFor(async () => expect((await taskOf(task)).total).toBe(4), waiting);
    await photos.put("d/b", "new");
    expect(await ended(task)).toMatchObject({
      done: 3,
      failed: 1,
      failures: [
        { key: "d/b", message: "The object was replaced after the request, and is not deleted." },
      ],
    });
    expect((await taskOf(cancelled)).state).toBe("cancelled");
    expect(await photos.keys("d/")).toEqual(["d/b"]);
  });

  it("has folders as zip files", async () => {
    await photos.put("z/f/large", large);
    await photos.put("z/f/sub/é.txt", "text");
    const response = await used.fetch(photos.path("/archive", { prefix: "z/f/" }));
    const file = Buffer.from(await response.arrayBuffer());
    expect(zipNames(file)).toEqual(["f/large", "f/sub/é.txt"]);
    expect(file.includes(Buffer.from(large))).toBe(true);
  });

  it("has uploads in parts, which are listed and aborted", async () => {
    const client = new S3TestClient(service.server);
    await client.send({ method: "POST", target: "/photos/explored/u/film?uploads" });
    const listed = () => used.call<UploadPage>(photos.path("/uploads"));
    const { uploads } = await listed();
    expect(uploads.map(({ key }) => key)).toEqual(["u/film"]);
    const path = photos.path(`/uploads/${uploads[0]?.uploadId}`, { key: "u/film" });
    await used.call(path, { method: "DELETE" });
    expect((await listed()).uploads).toEqual([]);
  });

  it("has no faults", async () => {
    const response = await used.fetch("/api/faults", {
      method: "PUT",
      body: JSON.stringify({
        faults: ["put:photos/*:10001"],
        latencyMilliseconds: 0,
        clockOffsetMilliseconds: 0,
      }),
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch("is on an S3 service");
  });
});
