/**
 * The interface of a bucket in Node, beyond what the binding uses: one suite for a bucket of the state
 * folder and for a bucket on an S3 service. Each test has keys of its own.
 */
import { createHash, hash, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { S3ChecksumAlgorithm, UploadChecksum } from "../../../src/store/core/checksum.ts";
import { crcOf } from "../../../src/store/core/hash.ts";
import { decodeObject, decodeObjects } from "../../../src/store/core/object.ts";
import type {
  DescribedObject,
  ListRequest,
  Request,
  Result,
} from "../../../src/store/core/operations.ts";
import type { Bucket, FoundObject } from "../../../src/store/node/bucket.ts";
import { bytesOf, sameBytes } from "../../support/bytes.ts";
import { isOwnService } from "../../support/s3-services.ts";
import { chunksOf, description, readAll } from "./store-client.ts";

const partSize = 5 * 1024 * 1024;
const first = bytesOf(partSize, 1);
const last = bytesOf(300_000, 2);
const whole = Buffer.concat([first, last]);
const [small, large] = [bytesOf(1000, 2), bytesOf(3_000_000, 3)];
const ifAbsent = { onlyIf: { etagDoesNotMatch: [{ kind: "any" }] } } as const;
const ifMatch = (value: string) => ({
  onlyIf: { etagMatches: [{ kind: "strong" as const, value }] },
});
const code = (value: number) =>
  expect.objectContaining({ name: "StoreError", code: value }) as Error;

function digest(algorithm: S3ChecksumAlgorithm, bytes: Uint8Array): string {
  return algorithm === "sha1" || algorithm === "sha256"
    ? hash(algorithm, bytes)
    : crcOf(algorithm, bytes);
}

/** The operations of the tests, by shorter names. */
export function operationsOf(open: () => Bucket) {
  const content = (bytes: Uint8Array | string) => open().write(chunksOf(Buffer.from(bytes)));
  return {
    content,
    put: async (key: string, bytes: Uint8Array | string, options: Partial<Request<"put">> = {}) => {
      const request = { method: "put", key, ...description, ...options } as const;
      const text = await open().call<"put">({ ...request, content: await content(bytes) });
      return text === null ? null : decodeObject(key, text);
    },
    head: async (key: string): Promise<DescribedObject | null> => {
      const text = await open().call({ method: "head", key });
      return text === null ? null : decodeObject(key, text);
    },
    get: async (key: string, more: Partial<Request<"get">> = {}): Promise<FoundObject> => {
      const opened = await open().get({ key, ...more });
      expect(opened?.status).toBe("found");
      return opened as FoundObject;
    },
    remove: (keys: readonly string[], more: Partial<Request<"delete">> = {}) =>
      open().call({ method: "delete", keys: [...keys], ...more }),
    create: async (key: string, options: Partial<Request<"createUpload">> = {}) => {
      const request = { method: "createUpload", key, ...description, ...options } as const;
      const { uploadId } = await open().call<"createUpload">(request);
      return { key, uploadId };
    },
    part: async (
      upload: { key: string; uploadId: string },
      partNumber: number,
      bytes: Uint8Array | string,
      more: Partial<Request<"uploadPart">> = {},
    ) => {
      const request = { method: "uploadPart", ...upload, partNumber, ...more } as const;
      return open().call<"uploadPart">({ ...request, content: await content(bytes) });
    },
    list: async (options: Partial<ListRequest> = {}) => {
      const plain = {
        prefix: "",
        delimiter: "",
        limit: 1000,
        includeHttp: true,
        includeCustom: true,
      };
      const request = { ...plain, ...options };
      const { objectsJson, ...page } = await open().call({ method: "list", ...request });
      const { includeHttp: http, includeCustom: custom } = request;
      const objects = decodeObjects(objectsJson, { http, custom });
      return { ...page, objects, keys: objects.map(({ key }) => key) };
    },
  };
}

const fresh = () => `${randomUUID()}/`;

function refuse(): never {
  throw new Error("refused");
}

/** @param hasConditionalDelete whether the service compares and deletes in one step; Ceph does not */
export function bucketSuite(kind: string, open: () => Bucket, hasConditionalDelete = true): void {
  const { content, put, head, get, remove, create, part, list } = operationsOf(open);
  const complete = (
    upload: { key: string; uploadId: string },
    parts: Request<"completeUpload">["parts"],
    more: Partial<Request<"completeUpload">> = {},
  ) => open().call({ method: "completeUpload", ...upload, parts, ...more });

  /** Uploads two parts, whose checksums have the upload's algorithm. */
  async function uploadParts(key: string, checksum: UploadChecksum = {}) {
    const upload = await create(key, checksum);
    const algorithm = checksum.checksumAlgorithm;
    const parts: Request<"completeUpload">["parts"][number][] = [];
    for (const [index, bytes] of [first, last].entries()) {
      const hex = algorithm && digest(algorithm, bytes);
      const written = await open().write(chunksOf(bytes), {
        algorithms: algorithm ? [algorithm] : [],
      });
      const request = { method: "uploadPart", ...upload, partNumber: index + 1 } as const;
      const stored = await open().call<"uploadPart">({
        ...request,
        content: written,
        ...(hex && { checksum: { algorithm, hex } }),
      });
      parts.push({ ...stored, ...(hex && { checksums: { [algorithm]: hex } }) });
    }
    return { upload, parts };
  }

  describe(`a ${kind} bucket`, () => {
    it("keeps every property of an object", async () => {
      const key = `${fresh()}a/ü 1`;
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
      const algorithms = ["sha512", "crc32"] as const;
      const written = await open().write(chunksOf(Buffer.from("hello")), { algorithms });
      const { md5, sha512, crc32 } = written.checksums;
      const request = { method: "put", key, ...properties, content: written } as const;
      const stored = decodeObject(key, (await open().call<"put">(request)) as string);
      expect(stored).toMatchObject({
        ...properties,
        size: 5,
        etag: md5,
        checksums: { md5, sha512 },
        s3Checksums: { crc32 },
      });
      expect(await head(key)).toEqual(stored);
      expect(Object.keys(stored.custom)).toContain("__proto__");
    });

    it.each([
      ["no", new Uint8Array()],
      ["small", small],
      ["large", large],
    ])(
      "stores and returns %s content, and content in chunks that are used again",
      async (_, bytes) => {
        const key = `${fresh()}é/../x`;
        async function* reused(): AsyncGenerator<Uint8Array> {
          const memory = Buffer.alloc(50_000);
          for (let start = 0; start < bytes.length; start += memory.length) {
            yield memory.subarray(0, Buffer.from(bytes).copy(memory, 0, start));
          }
        }
        for (const body of [chunksOf(bytes), reused()]) {
          const written = await open().write(body);
          await open().call({ method: "put", key, ...description, content: written });
          const opened = await get(key);
          expect(opened.range).toEqual({ offset: 0, length: bytes.length });
          expect([opened.object.size, opened.object.etag]).toEqual([
            bytes.length,
            hash("md5", bytes),
          ]);
          expect(sameBytes(await readAll(opened), bytes)).toBe(true);
        }
      },
    );

    it.each([small, large])("computes all checksums", async (bytes) => {
      const algorithms = ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"] as const;
      const written = await open().write(chunksOf(bytes), { algorithms });
      const expected = algorithms.map((algorithm) => [algorithm, digest(algorithm, bytes)]);
      expect(written.checksums).toEqual({
        md5: hash("md5", bytes),
        ...Object.fromEntries(expected),
      });
      await open().discard(written);
    });

    it("opens a range, and content that the caller gives up", async () => {
      const key = `${fresh()}range`;
      await put(key, large);
      const bytes = await readAll(
        await get(key, { range: { offset: 1_000_000, length: 200_000 } }),
      );
      expect(sameBytes(bytes, large.subarray(1_000_000, 1_200_000))).toBe(true);
      const opened = await get(key);
      if (opened.content instanceof Uint8Array) throw new Error("Large content is not in memory.");
      const { value } = await opened.content.chunks().next();
      expect(Buffer.from(value as Uint8Array)[0]).toBe(large[0]);
      opened.content.close();
      opened.content.close();
      expect(await readAll(await get(key))).toHaveLength(large.length);
    });

    it("answers a condition that does not hold, and an absent key", async () => {
      const key = `${fresh()}condition`;
      await put(key, small);
      expect(await open().get({ key, ...ifMatch("0".repeat(32)) })).toMatchObject({
        status: "condition failed",
        object: { key },
      });
      expect(await open().get({ key: `${key}absent` })).toBeNull();
      expect(await head(`${key}absent`)).toBeNull();
    });

    it("leaves nothing of content that is refused, discarded, or that cannot be read", async () => {
      const key = `${fresh()}wrong`;
      const before = await open().call({ method: "stats" });
      await expect(open().write(chunksOf(large), { verify: refuse })).rejects.toThrow("refused");
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield* chunksOf(large);
        throw new Error("the client went away");
      }
      await expect(open().write(failing())).rejects.toThrow("the client went away");
      await open().discard(await content(large));
      const checksum = { algorithm: "md5", hex: "00".repeat(16) } as const;
      await expect(put(key, large, { checksum })).rejects.toThrow(code(10037));
      expect(await put(key, large, ifMatch("x"))).toBeNull();
      expect(await head(key)).toBeNull();
      expect(await open().call({ method: "stats" })).toEqual(before);
    });

    it("deletes one key, many keys, keys without objects, and under a condition", async () => {
      const prefix = fresh();
      const keys = ["1", "2", "3"].map((name) => prefix + name);
      for (const key of keys) await put(key, key);
      const { etag } = (await head(keys[0]!)) as DescribedObject;
      const refused = code(hasConditionalDelete ? 10031 : 10001);
      await expect(remove([keys[0]!], ifMatch("other"))).rejects.toThrow(refused);
      expect(await head(keys[0]!)).not.toBeNull();
      const options = hasConditionalDelete ? ifMatch(etag) : {};
      await remove([keys[0]!], options);
      await remove([keys[0]!], options);
      await remove([keys[1]!, keys[2]!, `${prefix}4`, keys[2]!]);
      for (const key of keys) expect(await head(key)).toBeNull();
      await expect(remove([])).rejects.toThrow(code(10027));
    });

    it("reads one part of an object, which may have one only", async () => {
      const prefix = fresh();
      const { upload, parts } = await uploadParts(`${prefix}parts`);
      await complete(upload, parts);
      for (const [index, bytes] of [first, last].entries()) {
        const found = await get(upload.key, { partNumber: index + 1 });
        const range = { offset: index * partSize, length: bytes.length };
        expect(found).toMatchObject({ range, partsCount: 2, object: { size: whole.length } });
        expect(sameBytes(await readAll(found), bytes)).toBe(true);
      }
      const both = await get(upload.key, {
        partNumber: 1,
        onlyIf: { etagMatches: [{ kind: "any" }] },
      });
      expect(await readAll(both)).toHaveLength(partSize);
      await expect(get(upload.key, { partNumber: 3 })).rejects.toThrow(code(200001));
      for (const bytes of [small, large]) {
        await put(`${prefix}one`, bytes);
        const found = await get(`${prefix}one`, { partNumber: 1 });
        expect(found.range).toEqual({ offset: 0, length: bytes.length });
        expect(found).not.toHaveProperty("partsCount");
        expect(sameBytes(await readAll(found), bytes)).toBe(true);
        await expect(get(`${prefix}one`, { partNumber: 2 })).rejects.toThrow(code(200001));
      }
    });

    it("makes an object with the properties of the upload, and remembers a customer's key", async () => {
      const ssecKeyMd5 = "1".repeat(32);
      const properties = {
        http: { contentType: "video/mp4" },
        custom: { Name: "Ü" },
        storageClass: "InfrequentAccess" as const,
        ssecKeyMd5,
      };
      const upload = await create(`${fresh()}made`, properties);
      await expect(part(upload, 1, "x")).rejects.toThrow(code(200004));
      const stored = await part(upload, 1, "text", { ssecKeyMd5 });
      expect(stored).toEqual({ partNumber: 1, etag: hash("md5", "text") });
      const object = decodeObject(upload.key, await complete(upload, [stored]));
      const hashes = createHash("md5").update(Buffer.from(stored.etag, "hex")).digest("hex");
      expect(object).toMatchObject({ ...properties, size: 4, etag: `${hashes}-1`, checksums: {} });
      expect(Math.abs(object.uploaded - Date.now())).toBeLessThan(600_000);
      expect(await head(upload.key)).toEqual(object);
      await expect(part(upload, 2, "late", { ssecKeyMd5 })).rejects.toThrow(code(10024));
      await open().call({ method: "abortUpload", ...upload });
    });

    it("refuses uploads that never existed, or that belong to another key", async () => {
      const key = `${fresh()}none`;
      const { uploadId } = await create(`${key}mine`);
      for (const id of ["unknown", "", "a!00000000", uploadId]) {
        const upload = { key, uploadId: id };
        const abort = open().call({ method: "abortUpload", ...upload });
        await expect(abort).rejects.toThrow(code(10024));
        await expect(part(upload, 1, "x")).rejects.toThrow(code(10024));
        const parts = [{ partNumber: 1, etag: "0" }];
        await expect(complete(upload, parts)).rejects.toThrow(code(10024));
      }
      expect(await head(key)).toBeNull();
      await open().call({ method: "abortUpload", key: `${key}mine`, uploadId });
    });

    const checksums: [S3ChecksumAlgorithm, UploadChecksum["checksumType"]][] = [
      ["crc32", "full object"],
      ["crc32", "composite"],
      ["crc32c", "full object"],
      ["crc64nvme", undefined],
      ["crc32", undefined],
      ["sha1", undefined],
      ["sha256", "composite"],
    ];
    // Ceph 20.2 has other rules for other algorithms.
    const known = isOwnService ? checksums : checksums.slice(0, 2);
    it.each(known)("stores the %s of an object in parts: %s", async (algorithm, type) => {
      const checksum = { checksumAlgorithm: algorithm, ...(type && { checksumType: type }) };
      const { upload, parts } = await uploadParts(`${fresh()}summed`, checksum);
      const isFull = type === "full object" || algorithm === "crc64nvme";
      const digests = [first, last].map((bytes) => Buffer.from(digest(algorithm, bytes), "hex"));
      const hex = isFull
        ? digest(algorithm, whole)
        : `${digest(algorithm, Buffer.concat(digests))}-2`;
      const other = { algorithm, hex: hex.replace(/^./, (digit) => (digit === "0" ? "1" : "0")) };
      const refused = complete(upload, parts, { checksum: other });
      await expect(refused).rejects.toThrow(code(10037));
      const text = await complete(upload, parts, { checksum: { algorithm, hex } });
      const object = decodeObject(upload.key, text);
      expect(object).toMatchObject({ checksums: {}, s3Checksums: { [algorithm]: hex } });
      // Ceph 20.2 stores the checksum of the whole content, whichever type the upload asks for.
      const later = isOwnService ? hex : digest(algorithm, whole);
      expect((await head(upload.key))?.s3Checksums).toEqual({ [algorithm]: later });
      expect(sameBytes(await readAll(await get(upload.key)), whole)).toBe(true);
    });

    it("refuses a part with another checksum, and another size of the object", async () => {
      const checksum = { checksumAlgorithm: "crc32", checksumType: "full object" } as const;
      const { upload, parts } = await uploadParts(`${fresh()}refused`, checksum);
      const wrong = parts.map((each) => ({ ...each, checksums: { crc32: "00000000" } }));
      await expect(complete(upload, wrong)).rejects.toThrow(code(10025));
      await expect(complete(upload, parts, { objectSize: 1 })).rejects.toThrow(code(200002));
      await complete(upload, parts, { objectSize: whole.length });
    });

    it("keeps an upload in progress while its condition does not hold", async () => {
      const key = `${fresh()}guarded`;
      const { etag } = (await put(key, "value")) as DescribedObject;
      const upload = await create(key);
      const stored = await part(upload, 1, "new");
      await expect(complete(upload, [stored], ifAbsent)).rejects.toThrow(code(10031));
      expect(Buffer.from(await readAll(await get(key))).toString()).toBe("value");
      await complete(upload, [stored], ifMatch(etag));
      expect((await head(key))?.size).toBe(3);
    });

    it("lists the parts of an upload by number, in pages, with its description", async () => {
      const before = Date.now();
      const key = `${fresh()}listed`;
      const upload = await create(key, { storageClass: "InfrequentAccess" });
      for (const partNumber of [7, 2, 30]) await part(upload, partNumber, `part ${partNumber}`);
      const page = (afterPartNumber: number) =>
        open().call({ method: "listParts", ...upload, afterPartNumber, limit: 2 });
      const listed = await page(0);
      expect(listed).toMatchObject({
        parts: [
          { partNumber: 2, size: 6, etag: hash("md5", "part 2") },
          { partNumber: 7, size: 6 },
        ],
        truncated: true,
        upload: { ...upload, storageClass: "InfrequentAccess" },
      });
      // A service may have whole seconds.
      expect(listed.parts[0]?.uploaded).toBeGreaterThanOrEqual(before - 1000);
      expect(await page(7)).toMatchObject({
        parts: [{ partNumber: 30, size: 7 }],
        truncated: false,
      });
      await open().call({ method: "abortUpload", ...upload });
      await expect(page(0)).rejects.toThrow(code(10024));
    });

    it("lists uploads in progress in pages, with and without a delimiter", async () => {
      const prefix = fresh();
      const { uploads: before } = await open().call({ method: "stats" });
      const keys = ["\u0001", " +%2F&<", "a", "b/1", "b/2", "c", "é"].map((name) => prefix + name);
      const uploads: { key: string; uploadId: string }[] = [];
      for (const key of keys) uploads.push(await create(key));
      for (const delimiter of ["", "/"]) {
        const found: string[] = [];
        let after: Request<"listUploads">["after"];
        do {
          const request = { method: "listUploads", prefix, delimiter, limit: 1 } as const;
          const page: Result<"listUploads"> = await open().call({
            ...request,
            ...(after && { after }),
          });
          expect(page.truncated).toBe(page.next !== undefined);
          found.push(...page.uploads.map(({ uploadId }) => uploadId), ...page.prefixes);
          after = page.next;
        } while (after !== undefined);
        const ids = uploads.map(({ key, uploadId }) =>
          delimiter === "/" && key.startsWith(`${prefix}b/`) ? `${prefix}b/` : uploadId,
        );
        expect(found).toEqual([...new Set(ids)]);
      }
      uploads.push(await create(`${prefix}a`));
      const all = { method: "listUploads", prefix, limit: 1000 } as const;
      expect((await open().call(all)).uploads).toHaveLength(8);
      const later = await open().call({ ...all, after: { key: `${prefix}a` } });
      expect(later.uploads.map(({ key }) => key)).toEqual(keys.slice(3));
      expect((await open().call({ method: "stats" })).uploads).toBe(before + 8);
      for (const upload of uploads) await open().call({ method: "abortUpload", ...upload });
      expect((await open().call({ method: "stats" })).uploads).toBe(before);
      await expect(open().call({ ...all, limit: 0 })).rejects.toThrow(code(10022));
    });

    it("lists objects in pages that end when their metadata is large", async () => {
      const prefix = fresh();
      const names = Array.from(
        { length: 80 },
        (_, index) => prefix + String(index).padStart(2, "0"),
      );
      await Promise.all(names.map((key) => put(key, "x", { custom: { large: "y".repeat(5000) } })));
      const page = await list({ prefix });
      expect(page.keys.length).toBeGreaterThan(40);
      expect(page.keys.length).toBeLessThan(80);
      const next = await list({ prefix, cursor: page.cursor ?? "" });
      expect([...page.keys, ...next.keys]).toEqual(names);
      const bare = await list({ prefix, includeHttp: false, includeCustom: false });
      expect(bare.keys).toEqual(names);
      expect(bare.objects[0]).not.toHaveProperty("custom");
      expect((await list({ prefix: "x".repeat(2000) })).keys).toEqual([]);
      const startAfter = `${names[3]}${"y".repeat(2000)}`;
      expect((await list({ prefix, startAfter, limit: 1 })).keys).toEqual([names[4]]);
    });

    it("counts objects and bytes, also in steps", async () => {
      const keys = ["a", "b", "c"].map((name) => `\u{10FFFF}${fresh()}${name}`);
      for (const key of keys) await put(key, "12");
      const all = await open().call({ method: "stats" });
      const { objects } = await list({ includeHttp: false, includeCustom: false });
      const bytes = objects.reduce((sum, { size }) => sum + size, 0);
      expect(all).toMatchObject({ objects: objects.length, bytes });
      const step = await open().call({ method: "stats", limit: 2 });
      expect(step).toMatchObject({ objects: 2, next: objects[1]?.key });
      const rest = await open().call({ method: "stats", after: step.next ?? "" });
      expect(rest).toMatchObject({ objects: all.objects - 2 });
      await remove(keys);
    });
  });
}
