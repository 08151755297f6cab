/** Listings of a bucket on an S3 service: the service is our own S3-compatible API. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decodeObject, decodeObjects } from "../../src/store/core/object.ts";
import type {
  DescribedObject,
  ListRequest,
  ObjectRecord,
  Request,
} from "../../src/store/core/operations.ts";
import { useS3Service } from "../support/s3-services.ts";
import { callRemote, contentOf, openRemote, type RemoteStore } from "./support/remote-store.ts";

const s3 = useS3Service("photos");
let remote: RemoteStore;
beforeAll(() => {
  remote = openRemote(s3.server, "photos", { prefix: "team/" });
});
afterAll(() => remote.close());

const plain = { http: {}, custom: {}, storageClass: "Standard" } as const;

async function put(
  key: string,
  value: string,
  options: Partial<Request<"put">> = {},
): Promise<void> {
  const content = contentOf(value);
  await callRemote<"put">(remote, { method: "put", key, content, ...plain, ...options });
}

async function described(key: string): Promise<DescribedObject | null> {
  const text = await callRemote<"head">(remote, { method: "head", key });
  return text === null ? null : decodeObject(key, text);
}

async function list(
  options: Partial<ListRequest> = {},
): Promise<{ objects: ObjectRecord[]; keys: string[]; prefixes: string[]; cursor?: string }> {
  const request = {
    prefix: "",
    delimiter: "",
    limit: 1000,
    includeHttp: true,
    includeCustom: true,
    ...options,
  };
  const { objectsJson, ...page } = await callRemote<"list">(remote, { method: "list", ...request });
  const { includeHttp: http, includeCustom: custom } = request;
  const objects = decodeObjects(objectsJson, { http, custom });
  return { objects, keys: objects.map(({ key }) => key), ...page };
}

describe("list", () => {
  const keys = ["l/a", "l/b/1", "l/b/2", "l/c", "l/d/1", "l/é", "l/\u{1f600}"];
  beforeAll(async () => {
    for (const key of keys) await put(key, key, { custom: { key }, http: { contentType: "t/t" } });
  });

  it("describes objects as head does, in the order of the keys", async () => {
    const page = await list({ prefix: "l/" });
    expect(page.keys).toEqual(keys);
    expect(page.cursor).toBeUndefined();
    expect(page.objects).toEqual(await Promise.all(keys.map(described)));
    const bare = await list({ prefix: "l/", includeHttp: false, includeCustom: false, limit: 1 });
    expect(bare.objects[0]).not.toHaveProperty("custom");
    const custom = await list({ prefix: "l/", includeHttp: false, limit: 1 });
    expect(custom.objects[0]).toHaveProperty("custom", { key: "l/a" });
    expect(custom.objects[0]).not.toHaveProperty("http");
  });

  it("has keys that XML and URLs make difficult", async () => {
    const difficult = ["x/ +%2F&<", "x/\u0001", "x//", "x/\u{10ffff}"].toSorted();
    for (const key of difficult) await put(key, key);
    expect((await list({ prefix: "x/" })).keys.toSorted()).toEqual(difficult);
    await callRemote<"delete">(remote, { method: "delete", keys: difficult });
    expect((await list({ prefix: "x/" })).keys).toEqual([]);
  });

  it("begins after a key, also after a key of a rolled-up prefix", async () => {
    expect((await list({ prefix: "l/", startAfter: "l/c" })).keys).toEqual(keys.slice(4));
    const inside = await list({ prefix: "l/", delimiter: "/", startAfter: "l/b/1" });
    expect(inside).toMatchObject({
      prefixes: ["l/b/", "l/d/"],
      keys: ["l/c", "l/é", "l/\u{1f600}"],
    });
    const after = await list({ prefix: "l/", delimiter: "/", startAfter: "l/b/2" });
    expect(after.prefixes).toEqual(["l/d/"]);
    const at = await list({ prefix: "l/", delimiter: "/", startAfter: "l/b/" });
    expect(at.prefixes).toEqual(["l/b/", "l/d/"]);
    expect((await list({ prefix: "l/", startAfter: "zz" })).keys).toEqual([]);
    expect((await list({ prefix: "x".repeat(2000) })).keys).toEqual([]);
    expect((await list({ prefix: "l/", startAfter: `l/c${"y".repeat(2000)}` })).keys).toEqual(
      keys.slice(4),
    );
  });

  it("ends a page when its metadata is large", async () => {
    const names = Array.from({ length: 80 }, (_, index) => `m/${String(index).padStart(2, "0")}`);
    await Promise.all(names.map((key) => put(key, "x", { custom: { large: "y".repeat(5000) } })));
    const first = await list({ prefix: "m/" });
    expect(first.keys.length).toBeGreaterThan(40);
    expect(first.keys.length).toBeLessThan(80);
    const second = await list({ prefix: "m/", cursor: first.cursor ?? "" });
    expect([...first.keys, ...second.keys]).toEqual(names);
    expect((await list({ prefix: "m/", includeHttp: false, includeCustom: false })).keys).toEqual(
      names,
    );
  });

  it("counts objects and bytes without reading each object", async () => {
    const all = await callRemote<"stats">(remote, { method: "stats" });
    const names = (await list({ includeHttp: false, includeCustom: false })).objects;
    expect(all).toEqual({
      objects: names.length,
      bytes: names.reduce((sum, { size }) => sum + size, 0),
      uploads: 0,
    });
    const first = await callRemote<"stats">(remote, { method: "stats", limit: 3 });
    expect(first).toMatchObject({ objects: 3, next: names[2]?.key });
    const rest = await callRemote<"stats">(remote, { method: "stats", after: first.next ?? "" });
    expect(rest.objects).toBe(names.length - 3);
  });
});
