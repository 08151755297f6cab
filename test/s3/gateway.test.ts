/** The endpoint as a gateway: the AWS SDK uses a bucket that a second endpoint has. */
/* oxlint-disable typescript/no-explicit-any -- the inputs of commands are given by name */
import * as sdk from "@aws-sdk/client-s3";
import * as storage from "@aws-sdk/lib-storage";
import * as presigner from "@aws-sdk/s3-request-presigner";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startS3, type RunningS3 } from "../../dist/index.js";
import { useS3 } from "./support/running-s3.ts";

const service = useS3({ buckets: [{ name: "photos" }] });
const stateFolder = mkdtempSync(join(tmpdir(), "ledge-gateway-"));
const Bucket = "photos";
const commands = sdk as unknown as Record<string, new (input: object) => any>;
const commandOf = (name: string, input: object) =>
  new (commands[`${name}Command`] as (typeof commands)[string])({ Bucket, ...input });
const clientOf = ({ url, credentials }: RunningS3): any =>
  new sdk.S3Client({ region: "auto", endpoint: url, forcePathStyle: true, credentials });

const remoteOf = (change: object = {}) => ({
  name: "cluster",
  endpoint: service.server.url,
  region: "us-east-1",
  prefix: "team/",
  accept: [],
  credentials: service.server.credentials,
  ...change,
});

let gateway: RunningS3;
let client: any;
beforeAll(async () => {
  gateway = await startS3({
    stateFolder,
    port: 0,
    buckets: [
      { name: "photos", remote: remoteOf() },
      {
        name: "locked",
        remote: remoteOf({ credentials: { accessKeyId: "x", secretAccessKey: "y" } }),
      },
      { name: "own" },
    ],
  });
  client = clientOf(gateway);
});
afterAll(async () => {
  await gateway?.close();
  rmSync(stateFolder, { recursive: true, force: true, maxRetries: 3 });
});

const send = (name: string, input: object): Promise<any> => client.send(commandOf(name, input));
const read = async (input: object): Promise<Buffer> => {
  const { Body } = await send("GetObject", input);
  return Buffer.from(await Body.transformToByteArray());
};
const large = Buffer.alloc(11 * 1024 * 1024, "0123456789abcdef!");

describe("a gateway", () => {
  it("stores objects at the service, below the prefix, and starts no runtime of its own", async () => {
    const Metadata = { a: "b" };
    await send("PutObject", { Key: "é/../x +", Body: "text", Metadata, ContentType: "text/plain" });
    expect((await read({ Key: "é/../x +" })).toString()).toBe("text");
    const head = await send("HeadObject", { Key: "é/../x +" });
    expect(head).toMatchObject({ Metadata, ContentType: "text/plain", ContentLength: 4 });
    const { Contents } = await clientOf(service.server).send(commandOf("ListObjectsV2", {}));
    expect(Contents.map(({ Key }: { Key: string }) => Key)).toEqual(["team/é/../x +"]);
    expect(readdirSync(join(stateFolder, "v3", "store"))).not.toContain("databases");
  });

  it("uploads in parts, copies, reads ranges and parts, and lists", async () => {
    const params = { Bucket, Key: "parts", Body: Readable.from([large]) };
    await new storage.Upload({ client, params }).done();
    expect((await read({ Key: "parts" })).equals(large)).toBe(true);
    const range = await read({ Key: "parts", Range: "bytes=6000000-6000009" });
    expect(range.equals(large.subarray(6_000_000, 6_000_010))).toBe(true);
    expect(await send("HeadObject", { Key: "parts", PartNumber: 2 })).toMatchObject({
      PartsCount: 3,
      ContentLength: 5 * 1024 * 1024,
    });
    await send("CopyObject", { Key: "copied", CopySource: `${Bucket}/parts` });
    expect((await read({ Key: "copied" })).equals(large)).toBe(true);
    await send("CopyObject", { Bucket: "own", Key: "here", CopySource: `${Bucket}/parts` });
    expect((await read({ Bucket: "own", Key: "here" })).equals(large)).toBe(true);
    await send("CopyObject", { Key: "back", CopySource: "own/here" });
    expect((await read({ Key: "back" })).equals(large)).toBe(true);
    const { Contents } = await send("ListObjectsV2", { StartAfter: "a", MaxKeys: 2 });
    expect(Contents.map(({ Key }: { Key: string }) => Key)).toEqual(["back", "copied"]);
  });

  it("honours conditions, and deletes", async () => {
    const { ETag } = await send("PutObject", { Key: "guarded", Body: "one", IfNoneMatch: "*" });
    const second = send("PutObject", { Key: "guarded", Body: "two", IfNoneMatch: "*" });
    await expect(second).rejects.toMatchObject({ name: "PreconditionFailed" });
    await send("PutObject", { Key: "guarded", Body: "two", IfMatch: ETag });
    const stale = send("DeleteObject", { Key: "guarded", IfMatch: ETag });
    await expect(stale).rejects.toMatchObject({ name: "PreconditionFailed" });
    const Objects = [{ Key: "guarded" }, { Key: "absent" }];
    const { Deleted } = await send("DeleteObjects", { Delete: { Objects } });
    expect(Deleted).toHaveLength(2);
    await expect(send("HeadObject", { Key: "guarded" })).rejects.toMatchObject({
      name: "NotFound",
    });
  });

  it("answers presigned URLs of its own", async () => {
    const url = await presigner.getSignedUrl(client, commandOf("PutObject", { Key: "signed" }));
    expect((await fetch(url, { method: "PUT", body: "by a link" })).status).toBe(200);
    expect((await read({ Key: "signed" })).toString()).toBe("by a link");
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
});
