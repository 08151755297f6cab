/** Keys of customers (SSE-C): both interfaces of a bucket want the same key. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bytesOf } from "../support/bytes.ts";
import { StoreProject } from "../support/store-command.ts";
import { startStore } from "../support/store.ts";
import { worker } from "../support/worker.ts";
import { useS3 } from "./support/running-s3.ts";
import type { Received, Sent } from "./support/s3-client.ts";

const s3 = useS3({ buckets: [{ name: "photos" }] });
const key = Buffer.alloc(32, 1);
const otherKey = Buffer.alloc(32, 2);
const md5Name = "x-amz-server-side-encryption-customer-key-md5";

function keyHeaders(bytes: Buffer, prefix = "x-amz-"): Record<string, string> {
  const name = `${prefix}server-side-encryption-customer-`;
  return {
    [`${name}algorithm`]: "AES256",
    [`${name}key`]: bytes.toString("base64"),
    [`${name}key-md5`]: createHash("md5").update(bytes).digest("base64"),
  };
}

const keyMd5 = keyHeaders(key)[md5Name];
const small = Buffer.from("small");
const large = bytesOf(200_000, 1);

function send(name: string, sent: Omit<Sent, "target"> = {}): Promise<Received> {
  return s3.client.send({ target: `/photos/${name}`, ...sent });
}

function put(name: string, body: Uint8Array, headers = {}): Promise<Received> {
  return send(name, { method: "PUT", body, headers });
}

describe("an object with a key", () => {
  it.each([
    ["small", small],
    ["large", large],
  ])("is read with the same key only: %s content", async (name, content) => {
    const stored = await put(name, content, keyHeaders(key));
    expect([stored.status, stored.headers[md5Name]]).toEqual([200, keyMd5]);
    const read = await send(name, { headers: keyHeaders(key) });
    expect([read.status, read.headers[md5Name]]).toEqual([200, keyMd5]);
    expect(read.body.equals(content)).toBe(true);
    const range = await send(name, { headers: { ...keyHeaders(key), range: "bytes=1-3" } });
    expect(range.body).toEqual(Buffer.from(content.subarray(1, 4)));
    const head = await send(name, { method: "HEAD", headers: keyHeaders(key) });
    expect(head.status).toBe(200);

    const none = await send(name);
    const other = await send(name, { headers: keyHeaders(otherKey) });
    const heads = [
      await send(name, { method: "HEAD" }),
      await send(name, { method: "HEAD", headers: keyHeaders(otherKey) }),
    ];
    const refused = [none, other].map(({ status, code }) => `${status} ${code}`);
    expect(refused).toEqual(["400 InvalidRequest", "400 InvalidRequest"]);
    expect(heads.map(({ status }) => status)).toEqual([400, 400]);
    const list = await s3.client.send({ target: `/photos?prefix=${name}` });
    expect(list.text).toContain(`<Key>${name}</Key>`);
  });

  it("is copied with its key, and the copy has the key of the request", async () => {
    await put("source", large, keyHeaders(key));
    const source = { "x-amz-copy-source": "/photos/source" };
    const sourceKey = keyHeaders(key, "x-amz-copy-source-");
    const copy = (headers: Record<string, string>): Promise<Received> =>
      send("copy", { method: "PUT", headers: { ...source, ...headers } });
    expect((await copy({})).status).toBe(400);
    expect((await copy(keyHeaders(otherKey, "x-amz-copy-source-"))).status).toBe(400);
    const copied = await copy({ ...sourceKey, ...keyHeaders(otherKey) });
    expect([copied.status, copied.headers[md5Name]]).toEqual([200, keyHeaders(otherKey)[md5Name]]);
    expect((await send("copy", { headers: keyHeaders(otherKey) })).body.equals(large)).toBe(true);
    expect((await copy(sourceKey)).status).toBe(200);
    expect((await send("copy")).body.equals(large)).toBe(true);
  });

  it("is no other object: a key for an object without one is refused", async () => {
    await put("plain", small);
    const refused = await send("plain", { headers: keyHeaders(key) });
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining("not applicable to this object"),
    ]);
  });
});

describe("an upload with a key", () => {
  it("takes parts with the same key only", async () => {
    const made = await send("joined?uploads", { method: "POST", headers: keyHeaders(key) });
    expect(made.headers[md5Name]).toBe(keyMd5);
    const id = encodeURIComponent(/<UploadId>(.*?)</.exec(made.text)?.[1] as string);
    const part = (headers = {}): Promise<Received> =>
      put(`joined?partNumber=1&uploadId=${id}`, large, headers);
    expect([(await part()).status, (await part(keyHeaders(otherKey))).status]).toEqual([400, 400]);
    await put("source", large, keyHeaders(otherKey));
    const copied = await send(`joined?partNumber=1&uploadId=${id}`, {
      method: "PUT",
      headers: {
        "x-amz-copy-source": "/photos/source",
        ...keyHeaders(otherKey, "x-amz-copy-source-"),
        ...keyHeaders(key),
      },
    });
    expect([copied.status, copied.headers[md5Name]]).toEqual([200, keyMd5]);
    const { headers } = await part(keyHeaders(key));
    const body =
      "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>" +
      `<ETag>${headers.etag}</ETag></Part></CompleteMultipartUpload>`;
    const completed = await send(`joined?uploadId=${id}`, { method: "POST", body });
    expect(completed.status).toBe(200);
    expect((await send("joined")).status).toBe(400);
    expect((await send("joined", { headers: keyHeaders(key) })).body.equals(large)).toBe(true);
  });
});

it("a copy by the command line has the key of its source", async () => {
  await put("source", small, keyHeaders(key));
  const words = ["cp", "photos/source", "photos/of command", "--persist-to", s3.stateFolder];
  const copied = await new StoreProject().store(...words);
  expect(copied).toMatchObject({ code: 0, errors: "" });
  expect((await send("of%20command")).code).toBe("InvalidRequest");
  const read = await send("of%20command", { headers: keyHeaders(key) });
  expect([read.status, read.text]).toEqual([200, "small"]);
});

/** Calls the bucket of the script: `[method, …arguments]`. The last argument has the key. */
const script = `
  export default {
    async fetch(request, { BUCKET }) {
      const [method, ...values] = await request.json();
      try {
        const object = await BUCKET[method](...values);
        return new Response(object.body ?? "");
      } catch (error) {
        return new Response(error.message, { status: 400 });
      }
    },
  };`;

