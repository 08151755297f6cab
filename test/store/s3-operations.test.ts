/** Operations of a bucket that only the S3-compatible interface uses, beside calls of the binding. */
import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type {
  Checksums,
  S3ChecksumAlgorithm,
  UploadChecksum,
} from "../../src/store/core/checksum.ts";
import type { Conditional } from "../../src/store/core/conditional.ts";
import { crcOf } from "../../src/store/core/hash.ts";
import { StoreError } from "../../src/store/core/errors.ts";
import { decodeObject } from "../../src/store/core/object.ts";
import type { FoundObject } from "../../src/store/node/bucket.ts";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { shareStoreClient } from "./support/shared-store-client.ts";
import { chunksOf, description, readAll } from "./support/store-client.ts";

const day = 24 * 60 * 60 * 1000;
const partSize = 5 * 1024 * 1024;
const first = bytesOf(partSize, 1);
const last = bytesOf(300_000, 2);
const whole = Buffer.concat([first, last]);
const etagOf = (...etags: string[]) => ({
  etagMatches: etags.map((value) => ({ kind: "strong" as const, value })),
});

const shared = shareStoreClient();

function digest(algorithm: S3ChecksumAlgorithm, bytes: Uint8Array): string {
  return algorithm === "sha1" || algorithm === "sha256"
    ? hash(algorithm, bytes)
    : crcOf(algorithm, bytes);
}

/** Uploads two parts, whose checksums have the upload's algorithm. */
async function uploadParts(key: string, checksum: UploadChecksum = {}) {
  const { uploadId } = await shared.photos.call({
    method: "createUpload",
    key,
    ...description,
    ...checksum,
  });
  const algorithm = checksum.checksumAlgorithm;
  const parts: { partNumber: number; etag: string; checksums?: Checksums }[] = [];
  for (const [index, bytes] of [first, last].entries()) {
    const content = await shared.photos.write(chunksOf(bytes), {
      algorithms: algorithm ? [algorithm] : [],
    });
    const part = await shared.photos.call({
      method: "uploadPart",
      key,
      uploadId,
      partNumber: index + 1,
      content,
      ...(algorithm && { checksum: { algorithm, hex: digest(algorithm, bytes) } }),
    });
    parts.push({
      ...part,
      ...(algorithm && { checksums: { [algorithm]: digest(algorithm, bytes) } }),
    });
  }
  return { key, uploadId, parts };
}

describe("put", () => {
  it("stores checksums that the binding does not show", async () => {
    const content = await shared.photos.write(chunksOf(last), {
      algorithms: ["crc64nvme", "sha256"],
    });
    const crc64nvme = crcOf("crc64nvme", last);
    const checksum = { algorithm: "crc64nvme", hex: crc64nvme } as const;
    await shared.photos.call({ method: "put", key: "key", ...description, content, checksum });
    const [md5, sha256] = [hash("md5", last), hash("sha256", last)];
    const opened = (await shared.photos.get({ key: "key" })) as FoundObject;
    await readAll(opened);
    expect(opened.object).toMatchObject({ checksums: { md5, sha256 }, s3Checksums: { crc64nvme } });
    const head = await shared.store().bucket.head("key");
    expect(head?.checksums.toJSON()).toEqual({ md5, sha256 });
    expect(Object.keys(head?.checksums ?? {})).toEqual(["md5", "sha256"]);
    const { objects } = await shared.store().bucket.list();
    expect(objects[0]?.checksums.toJSON()).toEqual({ md5, sha256 });
  });
});

describe("delete with a condition", () => {
  it("keeps an object for which the condition does not hold", async () => {
    const { bucket } = shared.store();
    const { etag } = await bucket.put("key", "value");
    const request = { method: "delete" as const, keys: ["key"] };
    const remove = (onlyIf: Conditional) => shared.photos.call({ ...request, onlyIf });
    await expect(remove(etagOf("other"))).rejects.toThrow(new StoreError(10031));
    expect(await bucket.head("key")).not.toBeNull();
    await remove(etagOf(etag));
    expect(await bucket.head("key")).toBeNull();
    await remove(etagOf(etag));
  });
});

