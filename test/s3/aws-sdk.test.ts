/**
 * The AWS SDK for JavaScript, with its uploads in parts and its presigned URLs: on a bucket of the state
 * folder, and on a gateway, whose bucket a second endpoint has.
 */
/* oxlint-disable typescript/no-explicit-any -- the inputs of commands are given by name */
import * as sdk from "@aws-sdk/client-s3";
import * as storage from "@aws-sdk/lib-storage";
import * as presigner from "@aws-sdk/s3-request-presigner";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startS3, type RunningS3 } from "../../dist/index.js";
import { useS3 } from "./support/running-s3.ts";

const s3 = useS3({ buckets: [{ name: "photos" }] });
const service = useS3({ buckets: [{ name: "photos" }] });
const stateFolder = mkdtempSync(join(tmpdir(), "ledge-gateway-"));
const Bucket = "photos";
const commands = sdk as unknown as Record<string, new (input: object) => any>;
const commandOf = (name: string, input: object) =>
  new (commands[`${name}Command`] as (typeof commands)[string])({ Bucket, ...input });
const clientOf = ({ url, credentials }: RunningS3): any =>
  new sdk.S3Client({ region: "auto", endpoint: url, forcePathStyle: true, credentials });
const keysOf = ({ Contents }: { Contents: { Key: string }[] }) => Contents.map(({ Key }) => Key);
/** Three parts, the last of which is smaller. */
const large = Buffer.alloc(11 * 1024 * 1024, "0123456789abcdef!");

let gateway: RunningS3;
beforeAll(async () => {
  const remote = {
    name: "cluster",
    endpoint: service.server.url,
    region: "us-east-1",
    prefix: "team/",
    accept: [],
    credentials: service.server.credentials,
  };
  const credentials = { accessKeyId: "x", secretAccessKey: "y" };
  gateway = await startS3({
    stateFolder,
    port: 0,
    buckets: [
      { name: "photos", remote },
      { name: "locked", remote: { ...remote, credentials } },
      { name: "own" },
    ],
  });
});
afterAll(async () => {
  await gateway?.close();
  rmSync(stateFolder, { recursive: true, force: true, maxRetries: 3 });
});

function use(server: () => RunningS3) {
  let client: any;
  const connected = () => (client ??= clientOf(server()));
  const send = (name: string, input: object): Promise<any> =>
    connected().send(commandOf(name, input));
  const read = async (input: object): Promise<Buffer> => {
    const { Body } = await send("GetObject", input);
    return Buffer.from(await Body.transformToByteArray());
  };
  const presign = (command: string, input: object): Promise<string> =>
    presigner.getSignedUrl(connected(), commandOf(command, input));
  return { connected, send, read, presign };
}

describe("a gateway", () => {
  const { send } = use(() => gateway);

  // First: other tests copy to a bucket of the gateway's own folder.
  it("stores objects at the service, below the prefix, and starts no runtime of its own", async () => {
    await send("PutObject", { Key: "é/../x +", Body: "text" });
    const listed = await clientOf(service.server).send(commandOf("ListObjectsV2", {}));
    expect(keysOf(listed)).toEqual(["team/é/../x +"]);
    expect(readdirSync(join(stateFolder, "v3", "store"))).not.toContain("databases");
  });

  it("lists the buckets, and refuses to delete one or to change its settings", async () => {
    const { Buckets } = await send("ListBuckets", {});
    expect(Buckets.map(({ Name }: { Name: string }) => Name)).toEqual(["locked", "own", "photos"]);
    await expect(send("DeleteBucket", {})).rejects.toThrow("is a bucket of the configuration");
    const CORSRules = [{ AllowedOrigins: ["*"], AllowedMethods: ["GET"] }];
    const cors = send("PutBucketCors", { CORSConfiguration: { CORSRules } });
    await expect(cors).rejects.toThrow('is on the remote "cluster"');
  });

  it("says why the service cannot be used", async () => {
    const failing = send("PutObject", { Bucket: "locked", Key: "a", Body: "a" });
    await expect(failing).rejects.toThrow(
      'The remote "cluster" (' + service.server.url + ") does not know the access key id.",
    );
  });

  it("copies between its buckets", async () => {
    const { read } = use(() => gateway);
    await send("PutObject", { Key: "remote", Body: large });
    await send("CopyObject", { Bucket: "own", Key: "here", CopySource: `${Bucket}/remote` });
    expect((await read({ Bucket: "own", Key: "here" })).equals(large)).toBe(true);
    await send("CopyObject", { Key: "back", CopySource: "own/here" });
    expect((await read({ Key: "back" })).equals(large)).toBe(true);
  });
});

