/** The conformance suite in Node: `mf.getBindings()`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Headers as MiniflareHeaders } from "miniflare";
import { afterAll, describe, expect, it } from "vitest";
import { storeBucketSuite, transferSuite } from "./conformance/suite/index.ts";
import { nodeBindings } from "./support/node-bindings.ts";

const folder = mkdtempSync(join(tmpdir(), "ledge-conformance-"));
afterAll(() => rmSync(folder, { recursive: true }));

// With a folder, buckets in Node call the owner directly.
const bindings = nodeBindings({ folder });
storeBucketSuite({ name: "in Node", runtime: "node", environment: bindings });

// Without a folder, the same class calls through Miniflare's proxy: values and answers cross over.
const name = "in Node through Miniflare's proxy";
transferSuite({ name, runtime: "node", environment: nodeBindings({}) });

function miniflareHeaders(fields: Record<string, string>): Headers {
  return new MiniflareHeaders(fields) as unknown as Headers;
}

// The suite uses Node's `Headers`. Miniflare exports another class of that name, which the other
// bindings of Miniflare take.
describe("StoreBucket, with Miniflare's Headers", () => {
  const key = "miniflare-headers";

  it("put() and get() take metadata as Headers", async () => {
    const { BUCKET } = await bindings();
    await BUCKET.put(key, "hello", {
      httpMetadata: miniflareHeaders({ "content-type": "text/plain" }),
    });
    const object = await BUCKET.get(key, {
      httpMetadata: miniflareHeaders({ "cache-control": "no-store" }),
    });
    expect(object?.httpMetadata).toEqual({
      contentType: "text/plain",
      cacheControl: "no-store",
    });
  });

  it("createMultipartUpload() takes metadata as Headers", async () => {
    const { BUCKET } = await bindings();
    const upload = await BUCKET.createMultipartUpload(key, {
      httpMetadata: miniflareHeaders({ "content-type": "a/b" }),
    });
    const object = await upload.complete([await upload.uploadPart(1, "x")]);
    expect(object.httpMetadata).toEqual({ contentType: "a/b" });
  });

  it("put() and get() take conditions as Headers", async () => {
    const { BUCKET } = await bindings();
    await BUCKET.put(key, "hello");
    const onlyIf = miniflareHeaders({ "if-match": '"other"' });
    expect(await BUCKET.put(key, "new", { onlyIf })).toBeNull();
    const object = await BUCKET.get(key, { onlyIf });
    expect(object !== null && "body" in object).toBe(false);
  });

  it("get() takes a range as Headers", async () => {
    const { BUCKET } = await bindings();
    await BUCKET.put(key, "hello");
    const object = await BUCKET.get(key, { range: miniflareHeaders({ range: "bytes=1-2" }) });
    expect(await object?.text()).toBe("el");
  });

  it("writeHttpMetadata() sets the headers", async () => {
    const { BUCKET } = await bindings();
    const object = await BUCKET.put(key, "hello", { httpMetadata: { contentType: "a/b" } });
    const headers = miniflareHeaders({ "x-other": "1" });
    object.writeHttpMetadata(headers);
    expect(Object.fromEntries(headers)).toEqual({ "content-type": "a/b", "x-other": "1" });
  });
});