describe("get with a part number", () => {
  it("reads one part of an upload", async () => {
    const { parts, ...reference } = await uploadParts("key");
    await shared.photos.call({ method: "completeUpload", ...reference, parts });
    for (const [index, bytes] of [first, last].entries()) {
      const part = (await shared.photos.get({ key: "key", partNumber: index + 1 })) as FoundObject;
      expect(part).toMatchObject({
        range: { offset: index * partSize, length: bytes.length },
        partsCount: 2,
      });
      expect(sameBytes(await readAll(part), bytes)).toBe(true);
    }
    await expect(shared.photos.get({ key: "key", partNumber: 3 })).rejects.toThrow(
      new StoreError(200001),
    );
  });

  it.each([
    ["small", 3],
    ["large", 300_000],
  ])("reads a %s object as one part", async (_, size) => {
    await shared.store().bucket.put("key", last.slice(0, size));
    const part = (await shared.photos.get({ key: "key", partNumber: 1 })) as FoundObject;
    expect(part.range).toEqual({ offset: 0, length: size });
    expect(part).not.toHaveProperty("partsCount");
    expect(sameBytes(await readAll(part), last.slice(0, size))).toBe(true);
    await expect(shared.photos.get({ key: "key", partNumber: 2 })).rejects.toThrow(
      new StoreError(200001),
    );
  });
});

describe("completeUpload", () => {
  it.each([
    ["crc32", "full object"],
    ["crc32c", "full object"],
    ["crc64nvme", undefined],
    ["crc32", undefined],
    ["sha1", undefined],
    ["sha256", "composite"],
  ] as const)("stores the %s of the object: %s", async (algorithm, type) => {
    const checksum = { checksumAlgorithm: algorithm, ...(type && { checksumType: type }) };
    const { parts, ...reference } = await uploadParts("key", checksum);
    const isFull = type === "full object" || algorithm === "crc64nvme";
    const digests = [first, last].map((bytes) => Buffer.from(digest(algorithm, bytes), "hex"));
    const hex = isFull
      ? digest(algorithm, whole)
      : `${digest(algorithm, Buffer.concat(digests))}-2`;
    const request = { method: "completeUpload", ...reference, parts } as const;
    const other = { algorithm, hex: hex.replace(/^./, (digit) => (digit === "0" ? "1" : "0")) };
    await expect(shared.photos.call({ ...request, checksum: other })).rejects.toThrow(
      expect.objectContaining({ code: 10037 }),
    );
    const text = await shared.photos.call({ ...request, checksum: { algorithm, hex } });
    expect(decodeObject("key", text)).toMatchObject({
      checksums: {},
      s3Checksums: { [algorithm]: hex },
    });
    const object = await shared.store().bucket.get("key");
    expect(object?.checksums.toJSON()).toEqual({});
    expect(sameBytes(await object?.bytes(), whole)).toBe(true);
  });

  it("refuses a part with another checksum, and another size of the object", async () => {
    const { parts, ...reference } = await uploadParts("key", { checksumAlgorithm: "sha256" });
    const request = { method: "completeUpload", ...reference, parts } as const;
    const wrong = parts.map((part) => ({ ...part, checksums: { sha256: "0".repeat(64) } }));
    await expect(shared.photos.call({ ...request, parts: wrong })).rejects.toThrow(
      new StoreError(10025),
    );
    await expect(shared.photos.call({ ...request, objectSize: 1 })).rejects.toThrow(
      expect.objectContaining({ code: 200002 }),
    );
    await shared.photos.call({ ...request, objectSize: whole.length });
  });

  it("keeps the upload in progress while its condition does not hold", async () => {
    const { bucket } = shared.store();
    const { etag } = await bucket.put("key", "value");
    const { parts, ...reference } = await uploadParts("key");
    const request = { method: "completeUpload", ...reference, parts } as const;
    const onlyIf = { etagDoesNotMatch: [{ kind: "any" }] } as const;
    await expect(shared.photos.call({ ...request, onlyIf })).rejects.toThrow(new StoreError(10031));
    expect(await (await bucket.get("key"))?.text()).toBe("value");
    await shared.photos.call({ ...request, onlyIf: etagOf(etag) });
    expect((await bucket.head("key"))?.size).toBe(whole.length);
  });

  it("completes what the binding has begun, and the other way round", async () => {
    const { bucket } = shared.store();
    const begun = await bucket.createMultipartUpload("begun");
    const part = await begun.uploadPart(1, first);
    const content = await shared.photos.write(chunksOf(last));
    const reference = { key: "begun", uploadId: begun.uploadId };
    const request = { method: "uploadPart", ...reference, partNumber: 2, content } as const;
    const end = await shared.photos.call(request);
    expect((await begun.complete([part, end])).size).toBe(whole.length);

    const { parts, uploadId } = await uploadParts("mixed", { checksumAlgorithm: "crc32" });
    const resumed = bucket.resumeMultipartUpload("mixed", uploadId);
    const replaced = await resumed.uploadPart(2, last);
    const completed = await resumed.complete([parts[0] as typeof replaced, replaced]);
    // The binding's part has no CRC, so the object has none.
    expect(completed.checksums.toJSON()).toEqual({});
    const opened = (await shared.photos.get({ key: "mixed" })) as FoundObject;
    expect(opened.object).not.toHaveProperty("s3Checksums");
    expect(sameBytes(await readAll(opened), whole)).toBe(true);
  });
});

