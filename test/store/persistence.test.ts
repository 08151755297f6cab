/** Objects and uploads outlive the runtime. */
import { describe, expect, it } from "vitest";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { startStore, temporaryFolder } from "../support/store.ts";
import { worker } from "../support/worker.ts";

const partBytes = 5 * 1024 * 1024;

describe("a store on disk", () => {
  // Compatibility dates before and after workerd's RPC.
  it.each(["2022-01-01", "2026-08-01"])(
    "serves every method to a script with compatibility date %s and a raw env entry",
    async (date) => {
      const script = `
      export default {
        async fetch(request, { BUCKET }) {
          const done = {};
          done.put = (await BUCKET.put("a/1", "one", { customMetadata: { n: "1" } })).size;
          done.head = (await BUCKET.head("a/1")).customMetadata.n;
          done.get = await (await BUCKET.get("a/1")).text();
          done.list = (await BUCKET.list({ prefix: "a/" })).objects.map(({ key }) => key);
          const upload = await BUCKET.createMultipartUpload("a/2");
          const part = await upload.uploadPart(1, "two");
          const resumed = BUCKET.resumeMultipartUpload(upload.key, upload.uploadId);
          done.complete = (await resumed.complete([part])).size;
          const aborted = await BUCKET.createMultipartUpload("a/3");
          done.abort = (await aborted.abort()) === undefined;
          const large = new Uint8Array(5 * 1024 * 1024).map((_, index) => index);
          done.large = (await BUCKET.put("b/1", large, { sha1: await crypto.subtle.digest("SHA-1", large) })).size;
          done.copy = (await BUCKET.put("b/2", (await BUCKET.get("b/1")).body)).etag
            === (await BUCKET.head("b/1")).etag;
          const parts = await BUCKET.createMultipartUpload("b/3");
          await parts.complete([await parts.uploadPart(1, large), await parts.uploadPart(2, "end")]);
          const range = { offset: large.length - 1, length: Infinity };
          done.joined = await (await BUCKET.get("b/3", { range })).text();
          await BUCKET.delete(["a/1", "a/2"]);
          done.delete = (await BUCKET.head("a/1")) === null;
          done.names = [BUCKET, upload].map((object) => object.constructor.name);
          return Response.json(done);
        },
      };`;
      const { miniflare } = await startStore(temporaryFolder(), [worker(script, { date })]);

      const response = await miniflare.dispatchFetch("http://script/");

      expect(await response.json()).toEqual({
        put: 3,
        head: "1",
        get: "one",
        list: ["a/1"],
        complete: 3,
        abort: true,
        large: partBytes,
        copy: true,
        joined: "\uFFFDend",
        delete: true,
        names: ["StoreBucket", "StoreMultipartUpload"],
      });
    },
  );

  it("keeps objects, versions and uploads across a restart", async () => {
    const folder = temporaryFolder();
    const first = await startStore(folder);
    const large = bytesOf(300_000);
    const part = bytesOf(partBytes);
    const small = await first.bucket.put("small", "value", {
      httpMetadata: { contentType: "text/plain", cacheExpiry: new Date(86_400_000) },
      customMetadata: { owner: "me" },
      storageClass: "InfrequentAccess",
    });
    await first.bucket.put("large", large);
    const upload = await first.bucket.createMultipartUpload("parts", {
      customMetadata: { kept: "yes" },
    });
    const uploaded = await upload.uploadPart(1, part);
    await first.stop();

    const second = await startStore(folder);

    expect(JSON.stringify(await second.bucket.head("small"))).toBe(
      JSON.stringify({ ...small, range: { offset: 0, length: 5 } }),
    );
    expect(sameBytes(await (await second.bucket.get("large"))?.bytes(), large)).toBe(true);
    const resumed = second.bucket.resumeMultipartUpload("parts", upload.uploadId);
    const last = await resumed.uploadPart(2, "end");
    const completed = await resumed.complete([uploaded, last]);
    expect(completed.size).toBe(partBytes + 3);
    expect(completed.customMetadata).toEqual({ kept: "yes" });
    expect(await (await second.bucket.get("parts", { range: { suffix: 3 } }))?.text()).toBe("end");
  });

  it("keeps nothing across a reload without a persist path", async () => {
    const { miniflare, bucket } = await startStore(temporaryFolder());
    await bucket.put("key", "value");
    // Without a path in the options, Miniflare uses a temporary folder and removes it.
    await miniflare.setOptions({ workers: [worker("export default {};")] });
    const { BUCKET } = await miniflare.getBindings<{ BUCKET: typeof bucket }>();
    expect(await BUCKET.head("key")).toBeNull();
    await BUCKET.put("key", "other");
    expect(await (await BUCKET.get("key"))?.text()).toBe("other");
  });
});
