/** Multipart uploads of a bucket on an S3 service: the service is our own S3-compatible API. */
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { uploadLifetimeMilliseconds } from "../../src/store/core/limits.ts";
import type { Method } from "../../src/store/core/errors.ts";
import { multipartEtag, type PartReference } from "../../src/store/core/multipart.ts";
import { decodeObject } from "../../src/store/core/object.ts";
import type { Request, Result } from "../../src/store/core/operations.ts";
import { isOwnService, useS3Service } from "../support/s3-services.ts";
import {
  allFeatures,
  bytesOf,
  callRemote,
  contentOf,
  md5Of,
  openRemote,
  type RemoteStore,
} from "./support/remote-store.ts";

const s3 = useS3Service("photos");
let remote: RemoteStore;
let clock = 0;

beforeAll(() => {
  remote = openRemote(s3.server, "photos", { prefix: "team/", now: () => Date.now() + clock });
});
afterAll(() => remote.close());

const plain = { http: {}, custom: {}, storageClass: "Standard" } as const;
const call = <M extends Exclude<Method, "get">>(request: Request<M>): Promise<Result<M>> =>
  callRemote(remote, request);

async function create(
  key: string,
  options: Partial<Request<"createUpload">> = {},
): Promise<{ key: string; uploadId: string }> {
  const request = { method: "createUpload", key, ...plain, ...options } as const;
  const { uploadId } = await call<"createUpload">(request);
  return { key, uploadId };
}

type Upload = Awaited<ReturnType<typeof create>>;

function uploadPart(
  upload: Upload,
  partNumber: number,
  bytes: Uint8Array,
  options: Partial<Request<"uploadPart">> = {},
): Promise<PartReference> {
  const content = bytes.length > 131_072 ? remote.spool.write(bytes) : contentOf(bytes);
  const request = { method: "uploadPart", ...upload, partNumber, content, ...options } as const;
  return call<"uploadPart">(request);
}

const fiveMebibytes = new Uint8Array(5 * 1024 * 1024).fill(1);

function summed(bytes: Uint8Array): { crc32: string; md5: string } {
  return { crc32: crc32(bytes).toString(16).padStart(8, "0"), md5: md5Of(bytes) };
}

/** The checksum of an upload with parts of these contents: as completed, and as read later. */
async function checksumsOf(
  contents: Uint8Array[],
  checksumType: "composite" | "full object",
): Promise<unknown[]> {
  const upload = await create("m/summed", { checksumAlgorithm: "crc32", checksumType });
  const parts: Request<"completeUpload">["parts"][number][] = [];
  for (const [index, bytes] of contents.entries()) {
    const checksums = summed(bytes);
    const content = { ...remote.spool.write(bytes), checksums };
    const part = await uploadPart(upload, index + 1, bytes, { content });
    parts.push({ ...part, checksums: { crc32: checksums.crc32 } });
  }
  const objectSize = contents.reduce((sum, { length }) => sum + length, 0);
  const request = { method: "completeUpload", ...upload, parts, objectSize } as const;
  const completed = decodeObject(upload.key, await call<"completeUpload">(request));
  const head = await call<"head">({ method: "head", key: upload.key });
  return [completed.s3Checksums, decodeObject(upload.key, head as string).s3Checksums];
}