describe("listParts", () => {
  it("tells the times and the checksums of parts, and describes the upload", async () => {
    const before = Date.now();
    const checksum = { checksumAlgorithm: "crc32c", checksumType: "full object" } as const;
    const { parts, ...reference } = await uploadParts("key", checksum);
    const listed = await shared.photos.call({
      method: "listParts",
      ...reference,
      afterPartNumber: 0,
      limit: 1,
    });
    expect(listed).toMatchObject({
      truncated: true,
      upload: { ...reference, storageClass: "Standard", ...checksum },
      parts: [{ ...parts[0], size: partSize, checksums: { md5: hash("md5", first) } }],
    });
    const [part] = listed.parts;
    expect(part?.checksums.crc32c).toBe(crcOf("crc32c", first));
    expect(part?.uploaded).toBeGreaterThanOrEqual(before);
    expect(listed.upload.created).toBeLessThanOrEqual(part?.uploaded as number);
    await shared.photos.call({ method: "abortUpload", ...reference });
  });
});

describe("listUploads", () => {
  it("rolls keys up, in pages", async () => {
    const ids = new Map<string, string>();
    for (const key of ["a/1", "a/2", "b", "c/1"]) {
      const created = await shared.photos.call({ method: "createUpload", key, ...description });
      ids.set(key, created.uploadId);
    }
    const request = { method: "listUploads", prefix: "", delimiter: "/", limit: 1 } as const;
    const pages = [await shared.photos.call(request)];
    for (let after = pages[0]?.next; after !== undefined; after = pages.at(-1)?.next) {
      pages.push(await shared.photos.call({ ...request, after }));
    }
    expect(pages.map(({ uploads, prefixes }) => [uploads.map(({ key }) => key), prefixes])).toEqual(
      [
        [[], ["a/"]],
        [["b"], []],
        [[], ["c/"]],
      ],
    );
    for (const [key, uploadId] of ids) {
      await shared.photos.call({ method: "abortUpload", key, uploadId });
    }
  });
});

describe("settings", () => {
  it("are stored by name, and removed", async () => {
    const lifecycle = { text: "<rules>", abortRules: [] };
    await shared.photos.call({ method: "putSettings", cors: "[]", lifecycle });
    expect(await shared.photos.call({ method: "getSettings" })).toEqual({ cors: "[]", lifecycle });
    await shared.photos.call({ method: "putSettings", cors: null });
    expect(await shared.photos.call({ method: "getSettings" })).toEqual({ lifecycle });
    await shared.photos.call({ method: "putSettings", lifecycle: null });
    expect(await shared.photos.call({ method: "getSettings" })).toEqual({});
  });

  it("abort uploads after the days of a rule: those in progress, and new ones", async () => {
    const { bucket, control } = shared.store();
    const begun = await bucket.createMultipartUpload("tmp/begun");
    const rules = [
      { prefix: "tmp/", days: 2 },
      { prefix: "", days: 30 },
    ];
    const lifecycle = { text: "<rules>", abortRules: rules };
    await shared.photos.call({ method: "putSettings", lifecycle });
    const later = await bucket.createMultipartUpload("tmp/later");
    const other = await bucket.createMultipartUpload("other");
    const list = async () => {
      const page = await shared.photos.call({ method: "listUploads", prefix: "", limit: 10 });
      return page.uploads.map(({ key }) => key);
    };
    const { uploads } = await shared.photos.call({ method: "listUploads", prefix: "", limit: 10 });
    for (const { created } of uploads) {
      expect(Math.abs(created - Date.now())).toBeLessThan(day / 2);
    }
    await control.advance(2 * day - 60_000);
    expect(await list()).toEqual(["other", "tmp/begun", "tmp/later"]);
    await control.advance(120_000);
    expect(await list()).toEqual(["other"]);
    for (const upload of [begun, later]) {
      await expect(upload.uploadPart(1, "part")).rejects.toThrow("(10024)");
    }
    await control.advance(5 * day);
    await expect(other.uploadPart(1, "part")).rejects.toThrow("(10024)");
    await shared.photos.call({ method: "putSettings", lifecycle: null });
  });

  it("give the uploads in progress seven days again when the rule is removed", async () => {
    const { bucket, control } = shared.store();
    const lifecycle = { text: "<rules>", abortRules: [{ prefix: "", days: 1 }] };
    await shared.photos.call({ method: "putSettings", lifecycle });
    const upload = await bucket.createMultipartUpload("key");
    await shared.photos.call({ method: "putSettings", lifecycle: null });
    await control.advance(7 * day - 60_000);
    await upload.uploadPart(1, "part");
    await control.advance(120_000);
    await expect(upload.uploadPart(1, "part")).rejects.toThrow("(10024)");
  });
});
