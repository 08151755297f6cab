/** Uploads in parts by the API of the explorer. */
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { PutBucketLifecycleConfigurationCommand, S3Client } from "@aws-sdk/client-s3";
import { describe, expect, it } from "vitest";
import { startS3 } from "../../dist/index.js";
import type {
  ObjectDetails,
  UploadDetails,
  UploadedPart,
  UploadPage,
} from "../../src/explorer/api/buckets.ts";
import { BucketCalls, inTurns } from "./support/bucket-calls.ts";
import { useExplorer } from "./support/explorer.ts";

const errors: unknown[] = [];
const used = useExplorer({
  buckets: ["photos", "rules", "many"],
  onError: (error) => errors.push(error),
});
const photos = new BucketCalls(used, "photos");
const mebibyte = 1024 * 1024;
const dayMilliseconds = 24 * 60 * 60 * 1000;

async function create(key: string, bucket = photos, contentType?: string): Promise<string> {
  const json = { key, contentType };
  const path = bucket.path("/uploads");
  return (await used.call<{ uploadId: string }>(path, { method: "POST", json })).uploadId;
}

function partPath(key: string, uploadId: string, number: number | string): string {
  return photos.path(`/uploads/${uploadId}/parts/${number}`, { key });
}

function uploadPart(
  key: string,
  uploadId: string,
  number: number,
  body: BodyInit,
): Promise<UploadedPart> {
  return used.call<UploadedPart>(partPath(key, uploadId, number), { method: "PUT", body });
}

function complete(
  key: string,
  uploadId: string,
  parts: readonly unknown[],
  query: Readonly<Record<string, string>> = {},
): Promise<ObjectDetails> {
  const path = photos.path(`/uploads/${uploadId}/complete`, { key, ...query });
  return used.call<ObjectDetails>(path, { method: "POST", json: { parts } });
}

const list = (bucket: BucketCalls, query = {}): Promise<UploadPage> =>
  used.call<UploadPage>(bucket.path("/uploads", query));

