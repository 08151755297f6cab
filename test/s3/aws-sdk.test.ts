/** The AWS SDK for JavaScript, with its uploads in parts and its presigned URLs. */
/* oxlint-disable typescript/no-explicit-any -- the inputs of commands are given by name */
import * as sdk from "@aws-sdk/client-s3";
import * as storage from "@aws-sdk/lib-storage";
import * as presigner from "@aws-sdk/s3-request-presigner";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { useS3 } from "./support/running-s3.ts";

const s3 = useS3({ buckets: [{ name: "photos" }] });
const Bucket = "photos";
const commands = sdk as unknown as Record<string, new (input: object) => any>;
const commandOf = (name: string, input: object) =>
  new (commands[`${name}Command`] as (typeof commands)[string])({ Bucket, ...input });

describe("the AWS SDK", () => {
  let client: any;
  const send = (command: string, input: object): Promise<any> => {
    client ??= new sdk.S3Client({
      region: "auto",
      endpoint: s3.server.url,
      forcePathStyle: true,
      credentials: s3.server.credentials,
    });
    return client.send(commandOf(command, input));
  };
  const read = async (Key: string): Promise<Buffer> => {
    const { Body } = await send("GetObject", { Key });
    return Buffer.from(await Body.transformToByteArray());
  };
  const presign = (command: string, input: object): Promise<string> =>
    presigner.getSignedUrl(client, commandOf(command, input));
  /** Three parts, the last of which is smaller. */
  const large = Buffer.alloc(11 * 1024 * 1024, "0123456789abcdef!");

  it.each(["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"])(
    "puts texts and streams with %s",
    async (ChecksumAlgorithm) => {
      const Key = `é/../${ChecksumAlgorithm} +`;
      const input = { Key, ChecksumAlgorithm, Metadata: { a: "b" } };
      const text = await send("PutObject", { ...input, Body: "text" });
      expect(text[`Checksum${ChecksumAlgorithm}`]).toMatch(/=$/);
      expect((await read(Key)).toString()).toBe("text");
      const Body = Readable.from([Buffer.from("str"), Buffer.from("eam")]);
      const stream = await send("PutObject", { ...input, Body, ContentLength: 6 });
      expect(stream[`Checksum${ChecksumAlgorithm}`]).toMatch(/=$/);
      expect((await read(Key)).toString()).toBe("stream");
      expect((await send("HeadObject", { Key })).Metadata).toEqual({ a: "b" });
    },
  );

  it("uploads in parts, copies, and lists", async () => {
    await send("PutObject", { Key: "first", Body: "x" });
    const params = { Bucket, Key: "parts", Body: Readable.from([large]) };
    await new storage.Upload({ client, params }).done();
    expect((await read("parts")).equals(large)).toBe(true);
    await send("CopyObject", { Key: "copied", CopySource: `${Bucket}/parts` });
    expect((await read("copied")).equals(large)).toBe(true);
    const { Contents } = await send("ListObjectsV2", { StartAfter: "a", MaxKeys: 2 });
    expect(Contents.map(({ Key }: { Key: string }) => Key)).toEqual(["copied", "first"]);
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
    const whole = await send("PutObject", {
      Key: "source",
      Body: "content",
      ChecksumAlgorithm: "SHA256",
    });
    await send("PutObject", { Key: "source", Body: "content", ChecksumAlgorithm: "CRC32" });
    const input = { Key: "copied-part" };
    const { UploadId } = await send("CreateMultipartUpload", {
      ...input,
      ChecksumAlgorithm: "SHA256",
    });
    const part = { ...input, UploadId, PartNumber: 1 };
    const copied = await send("UploadPartCopy", { ...part, CopySource: `${Bucket}/source` });
    const { ETag, ChecksumSHA256, ChecksumCRC32 } = copied.CopyPartResult;
    expect([ChecksumSHA256, ChecksumCRC32]).toEqual([whole.ChecksumSHA256, undefined]);
    const Parts = [{ PartNumber: 1, ETag, ChecksumSHA256 }];
    const MultipartUpload = { Parts };
    const ended = await send("CompleteMultipartUpload", { ...input, UploadId, MultipartUpload });
    expect(ended.ChecksumSHA256).toMatch(/=-1$/);
    const unknown = send("UploadPartCopy", {
      ...part,
      UploadId: "none",
      CopySource: `${Bucket}/source`,
    });
    await expect(unknown).rejects.toThrow(expect.objectContaining({ name: "NoSuchUpload" }));
    expect((await read("copied-part")).toString()).toBe("content");
  });

  it("presigns reads and writes", async () => {
    await send("PutObject", { Key: "first", Body: "x" });
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

  it("gets errors that it knows", async () => {
    await expect(send("GetObject", { Key: "none" })).rejects.toMatchObject({ name: "NoSuchKey" });
    await expect(send("HeadObject", { Key: "none" })).rejects.toMatchObject({ name: "NotFound" });
    await send("PutObject", { Key: "first", Body: "x" });
    await expect(
      send("PutObject", { Key: "first", Body: "y", IfNoneMatch: "*" }),
    ).rejects.toMatchObject({ name: "PreconditionFailed" });
  });
});
