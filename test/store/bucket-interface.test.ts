/** Operations of the bucket's object that the binding does not use. */
import { describe, expect, it } from "vitest";
import type { Method } from "../../src/store/core/errors.ts";
import type { Request, Result } from "../../src/store/core/operations.ts";
import { startStore, temporaryFolder } from "../support/store.ts";
import { worker } from "../support/worker.ts";

const script = `
  export default {
    async fetch(request, { BUCKET }) {
      const operation = await request.json();
      try {
        return Response.json({ value: await BUCKET["ledge:bucket"]("call", operation) });
      } catch (error) {
        return Response.json({ error: error.message });
      }
    },
  };`;

async function startBucket() {
  const store = await startStore(temporaryFolder(), [worker(script)]);
  const ask = async <M extends Method>(operation: Request<M>) => {
    const body = JSON.stringify(operation);
    const response = await store.miniflare.dispatchFetch("http://script/", {
      method: "POST",
      body,
    });
    return (await response.json()) as { value: Result<M>; error?: string };
  };
  return { ...store, ask };
}

describe("listUploads", () => {
  it("pages through the uploads in progress, by key and then by age", async () => {
    const { bucket, control, ask } = await startBucket();
    const ids: string[] = [];
    for (const key of ["b", "a", "b", "c/1"]) {
      await control.advance(1000);
      ids.push((await bucket.createMultipartUpload(key)).uploadId);
    }
    const done = await bucket.createMultipartUpload("a");
    await done.abort();
    const order = [ids[1], ids[0], ids[2], ids[3]];

    const seen: string[] = [];
    let after: { key: string; uploadId: string } | undefined;
    let truncated = true;
    while (truncated) {
      const { value } = await ask<"listUploads">({
        method: "listUploads",
        prefix: "",
        limit: 1,
        ...(after !== undefined && { after }),
      });
      [after] = value.uploads;
      seen.push(after?.uploadId as string);
      ({ truncated } = value);
    }
    expect(seen).toEqual(order);

    const { value } = await ask<"listUploads">({ method: "listUploads", prefix: "c", limit: 1000 });
    expect(value.uploads.map(({ key }) => key)).toEqual(["c/1"]);
    expect((await ask<"stats">({ method: "stats" })).value.uploads).toBe(4);
  });

  it("refuses a limit of 0", async () => {
    const { ask } = await startBucket();
    const { error } = await ask<"listUploads">({ method: "listUploads", prefix: "", limit: 0 });
    expect(error).toBe(
      "listMultipartUploads: MaxKeys params must be positive integer <= 1000. (10022)",
    );
  });
});

describe("listParts", () => {
  it("pages through the parts of an upload by number", async () => {
    const { bucket, ask } = await startBucket();
    const upload = await bucket.createMultipartUpload("key");
    for (const partNumber of [7, 2, 30]) await upload.uploadPart(partNumber, `part ${partNumber}`);
    const reference = { key: "key", uploadId: upload.uploadId };

    const first = await ask<"listParts">({
      method: "listParts",
      ...reference,
      afterPartNumber: 0,
      limit: 2,
    });
    expect(first.value).toMatchObject({
      parts: [
        { partNumber: 2, size: 6 },
        { partNumber: 7, size: 6 },
      ],
      truncated: true,
    });
    const rest = await ask<"listParts">({
      method: "listParts",
      ...reference,
      afterPartNumber: 7,
      limit: 2,
    });
    expect(rest.value).toMatchObject({ parts: [{ partNumber: 30, size: 7 }], truncated: false });

    await upload.abort();
    const { error } = await ask<"listParts">({
      method: "listParts",
      ...reference,
      afterPartNumber: 0,
      limit: 2,
    });
    expect(error).toMatch(/\(10024\)$/);
  });
});

describe("stats", () => {
  it("counts objects, bytes and uploads", async () => {
    const { bucket, ask } = await startBucket();
    await bucket.put("a", "12345");
    await bucket.put("b", "678");
    expect((await ask<"stats">({ method: "stats" })).value).toEqual({
      objects: 2,
      bytes: 8,
      uploads: 0,
    });
  });

  it("counts in steps, so that other calls do not wait", async () => {
    const { bucket, ask } = await startBucket();
    for (const key of ["a", "b", "c"]) await bucket.put(key, key.repeat(2));
    const first = (await ask<"stats">({ method: "stats", limit: 2 })).value;
    expect(first).toEqual({ objects: 2, bytes: 4, uploads: 0, next: "b" });
    const second = (await ask<"stats">({ method: "stats", limit: 2, after: "b" })).value;
    expect(second).toEqual({ objects: 1, bytes: 2, uploads: 0 });
  });
});

describe("a batch with an unexpected error", () => {
  /** Two puts in one turn. The second carries more bytes than a client ever sends in a call. */
  const breaking = `
    const put = (BUCKET, key, size) =>
      BUCKET["ledge:bucket"]("call", {
        method: "put",
        key,
        content: { bytes: new Uint8Array(size), checksums: { md5: "0".repeat(32) } },
        http: {},
        custom: {},
        storageClass: "Standard",
      });
    export default {
      async fetch(request, { BUCKET }) {
        const results = await Promise.allSettled([
          put(BUCKET, new URL(request.url).pathname.slice(1), 1),
          put(BUCKET, "large", 1024 * 1024),
        ]);
        return Response.json(results.map(({ reason }) => reason?.message));
      },
    };`;

  it("changes neither the database nor the cache", async () => {
    const { bucket, miniflare } = await startStore(temporaryFolder(), [worker(breaking)]);
    await bucket.put("old", "value");
    for (const key of ["old", "new"]) {
      const response = await miniflare.dispatchFetch(`http://script/${key}`);
      const message = "put: We encountered an internal error. Please try again. (10001)";
      expect(await response.json()).toEqual([message, message]);
    }
    expect(await (await bucket.get("old"))?.text()).toBe("value");
    expect(await bucket.head("new")).toBeNull();
    expect((await bucket.list()).objects.map(({ key }) => key)).toEqual(["old"]);
  });
});
