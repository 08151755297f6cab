/** Conditions on the creation of an upload hold when the upload is created, and again when it is completed. */
import { describe, expect, it } from "vitest";
import { startS3 } from "../../dist/index.js";
import { useS3 } from "./support/running-s3.ts";
import { S3TestClient, type Received } from "./support/s3-client.ts";

const s3 = useS3({ buckets: [{ name: "photos" }] });
type Headers = Record<string, string>;

const put = async (key: string, body: string): Promise<string> =>
  (await s3.client.send({ method: "PUT", target: `/photos/${key}`, body })).headers.etag as string;
const remove = (key: string) => s3.client.send({ method: "DELETE", target: `/photos/${key}` });
const contentOf = async (key: string) => (await s3.client.send({ target: `/photos/${key}` })).text;
const create = (key: string, headers: Headers = {}) =>
  s3.client.send({ method: "POST", target: `/photos/${key}?uploads`, headers });
const answer = ({ status, code }: Received) => [status, code];

const refused = [412, "PreconditionFailed"];

/** An upload with one part, and its completion. */
async function begin(key: string, headers: Headers) {
  const uploadId = /<UploadId>(.*?)</.exec((await create(key, headers)).text)?.[1];
  if (uploadId === undefined) throw new Error("The upload was not created.");
  const target = `/photos/${key}?uploadId=${uploadId}`;
  const part = await s3.client.send({
    method: "PUT",
    target: `${target}&partNumber=1`,
    body: "of the upload",
  });
  const body =
    "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>" +
    `<ETag>${part.headers.etag}</ETag></Part></CompleteMultipartUpload>`;
  return (more: Headers = {}, client = s3.client) =>
    client.send({ method: "POST", target, body, headers: more });
}

const past = new Date(0).toUTCString();
const future = new Date(Date.now() + 86_400_000).toUTCString();

describe("a condition of CreateMultipartUpload", () => {
  it("that is not valid is refused", async () => {
    expect(answer(await create("new", { "if-match": '"open' }))).toEqual([400, "InvalidArgument"]);
  });

  it.each<[string, Headers]>([
    ["If-Match", { "if-match": '"other"' }],
    ["If-None-Match", { "if-none-match": "*" }],
    ["If-Modified-Since", { "if-modified-since": future }],
    ["If-Unmodified-Since", { "if-unmodified-since": past }],
  ])("that does not hold creates no upload: %s", async (_, headers) => {
    const key = "refused";
    await put(key, "kept");
    expect(answer(await create(key, headers))).toEqual(refused);
    const listed = await s3.client.send({ target: `/photos?uploads&prefix=${key}` });
    expect(listed.text).not.toContain("<UploadId>");
    expect(await contentOf(key)).toBe("kept");
  });

  it("holds for the object that the completion replaces: If-None-Match", async () => {
    const complete = await begin("new", { "if-none-match": "*" });
    await put("new", "of another");
    expect(answer(await complete())).toEqual(refused);
    expect(await contentOf("new")).toBe("of another");
    // The upload is still in progress.
    await remove("new");
    expect((await complete()).status).toBe(200);
    expect(await contentOf("new")).toBe("of the upload");
  });

  it("holds for the object that the completion replaces: If-Match", async () => {
    const etag = await put("old", "first");
    const complete = await begin("old", { "if-match": etag });
    await put("old", "second");
    expect(answer(await complete())).toEqual(refused);
    await remove("old");
    expect(answer(await complete())).toEqual(refused);
    await put("old", "first");
    expect((await complete()).status).toBe(200);
  });

  it("holds for the object that the completion replaces: the times", async () => {
    await put("times", "first");
    const complete = await begin("times", { "if-modified-since": past });
    const other = await begin("times", { "if-unmodified-since": future });
    await remove("times");
    expect(answer(await complete())).toEqual(refused);
    expect((await other()).status).toBe(200);
    expect((await complete()).status).toBe(200);
  });

  it("holds beside a condition of the completion", async () => {
    const etag = await put("both", "first");
    const complete = await begin("both", { "if-match": etag });
    expect(answer(await complete({ "if-none-match": "*" }))).toEqual(refused);
    await remove("both");
    expect(answer(await complete({ "if-none-match": "*" }))).toEqual(refused);
    await put("both", "first");
    expect((await complete({ "if-match": etag })).status).toBe(200);
  });

  it("is kept with the upload after a restart of the server", async () => {
    const complete = await begin("restarted", { "if-none-match": "*" });
    await put("restarted", "of another");
    await s3.server.close();
    const again = await startS3({
      stateFolder: s3.stateFolder,
      buckets: [{ name: "photos" }],
      port: 0,
    });
    const client = new S3TestClient(again);
    expect(answer(await complete({}, client))).toEqual(refused);
    await client.send({ method: "DELETE", target: "/photos/restarted" });
    expect((await complete({}, client)).status).toBe(200);
    await again.close();
  });
});