describe("an upload", () => {
  it("becomes an object with the properties of its creation", async () => {
    const upload = await create("m/two", {
      http: { contentType: "video/mp4" },
      custom: { Name: "Ü" },
      storageClass: "InfrequentAccess",
    });
    const second = await uploadPart(upload, 2, bytesOf("end"));
    const first = await uploadPart(upload, 1, fiveMebibytes);
    expect(first).toEqual({ partNumber: 1, etag: md5Of(fiveMebibytes) });
    expect(remote.spool.files.size).toBe(0);
    const {
      parts,
      truncated,
      upload: record,
    } = await call<"listParts">({
      method: "listParts",
      ...upload,
      afterPartNumber: 0,
      limit: 1,
    });
    expect(parts).toMatchObject([{ ...first, size: fiveMebibytes.length }]);
    expect(truncated).toBe(true);
    expect(record).toMatchObject({ ...upload, storageClass: "InfrequentAccess" });
    const text = await call<"completeUpload">({
      method: "completeUpload",
      ...upload,
      parts: [second, first],
    });
    const object = decodeObject(upload.key, text);
    expect(object).toMatchObject({
      size: fiveMebibytes.length + 3,
      etag: multipartEtag([first, second]),
      version: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      http: { contentType: "video/mp4" },
      custom: { Name: "Ü" },
      storageClass: "InfrequentAccess",
      checksums: {},
    });
    const head = await call<"head">({ method: "head", key: upload.key });
    expect(decodeObject(upload.key, head as string)).toEqual(object);
    const part = await remote.bucket.get({ key: upload.key, partNumber: 2 });
    expect(part).toMatchObject({
      range: { offset: fiveMebibytes.length, length: 3 },
      partsCount: 2,
    });
    expect(part).toMatchObject({ object: { etag: object.etag, size: object.size } });
    const both = {
      key: upload.key,
      partNumber: 1,
      onlyIf: { etagMatches: [{ kind: "any" }] },
    } as const;
    expect(await remote.bucket.get(both)).toMatchObject({
      range: { offset: 0, length: fiveMebibytes.length },
      partsCount: 2,
    });
    const third = remote.bucket.get({ key: upload.key, partNumber: 3 });
    await expect(third).rejects.toMatchObject({ code: 200001 });
    await expect(uploadPart(upload, 3, bytesOf("late"))).rejects.toMatchObject({ code: 10024 });
    await call<"abortUpload">({ method: "abortUpload", ...upload });
  });

  it("becomes an object with the time of its end", async () => {
    const hour = 3_600_000;
    clock = -hour;
    const upload = await create("m/late");
    clock = 0;
    const parts = [await uploadPart(upload, 1, bytesOf("text"))];
    const text = await call<"completeUpload">({ method: "completeUpload", ...upload, parts });
    const { uploaded } = decodeObject(upload.key, text);
    expect(Math.abs(uploaded - Date.now())).toBeLessThan(hour / 2);
  });

  it("that never existed is refused", async () => {
    for (const uploadId of ["unknown", "", "a!00000000"]) {
      const upload = { key: "m/none", uploadId };
      const abort = call<"abortUpload">({ method: "abortUpload", ...upload });
      await expect(abort).rejects.toMatchObject({ code: 10024 });
      await expect(uploadPart(upload, 1, bytesOf("x"))).rejects.toMatchObject({ code: 10024 });
      const complete = call<"completeUpload">({
        method: "completeUpload",
        ...upload,
        parts: [{ partNumber: 1, etag: "0" }],
      });
      await expect(complete).rejects.toMatchObject({ code: 10024 });
    }
    expect(await call<"head">({ method: "head", key: "m/none" })).toBeNull();
  });

  it("belongs to its key", async () => {
    const { uploadId } = await create("m/mine");
    const other = { key: "m/other", uploadId };
    await expect(uploadPart(other, 1, bytesOf("x"))).rejects.toMatchObject({ code: 10024 });
    await call<"abortUpload">({ method: "abortUpload", key: "m/mine", uploadId });
  });

  it("remembers the key of a customer", async () => {
    const ssecKeyMd5 = "1".repeat(32);
    const upload = await create("m/keyed", { ssecKeyMd5 });
    await expect(uploadPart(upload, 1, bytesOf("x"))).rejects.toMatchObject({ code: 200004 });
    const part = await uploadPart(upload, 1, bytesOf("x"), { ssecKeyMd5 });
    const text = await call<"completeUpload">({
      method: "completeUpload",
      ...upload,
      parts: [part],
    });
    expect(decodeObject(upload.key, text).ssecKeyMd5).toBe(ssecKeyMd5);
  });

  it("keeps its checksum", async () => {
    const whole = { crc32: summed(Buffer.concat([fiveMebibytes, bytesOf("end")])).crc32 };
    const found = await checksumsOf([fiveMebibytes, bytesOf("end")], "full object");
    expect(found).toEqual([whole, whole]);
  });

  it("of one part keeps its checksum", async () => {
    const found = await checksumsOf([bytesOf("123456789")], "full object");
    // Ceph 20.2 labels the checksum as composite, which it is not.
    const later = isOwnService ? { crc32: "cbf43926" } : undefined;
    expect(found).toEqual([{ crc32: "cbf43926" }, later]);
  });

  it("keeps its composite checksum", async () => {
    const contents = [fiveMebibytes, bytesOf("end")];
    const joined = Buffer.from(contents.map((bytes) => summed(bytes).crc32).join(""), "hex");
    const composite = { crc32: `${summed(joined).crc32}-2` };
    // Ceph 20.2 stores the checksum of the whole content, whichever type the upload asks for.
    const whole = { crc32: summed(Buffer.concat(contents)).crc32 };
    const found = await checksumsOf(contents, "composite");
    expect(found).toEqual([composite, isOwnService ? composite : whole]);
  });

  it("is completed under a condition, or refused where the service ignores conditions", async () => {
    const upload = await create("m/condition");
    const part = await uploadPart(upload, 1, bytesOf("x"));
    const request = { method: "completeUpload", ...upload, parts: [part] } as const;
    const exists = { etagMatches: [{ kind: "any" }] } as const;
    const refused = call<"completeUpload">({ ...request, onlyIf: exists });
    await expect(refused).rejects.toMatchObject({ code: 10031 });
    const features = { ...allFeatures, conditionalComplete: false };
    const older = openRemote(s3.server, "photos", { prefix: "team/", features });
    const absent = { etagDoesNotMatch: [{ kind: "any" }] } as const;
    const ignored = callRemote<"completeUpload">(older, { ...request, onlyIf: absent });
    await expect(ignored).rejects.toThrow(/the S3 service ignores conditions/);
    older.close();
    await call<"completeUpload">({ ...request, onlyIf: absent });
  });
});

