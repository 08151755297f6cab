/** Uploads in parts that other programs have begun, in the API of the explorer. */
import { describe, expect, it } from "vitest";
import { inTurns, BucketCalls } from "./support/bucket-calls.ts";
import type { UploadPage } from "../../src/explorer/api/buckets.ts";
import { startS3 } from "../../dist/index.js";
import { S3TestClient } from "../s3/support/s3-client.ts";
import { afterAll, beforeAll } from "vitest";
import { useExplorer } from "./support/explorer.ts";

const buckets = ["photos", "rules", "many"];
const used = useExplorer({ buckets });
const photos = new BucketCalls(used, "photos");
const dayMilliseconds = 24 * 60 * 60 * 1000;

let s3: Awaited<ReturnType<typeof startS3>>;
let client: S3TestClient;
beforeAll(async () => {
  const { stateFolder } = used;
  s3 = await startS3({ stateFolder, buckets: buckets.map((name) => ({ name })), port: 0 });
  client = new S3TestClient(s3);
});
afterAll(() => s3?.close());

async function create(key: string, bucket = "photos"): Promise<string> {
  const target = `/${bucket}/${key}?uploads`;
  const { text } = await client.send({ method: "POST", target });
  return /<UploadId>(.*)<\/UploadId>/.exec(text)?.[1] as string;
}

const list = (bucket: BucketCalls, query = {}): Promise<UploadPage> =>
  used.call<UploadPage>(bucket.path("/uploads", query));

describe("an upload", () => {
  it("is aborted, and cannot be aborted after its end", async () => {
    const uploadId = await create("film");
    const path = photos.path(`/uploads/${uploadId}`, { key: "film" });
    await used.call(path, { method: "DELETE" });
    expect((await list(photos, { prefix: "film" })).uploads).toEqual([]);
    const other = photos.path("/uploads/none", { key: "film" });
    await expect(used.call(other, { method: "DELETE" })).rejects.toThrow("upload");
  });

  it("expires after seven days, or earlier by a rule of its bucket", async () => {
    const rule = `<Rule><ID>short</ID><Status>Enabled</Status><Filter><Prefix>tmp/</Prefix></Filter><AbortIncompleteMultipartUpload><DaysAfterInitiation>2</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>`;
    const body = `<LifecycleConfiguration>${rule}</LifecycleConfiguration>`;
    const put = await client.send({ method: "PUT", target: "/rules?lifecycle=", body });
    expect(put.status).toBe(200);
    await create("a", "rules");
    await create("tmp/a", "rules");
    const { uploads, now } = await list(new BucketCalls(used, "rules"));
    const days = uploads.map(({ expires, created }) => (expires - created) / dayMilliseconds);
    expect(days).toEqual([7, 2]);
    expect(now).toBeGreaterThanOrEqual(uploads[0]?.created as number);
  });
});

it("a list of uploads has pages", async () => {
  const many = new BucketCalls(used, "many");
  const keys = Array.from({ length: 1001 }, (_, index) => `u/${String(index).padStart(4, "0")}`);
  await inTurns(keys, (key) => create(key, "many"));
  const first = await list(many, { prefix: "u/" });
  expect(first.uploads).toHaveLength(1000);
  const rest = await list(many, { prefix: "u/", cursor: first.cursor as string });
  expect([...first.uploads, ...rest.uploads].map(({ key }) => key)).toEqual(keys);
  expect(rest.cursor).toBeNull();
  await expect(list(many, { cursor: "x" })).rejects.toThrow("The cursor is not valid");
});