it("the binding wants the same key", async () => {
  const { miniflare, bucket } = await startStore(join(s3.stateFolder, "v3"), [worker(script)]);
  const ask = async (...call: unknown[]): Promise<string> => {
    const init = { method: "POST", body: JSON.stringify(call) };
    const answer = await miniflare.dispatchFetch("http://script/", init);
    return `${answer.status} ${await answer.text()}`;
  };
  const ssecKey = key.toString("hex");
  const inNode = (name: string, options: object): Promise<string | undefined> =>
    bucket.get(name, options).then(
      (object) => object?.text(),
      (error: Error) => error.message,
    );
  const text = "t".repeat(200_000);
  await put("of-s3", Buffer.from(text), keyHeaders(key));
  expect(await ask("get", "of-s3", { ssecKey })).toBe(`200 ${text}`);
  expect(await inNode("of-s3", { ssecKey: key })).toBe(text);
  const missing =
    "get: The object was stored using a form of Server Side Encryption. The correct parameters " +
    "must be provided to retrieve the object. (200004)";
  expect([await ask("get", "of-s3"), await inNode("of-s3", {})]).toEqual([
    `400 ${missing}`,
    missing,
  ]);
  expect((await bucket.head("of-s3"))?.size).toBe(200_000);

  expect(await ask("put", "of-script", "content", { ssecKey })).toBe("200 ");
  expect((await send("of-script")).status).toBe(400);
  expect((await send("of-script", { headers: keyHeaders(key) })).text).toBe("content");
  expect(await ask("get", "of-script", { ssecKey: otherKey.toString("hex") })).toContain(
    "did not match the ones used originally. (200004)",
  );
  await put("plain", small);
  expect(await ask("get", "plain", { ssecKey })).toContain("not applicable to this object.");
});