describe("listUploads", () => {
  it("has keys that XML and URLs make difficult, and several uploads of a key", async () => {
    const keys = ["d/\u0001", "d/ +%2F&<", "d/%2B", "d/a", "d/a", "d/a-b", "d/é"];
    const uploads: Upload[] = [];
    for (const key of keys) uploads.push(await create(key));
    const request = { method: "listUploads", prefix: "d/", limit: 1000 } as const;
    const page = await call<"listUploads">(request);
    expect(page.uploads.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
    // After all uploads of the key.
    const { uploads: later } = await call<"listUploads">({ ...request, after: { key: "d/a" } });
    const found = later.map(({ key }) => key).filter((key) => key !== "d/a-b");
    expect(found).toEqual(["d/é"]);
    for (const upload of uploads) await call<"abortUpload">({ method: "abortUpload", ...upload });
  });

  it("pages through the uploads in progress, with and without a delimiter", async () => {
    const keys = ["u/a", "u/b/1", "u/b/2", "u/c"];
    const uploads: Upload[] = [];
    for (const key of keys) uploads.push(await create(key));
    for (const delimiter of ["", "/"]) {
      const found: string[] = [];
      const ids: string[] = [];
      let after: Request<"listUploads">["after"];
      do {
        const page: Result<"listUploads"> = await call<"listUploads">({
          method: "listUploads",
          prefix: "u/",
          delimiter,
          limit: 1,
          ...(after !== undefined && { after }),
        });
        expect(page.truncated).toBe(page.next !== undefined);
        found.push(...page.uploads.map(({ key }) => key), ...page.prefixes);
        ids.push(...page.uploads.map(({ uploadId }) => uploadId));
        after = page.next;
      } while (after !== undefined);
      expect(found).toEqual(delimiter === "" ? keys : ["u/a", "u/b/", "u/c"]);
      const shown = delimiter === "" ? uploads : uploads.filter(({ key }) => key.length === 3);
      expect(ids).toEqual(shown.map(({ uploadId }) => uploadId));
    }
    expect(await call<"stats">({ method: "stats" })).toMatchObject({ uploads: 4 });
    clock = uploadLifetimeMilliseconds + 1000;
    const later = await call<"listUploads">({ method: "listUploads", prefix: "u/", limit: 1 });
    clock = 0;
    expect(later).toEqual({ uploads: [], prefixes: [], truncated: false });
    for (const upload of uploads) await call<"abortUpload">({ method: "abortUpload", ...upload });
    expect(await call<"stats">({ method: "stats" })).toMatchObject({ uploads: 0 });
  });
});