describe("an upload", () => {
  it("is created, filled in any order, described and completed", async () => {
    const key = "films/a?b#c.mp4";
    const bytes = randomBytes(12 * mebibyte);
    const uploadId = await create(key, photos, "video/mp4");
    const second = await uploadPart(key, uploadId, 2, bytes.subarray(5 * mebibyte, 10 * mebibyte));
    const first = await uploadPart(key, uploadId, 1, bytes.subarray(0, 5 * mebibyte));
    const third = await uploadPart(key, uploadId, 3, bytes.subarray(10 * mebibyte));
    expect(third).toMatchObject({ partNumber: 3, size: 2 * mebibyte });
    const path = photos.path(`/uploads/${uploadId}`, { key });
    expect((await used.call<UploadDetails>(path)).parts).toEqual([first, second, third]);
    const object = await complete(key, uploadId, [first, second, third]);
    expect(object).toMatchObject({ key, size: bytes.length, contentType: "video/mp4" });
    const content = await photos.get(key);
    expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
    const range = await photos.get(key, { range: `bytes=${5 * mebibyte - 2}-${5 * mebibyte + 1}` });
    const middle = bytes.subarray(5 * mebibyte - 2, 5 * mebibyte + 2);
    expect(Buffer.from(await range.arrayBuffer()).equals(middle)).toBe(true);
  });

  it("keeps its content when the metadata of its object change", async () => {
    const key = "changed";
    const bytes = randomBytes(6 * mebibyte);
    const uploadId = await create(key);
    const parts = [
      await uploadPart(key, uploadId, 1, bytes.subarray(0, 5 * mebibyte)),
      await uploadPart(key, uploadId, 2, bytes.subarray(5 * mebibyte)),
    ];
    await complete(key, uploadId, parts);
    await photos.change(key, { customMetadata: { a: "b" } });
    const content = await photos.get(key);
    expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it("expires after seven days", async () => {
    const uploadId = await create("expires");
    const { uploads, now } = await list(photos, { prefix: "expires" });
    const [upload] = uploads;
    expect(upload).toMatchObject({ key: "expires", uploadId });
    expect((upload?.expires as number) - (upload?.created as number)).toBe(7 * dayMilliseconds);
    expect(now).toBeGreaterThanOrEqual(upload?.created as number);
  });

  it("expires earlier by a rule of its bucket", async () => {
    const { stateFolder } = used;
    const s3 = await startS3({ stateFolder, buckets: [{ name: "rules" }], port: 0 });
    const client = new S3Client({
      endpoint: s3.url,
      credentials: s3.credentials,
      region: "auto",
      forcePathStyle: true,
    });
    try {
      const rule = {
        ID: "short",
        Status: "Enabled" as const,
        Filter: { Prefix: "tmp/" },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 2 },
      };
      await client.send(
        new PutBucketLifecycleConfigurationCommand({
          Bucket: "rules",
          LifecycleConfiguration: { Rules: [rule] },
        }),
      );
    } finally {
      client.destroy();
      await s3.close();
    }
    const rules = new BucketCalls(used, "rules");
    await create("a", rules);
    await create("tmp/a", rules);
    const { uploads } = await list(rules);
    expect(uploads.map(({ expires, created }) => (expires - created) / dayMilliseconds)).toEqual([
      7, 2,
    ]);
  });

  it("is aborted, and then refuses parts", async () => {
    const key = "aborted";
    const uploadId = await create(key);
    const path = photos.path(`/uploads/${uploadId}`, { key });
    await used.call(path, { method: "DELETE" });
    expect((await list(photos, { prefix: key })).uploads).toEqual([]);
    const refused = await used.fetch(partPath(key, uploadId, 1), { method: "PUT", body: "x" });
    expect(refused.status).toBe(404);
    expect(await refused.text()).toContain("was completed or aborted, has expired");
    await expect(used.call(path)).rejects.toThrow("was completed or aborted");
  });

  it("replaces an object only if the request allows it", async () => {
    const key = "guarded";
    await photos.put(key, "first");
    const uploadId = await create(key);
    const part = await uploadPart(key, uploadId, 1, "second");
    const guarded = complete(key, uploadId, [part], { overwrite: "false" });
    await expect(guarded).rejects.toThrow("exists already");
    expect(await photos.text(key)).toBe("first");
    await complete(key, uploadId, [part]);
    expect(await photos.text(key)).toBe("second");
  });

  it.each(["0", "10001", "x", "-1"])("refuses the part number %s", async (number) => {
    const uploadId = await create("numbers");
    const response = await used.fetch(partPath("numbers", uploadId, number), {
      method: "PUT",
      body: "x",
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("from 1 to 10000");
  });

  it("is not completed with wrong parts", async () => {
    const key = "wrong";
    const uploadId = await create(key);
    const small = await uploadPart(key, uploadId, 1, "small");
    const last = await uploadPart(key, uploadId, 2, "last");
    await expect(complete(key, uploadId, [small, last])).rejects.toThrow("less than 5242880 bytes");
    await expect(complete(key, uploadId, [])).rejects.toThrow("must have a part");
    const other = { partNumber: 1, etag: "other" };
    await expect(complete(key, uploadId, [other])).rejects.toThrow("has another etag");
    await expect(complete(key, uploadId, [{ etag: "x" }])).rejects.toThrow(
      '\\"parts.0.partNumber\\" of the request is missing',
    );
    await expect(complete(key, "absent", [small])).rejects.toThrow("or never existed");
  });

  it("of which the browser breaks off a part is no error of the server", async () => {
    const key = "broken";
    const uploadId = await create(key);
    const { hostname, port } = new URL(used.origin);
    const sent = request({
      hostname,
      port,
      method: "PUT",
      path: partPath(key, uploadId, 1),
      headers: { cookie: used.cookie, "content-length": "1000000" },
    });
    const ended = new Promise((resolve) => sent.on("error", resolve));
    await new Promise<void>((resolve) => sent.write(Buffer.alloc(300_000), () => resolve()));
    sent.destroy(new Error("paused"));
    await ended;
    await uploadPart(key, uploadId, 1, "whole");
    const path = photos.path(`/uploads/${uploadId}`, { key });
    expect((await used.call<UploadDetails>(path)).parts).toMatchObject([{ size: 5 }]);
    expect(errors).toEqual([]);
  });
});

describe("a list of uploads", () => {
  it("has pages", async () => {
    const many = new BucketCalls(used, "many");
    const keys = Array.from({ length: 1001 }, (_, index) => `u/${String(index).padStart(4, "0")}`);
    await inTurns(keys, (key) => create(key, many));
    const first = await list(many, { prefix: "u/" });
    expect(first.uploads).toHaveLength(1000);
    const rest = await list(many, { prefix: "u/", cursor: first.cursor as string });
    expect([...first.uploads, ...rest.uploads].map(({ key }) => key)).toEqual(keys);
    expect(rest.cursor).toBeNull();
    await expect(list(many, { cursor: "x" })).rejects.toThrow("The cursor is not valid");
  });
});
