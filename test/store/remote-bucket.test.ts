/** A bucket on an S3 service, executed in Node: the service is our own S3-compatible API. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Method } from "../../src/store/core/errors.ts";
import { decodeObject } from "../../src/store/core/object.ts";
import type { DescribedObject, Request, Result } from "../../src/store/core/operations.ts";
import type { RemoteObject } from "../../src/store/remote/remote-reads.ts";
import { useS3Service } from "../support/s3-services.ts";
import {
  bytesOf,
  callRemote,
  contentOf,
  md5Of,
  openRemote,
  type RemoteStore,
} from "./support/remote-store.ts";

const s3 = useS3Service("photos");
let remote: RemoteStore;
/** Requests of the transport: method and target. */
const sent: string[] = [];

beforeAll(() => {
  remote = openRemote(s3.server, "photos", {
    prefix: "team/",
    around: (transport) => (message) => {
      sent.push(`${message.method} ${message.target}`);
      return transport(message);
    },
  });
});
afterAll(() => remote.close());

const plain = { http: {}, custom: {}, storageClass: "Standard" } as const;

const call = <M extends Exclude<Method, "get">>(request: Request<M>): Promise<Result<M>> =>
  callRemote(remote, request);

async function put(
  key: string,
  value: string | Uint8Array,
  options: Partial<Request<"put">> = {},
): Promise<DescribedObject | null> {
  const content = contentOf(value);
  const text = await call<"put">({ method: "put", key, content, ...plain, ...options });
  return text === null ? null : decodeObject(key, text);
}

async function head(key: string): Promise<DescribedObject | null> {
  const text = await call<"head">({ method: "head", key });
  return text === null ? null : decodeObject(key, text);
}

async function textOf(found: RemoteObject | null): Promise<string | null> {
  if (found?.status !== "found") return null;
  return new Response(found.content as ArrayBuffer).text();
}

