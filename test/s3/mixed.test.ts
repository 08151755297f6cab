/** The binding of a script and the S3-compatible API are two interfaces of one bucket. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { bytesOf } from "../support/bytes.ts";
import { startStore } from "../support/store.ts";
import { worker } from "../support/worker.ts";
import { useS3 } from "./support/running-s3.ts";

const s3 = useS3({ buckets: [{ name: "photos" }] });

/** The steps of an upload, each in a request of its own. */
const script = `
  export default {
    async fetch(request, { BUCKET }) {
      const query = new URL(request.url).searchParams;
      const [key, id, part] = ["key", "id", "part"].map((name) => query.get(name));
      if (id === null) return Response.json(await BUCKET.createMultipartUpload(key));
      const upload = BUCKET.resumeMultipartUpload(key, id);
      if (part === null) return Response.json(await upload.complete(await request.json()));
      const body = await request.arrayBuffer();
      return Response.json(await upload.uploadPart(Number(part), body));
    },
  };`;

it("an upload is begun, continued and completed by either", async () => {
  const { miniflare, bucket } = await startStore(join(s3.stateFolder, "v3"), [worker(script)]);
  type Answer = { uploadId: string; etag: string };
  const ask = async (query: string, body?: BodyInit): Promise<Answer> => {
    const init = { method: "POST", ...(body !== undefined && { body: body as string }) };
    return (await miniflare.dispatchFetch(`http://script/?${query}`, init)).json() as never;
  };
  const parts = [bytesOf(5 * 1024 * 1024, 1), bytesOf(200_000, 2)] as const;
  const whole = Buffer.concat(parts);
  const scriptPart = async (key: string, id: string, part: 1 | 2): Promise<string> => {
    const body = parts[part - 1] as unknown as BodyInit;
    return (await ask(`key=${key}&id=${encodeURIComponent(id)}&part=${part}`, body)).etag;
  };
  const s3Part = async (key: string, id: string, part: 1 | 2): Promise<string> => {
    const target = `/photos/${key}?partNumber=${part}&uploadId=${encodeURIComponent(id)}`;
    const body = parts[part - 1] as Uint8Array;
    const { headers } = await s3.client.send({ method: "PUT", target, body });
    return (headers.etag as string).replaceAll('"', "");
  };

  const { uploadId: first } = await ask("key=first");
  const ofFirst = [
    { partNumber: 1, etag: await s3Part("first", first, 1) },
    { partNumber: 2, etag: await scriptPart("first", first, 2) },
  ];
  await ask(`key=first&id=${encodeURIComponent(first)}`, JSON.stringify(ofFirst));
  const got = await s3.client.send({ target: "/photos/first" });
  expect([got.status, got.body.equals(whole)]).toEqual([200, true]);

  const made = await s3.client.send({ method: "POST", target: "/photos/second?uploads" });
  const second = /<UploadId>(.*?)</.exec(made.text)?.[1] as string;
  const etags = [await scriptPart("second", second, 1), await s3Part("second", second, 2)];
  const list = etags.map(
    (etag, n) => `<Part><PartNumber>${n + 1}</PartNumber><ETag>${etag}</ETag></Part>`,
  );
  const completed = await s3.client.send({
    method: "POST",
    target: `/photos/second?uploadId=${encodeURIComponent(second)}`,
    body: `<CompleteMultipartUpload>${list.join("")}</CompleteMultipartUpload>`,
  });
  expect(completed.status).toBe(200);
  const object = await bucket.get("second");
  expect(Buffer.from((await object?.arrayBuffer()) as ArrayBuffer).equals(whole)).toBe(true);

  // What one interface deletes is gone for the other.
  await bucket.delete(["first", "second"]);
  expect((await s3.client.send({ method: "HEAD", target: "/photos/first" })).status).toBe(404);
  expect(s3.files("photos")).toEqual([]);
});