describe.each([
  ["in the state folder", () => s3.server],
  ["on a gateway", () => gateway],
])("the AWS SDK, with a bucket %s,", (_, server) => {
  const { connected, send, read, presign } = use(server);

  it.each(["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"])(
    "puts texts and streams with %s",
    async (ChecksumAlgorithm) => {
      const Key = `é/../${ChecksumAlgorithm} +`;
      const input = { Key, ChecksumAlgorithm, Metadata: { a: "b" }, ContentType: "text/plain" };
      const text = await send("PutObject", { ...input, Body: "text" });
      expect(text[`Checksum${ChecksumAlgorithm}`]).toMatch(/=$/);
      expect((await read({ Key })).toString()).toBe("text");
      const Body = Readable.from([Buffer.from("str"), Buffer.from("eam")]);
      const stream = await send("PutObject", { ...input, Body, ContentLength: 6 });
      expect(stream[`Checksum${ChecksumAlgorithm}`]).toMatch(/=$/);
      expect((await read({ Key })).toString()).toBe("stream");
      const { Metadata, ContentType } = input;
      expect(await send("HeadObject", { Key })).toMatchObject({ Metadata, ContentType });
    },
  );

  it("uploads in parts, copies, reads ranges and parts, and lists", async () => {
    await send("PutObject", { Key: "list/first", Body: "x" });
    const params = { Bucket, Key: "list/parts", Body: Readable.from([large]) };
    await new storage.Upload({ client: connected(), params }).done();
    expect((await read({ Key: "list/parts" })).equals(large)).toBe(true);
    const range = await read({ Key: "list/parts", Range: "bytes=6000000-6000009" });
    expect(range.equals(large.subarray(6_000_000, 6_000_010))).toBe(true);
    const part = { PartsCount: 3, ContentLength: 5 * 1024 * 1024 };
    expect(await send("HeadObject", { Key: "list/parts", PartNumber: 2 })).toMatchObject(part);
    await send("CopyObject", { Key: "list/copied", CopySource: `${Bucket}/list/parts` });
    expect((await read({ Key: "list/copied" })).equals(large)).toBe(true);
    const listed = await send("ListObjectsV2", { StartAfter: "list/a", MaxKeys: 2 });
    expect(keysOf(listed)).toEqual(["list/copied", "list/first"]);
  });

  it("completes an upload with the checksum of the object", async () => {
    const Key = "checked";
    const { UploadId } = await send("CreateMultipartUpload", { Key, ChecksumAlgorithm: "SHA256" });
    const part = { PartNumber: 1, Body: "text", ChecksumAlgorithm: "SHA256" };
    const { ETag, ChecksumSHA256 } = await send("UploadPart", { Key, UploadId, ...part });
    const ofParts = createHash("sha256").update(ChecksumSHA256, "base64").digest("base64");
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag, ChecksumSHA256 }] };
    const complete = (checksum: string): Promise<any> =>
      send("CompleteMultipartUpload", { Key, UploadId, MultipartUpload, ChecksumSHA256: checksum });
    await expect(complete(`${ChecksumSHA256}-1`)).rejects.toMatchObject({ name: "BadDigest" });
    expect((await complete(`${ofParts}-1`)).ChecksumSHA256).toBe(`${ofParts}-1`);
  });

  it("copies a part into an upload with checksums of another kind", async () => {
    const source = { Key: "source", Body: "content" };
    const whole = await send("PutObject", { ...source, ChecksumAlgorithm: "SHA256" });
    await send("PutObject", { ...source, ChecksumAlgorithm: "CRC32" });
    const Key = "copied-part";
    const { UploadId } = await send("CreateMultipartUpload", { Key, ChecksumAlgorithm: "SHA256" });
    const part = { Key, UploadId, PartNumber: 1, CopySource: `${Bucket}/source` };
    const { ETag, ChecksumSHA256, ChecksumCRC32 } = (await send("UploadPartCopy", part))
      .CopyPartResult;
    expect([ChecksumSHA256, ChecksumCRC32]).toEqual([whole.ChecksumSHA256, undefined]);
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag, ChecksumSHA256 }] };
    const ended = await send("CompleteMultipartUpload", { Key, UploadId, MultipartUpload });
    expect(ended.ChecksumSHA256).toMatch(/=-1$/);
    const unknown = send("UploadPartCopy", { ...part, UploadId: "none" });
    await expect(unknown).rejects.toThrow(expect.objectContaining({ name: "NoSuchUpload" }));
    expect((await read({ Key })).toString()).toBe("content");
  });

  it("presigns reads and writes", async () => {
    const url = await presign("PutObject", { Key: "signed", Metadata: { a: "b" } });
    expect((await fetch(url, { method: "PUT", body: "by URL" })).status).toBe(200);
    const got = await fetch(
      await presign("GetObject", { Key: "signed", ResponseContentType: "x/y" }),
    );
    expect([await got.text(), got.headers.get("content-type")]).toEqual(["by URL", "x/y"]);
    expect(got.headers.get("x-amz-meta-a")).toBe("b");
    const other = await fetch(url.replace("signed", "altered"), { method: "PUT", body: "no" });
    expect(other.status).toBe(403);
  });

  it("presigns checksums, which are verified", async () => {
    const Key = "summed";
    const put = async (input: object, body: string): Promise<number> =>
      (await fetch(await presign("PutObject", { Key, ...input }), { method: "PUT", body })).status;
    const ChecksumSHA256 = createHash("sha256").update("content").digest("base64");
    expect(await put({ ChecksumSHA256 }, "another")).toBe(400);
    const ChecksumSHA1 = createHash("sha1").update("content").digest("base64");
    expect(await put({ ChecksumSHA1 }, "another")).toBe(400);
    await expect(read({ Key })).rejects.toMatchObject({ name: "NoSuchKey" });
    expect(await put({ ChecksumSHA256 }, "content")).toBe(200);
    // The SDK gives the checksum of no content, whatever the content will be.
    for (const ChecksumAlgorithm of ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"]) {
      expect(await put({ ChecksumAlgorithm }, ChecksumAlgorithm)).toBe(200);
      expect((await read({ Key })).toString()).toBe(ChecksumAlgorithm);
    }
  });

  it("honours conditions, deletes, and gets errors that it knows", async () => {
    const failed = { name: "PreconditionFailed" };
    const { ETag } = await send("PutObject", { Key: "guarded", Body: "one", IfNoneMatch: "*" });
    const second = send("PutObject", { Key: "guarded", Body: "two", IfNoneMatch: "*" });
    await expect(second).rejects.toMatchObject(failed);
    await send("PutObject", { Key: "guarded", Body: "two", IfMatch: ETag });
    const stale = send("DeleteObject", { Key: "guarded", IfMatch: ETag });
    await expect(stale).rejects.toMatchObject(failed);
    const Objects = [{ Key: "guarded" }, { Key: "absent" }];
    const { Deleted } = await send("DeleteObjects", { Delete: { Objects } });
    expect(Deleted).toHaveLength(2);
    const Key = "guarded";
    await expect(send("GetObject", { Key })).rejects.toMatchObject({ name: "NoSuchKey" });
    await expect(send("HeadObject", { Key })).rejects.toMatchObject({ name: "NotFound" });
  });
});