describe("put and head", () => {
  it("keep every property", async () => {
    const properties = {
      http: {
        contentType: "text/plain; charset=utf-8",
        contentLanguage: "de",
        contentDisposition: 'attachment; filename="ü.txt"',
        cacheControl: "no-store",
        cacheExpiry: 1_900_000_000_123,
      },
      custom: { Case: "Grüße", "": " x ", "a b": "\u0000\n", ["__proto__"]: "p" },
      storageClass: "InfrequentAccess",
      ssecKeyMd5: "0".repeat(32),
    } as const;
    const content = contentOf("hello");
    const checksums = { ...content.checksums, sha512: "ab".repeat(64), crc32: "01020304" };
    const stored = await put("a/ü 1", "hello", {
      ...properties,
      content: { ...content, checksums },
    });
    const { md5, sha512, crc32 } = checksums;
    expect(stored).toMatchObject({
      ...properties,
      size: 5,
      etag: md5,
      checksums: { md5, sha512 },
      s3Checksums: { crc32 },
    });
    expect(stored?.version).toMatch(/^[0-9a-f]{32}$/);
    expect(await head("a/ü 1")).toEqual(stored);
    expect(Object.keys(stored?.custom ?? {})).toContain("__proto__");
  });

  it("have no HTTP metadata where none was given, and headers that others see where it was", async () => {
    await put("plain", "x");
    expect((await head("plain"))?.http).toEqual({});
    await put("typed", "x", { http: { contentType: "image/png" } });
    const seen = await s3.client.send({ method: "HEAD", target: "/photos/team/typed" });
    expect(seen.headers["content-type"]).toBe("image/png");
  });

  it("describe the objects of other writers", async () => {
    const headers = { "content-type": "text/csv", "x-amz-meta-name": "value" };
    const target = "/photos/team/foreign";
    await s3.client.send({ method: "PUT", target, headers, body: "1,2" });
    const object = await head("foreign");
    expect(object).toMatchObject({
      version: md5Of(bytesOf("1,2")),
      etag: md5Of(bytesOf("1,2")),
      http: { contentType: "text/csv" },
      custom: { name: "value" },
      storageClass: "Standard",
      size: 3,
    });
    expect(Math.abs((object?.uploaded ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  it("accept keys that paths and XML make difficult", async () => {
    const keys = ["../x", "a//b", "a/./b/..", "%2F+ ?#&=", "\u0001", "é\u{1f600}", "trailing/"];
    for (const key of keys) {
      await put(key, key);
      expect(await textOf(await remote.bucket.get({ key }))).toBe(key);
    }
    await call<"delete">({ method: "delete", keys });
    for (const key of keys) expect(await head(key)).toBeNull();
  });

  it("send content of the spool once, and remove its file whatever happens", async () => {
    const bytes = new Uint8Array(300_000).fill(7);
    const content = remote.spool.write(bytes);
    expect(await put("large", "", { content })).toMatchObject({
      size: bytes.length,
      etag: md5Of(bytes),
    });
    expect(remote.spool.files.size).toBe(0);
    const checksum = { algorithm: "md5", hex: "0".repeat(32) } as const;
    const wrong = put("large", "", { content: remote.spool.write(bytes), checksum });
    await expect(wrong).rejects.toMatchObject({ code: 10037 });
    expect(remote.spool.files.size).toBe(0);
    const found = await remote.bucket.get({ key: "large" });
    expect(found?.status === "found" && found.content instanceof ReadableStream).toBe(true);
    expect((await textOf(found))?.length).toBe(bytes.length);
  });

  it("refuse content that arrives with another MD5, and store nothing", async () => {
    const content = { bytes: bytesOf("other"), checksums: { md5: md5Of(bytesOf("hello")) } };
    await expect(put("mangled", "", { content })).rejects.toMatchObject({ code: 10037 });
    expect(await head("mangled")).toBeNull();
  });
});

describe("put with a condition", () => {
  it("is one request if the service has the same condition, and is decided by our rules otherwise", async () => {
    const first = await put("guarded", "1", { onlyIf: { etagDoesNotMatch: [{ kind: "any" }] } });
    expect(first).not.toBeNull();
    const again = await put("guarded", "2", { onlyIf: { etagDoesNotMatch: [{ kind: "any" }] } });
    expect(again).toBeNull();
    sent.length = 0;
    const etagMatches = [{ kind: "strong", value: first?.etag ?? "" }] as const;
    expect(await put("guarded", "3", { onlyIf: { etagMatches } })).not.toBeNull();
    expect(sent).toEqual(["PUT /photos/team/guarded"]);
    expect(await put("guarded", "4", { onlyIf: { etagMatches } })).toBeNull();
    sent.length = 0;
    expect(await put("guarded", "3", { onlyIf: { uploadedAfter: 0 } })).not.toBeNull();
    expect(sent).toEqual(["HEAD /photos/team/guarded", "PUT /photos/team/guarded"]);
    expect(await put("guarded", "5", { onlyIf: { uploadedBefore: 0 } })).toBeNull();
    expect(await textOf(await remote.bucket.get({ key: "guarded" }))).toBe("3");
  });

  it("has one winner of many that begin at the same time", async () => {
    const onlyIf = { etagDoesNotMatch: [{ kind: "any" }] } as const;
    const results = await Promise.all(
      Array.from({ length: 16 }, (_, index) => put("race", String(index), { onlyIf })),
    );
    expect(results.filter((result) => result !== null)).toHaveLength(1);
  });

  it("counts without a lost update", async () => {
    await put("counter", "0");
    const increment = async (): Promise<void> => {
      for (;;) {
        const found = await remote.bucket.get({ key: "counter" });
        const value = Number(await textOf(found)) + 1;
        const etagMatches = [{ kind: "strong", value: found?.object.etag ?? "" }] as const;
        if ((await put("counter", String(value), { onlyIf: { etagMatches } })) !== null) return;
      }
    };
    await Promise.all(Array.from({ length: 8 }, increment));
    expect(await textOf(await remote.bucket.get({ key: "counter" }))).toBe("8");
  });
});

describe("get", () => {
  beforeAll(async () => {
    await put("digits", "0123456789", { custom: { a: "b" } });
    await put("empty", "");
  });

  it("is one request", async () => {
    sent.length = 0;
    const found = await remote.bucket.get({ key: "digits", range: { offset: 2, length: 3 } });
    expect(found).toMatchObject({ range: { offset: 2, length: 3 }, object: { size: 10 } });
    expect(await textOf(found)).toBe("234");
    expect(sent).toEqual(["GET /photos/team/digits"]);
    expect(await remote.bucket.get({ key: "missing" })).toBeNull();
  });
});

describe("delete", () => {
  it("deletes one key, many keys, and keys without objects", async () => {
    for (const key of ["d1", "d2", "d3"]) await put(key, key);
    await call<"delete">({ method: "delete", keys: ["d1"] });
    sent.length = 0;
    await call<"delete">({ method: "delete", keys: ["d2", "d3", "d4", "d3"] });
    expect(sent).toEqual(["POST /photos?delete="]);
    for (const key of ["d1", "d2", "d3"]) expect(await head(key)).toBeNull();
    const none = call<"delete">({ method: "delete", keys: [] });
    await expect(none).rejects.toMatchObject({ code: 10027 });
  });

  it("is decided by a condition", async () => {
    const { etag } = (await put("d5", "5")) as DescribedObject;
    const wrong = { etagMatches: [{ kind: "strong", value: "other" }] } as const;
    const refused = call<"delete">({ method: "delete", keys: ["d5"], onlyIf: wrong });
    await expect(refused).rejects.toMatchObject({ code: 10031 });
    const onlyIf = { etagMatches: [{ kind: "strong", value: etag }] } as const;
    await call<"delete">({ method: "delete", keys: ["d5"], onlyIf });
    expect(await head("d5")).toBeNull();
    await call<"delete">({ method: "delete", keys: ["d5"], onlyIf });
  });
});

describe("settings", () => {
  it("are those of the service", async () => {
    expect(await call<"getSettings">({ method: "getSettings" })).toEqual({});
    const change = call<"putSettings">({ method: "putSettings", cors: "x" });
    await expect(change).rejects.toThrow(
      'The bucket "photos" is on the remote "cluster" and has its settings there. Change them there.',
    );
    const removal = call<"deleteBucket">({ method: "deleteBucket" });
    await expect(removal).rejects.toMatchObject({ code: 200003 });
    expect(await call<"checkDisk">({ method: "checkDisk", bytes: 1, blobs: [] })).toEqual({
      problem: null,
    });
  });
});
