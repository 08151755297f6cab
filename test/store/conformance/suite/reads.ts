/** StoreObject, head() and get(): the fields of every result, and the body. */
import { beforeAll, describe, expect, it } from "vitest";
import type { StoreObjectBody } from "../../../../src/types/store.ts";
import { bytesOf, sameBytes } from "../../../support/bytes.ts";
import { streamError } from "./failures.ts";
import {
  bucket,
  bytesAt,
  env,
  freshKey,
  headOf,
  metadataOf,
  noMetadata,
  present,
  textOf,
} from "./subject.ts";
import { hello, inlineBytesMax, piped } from "./values.ts";

const jsonOf = (object: unknown): unknown => JSON.parse(JSON.stringify(object));
const bodyMembers = ["body", "bodyUsed", "arrayBuffer", "bytes", "text", "json", "blob"];

export function objectSuite(): void {
  describe("object", () => {
    it("put() returns a version that is unique to the upload", async () => {
      const key = freshKey();
      const versions = new Set<string>();
      for (let upload = 0; upload < 5; upload += 1) {
        versions.add((await bucket.put(key, "same")).version);
      }
      expect(versions.size).toBe(5);
      expect(versions).not.toContain("");
    });

    it("fields are own and enumerable, the same for every method, and JSON shows them", async () => {
      const key = freshKey();
      const put = await bucket.put(key, hello.text, {
        httpMetadata: { contentLanguage: "en" },
        customMetadata: { a: "b" },
        sha1: hello.sha1,
        storageClass: "InfrequentAccess",
      });
      const expected = {
        key,
        version: put.version,
        size: 5,
        etag: hello.md5,
        httpEtag: `"${hello.md5}"`,
        uploaded: put.uploaded.toISOString(),
        httpMetadata: { contentLanguage: "en" },
        customMetadata: { a: "b" },
        checksums: { md5: hello.md5, sha1: hello.sha1 },
        storageClass: "InfrequentAccess",
      };
      expect(jsonOf(put)).toEqual(expected);
      expect(put.range).toBeUndefined();
      const read = { ...expected, range: { offset: 0, length: 5 } };
      expect(jsonOf(await bucket.head(key))).toEqual(read);
      expect(jsonOf(await bucket.get(key))).toEqual(read);
      expect(Object.keys(await headOf(key)).toSorted()).toEqual(Object.keys(read).toSorted());
      const include = ["httpMetadata" as const, "customMetadata" as const];
      expect(jsonOf((await bucket.list({ prefix: key, include })).objects)).toEqual([expected]);
    });

    it("httpMetadata and customMetadata are empty, and the class is Standard, by default", async () => {
      const key = freshKey();
      for (const object of [await bucket.put(key, "x"), await headOf(key)]) {
        expect(metadataOf(object)).toEqual(noMetadata);
      }
    });

    it("uploaded is the time of the upload", async () => {
      const before = await env.STORE_CONTROL.now();
      const { uploaded } = await bucket.put(freshKey(), "now");
      const after = await env.STORE_CONTROL.now();
      expect(uploaded).toBeInstanceOf(Date);
      expect(uploaded.getTime()).toBeGreaterThanOrEqual(before);
      expect(uploaded.getTime()).toBeLessThanOrEqual(after);
    });

    it("uploaded follows the store's clock", async () => {
      const week = 7 * 24 * 60 * 60 * 1000;
      const key = freshKey();
      const first = await bucket.put(key, "now");
      try {
        await env.STORE_CONTROL.advance(week);
        const second = await bucket.put(key, "later");
        const passed = second.uploaded.getTime() - first.uploaded.getTime();
        expect(passed).toBeGreaterThanOrEqual(week);
        expect(passed).toBeLessThan(week + 60_000);
      } finally {
        await env.STORE_CONTROL.resetClock();
      }
    });

    it("size counts bytes", async () => {
      expect((await bucket.put(freshKey(), "é€😀")).size).toBe(2 + 3 + 4);
    });

    it("classes have the names of the specification", async () => {
      const key = freshKey();
      const object = await bucket.put(key, "x");
      const found = await present(bucket.get(key));
      const failed = await present(bucket.get(key, { onlyIf: { etagMatches: "other" } }));
      const [listed] = (await bucket.list({ prefix: key })).objects;
      expect(bucket.constructor.name).toBe("StoreBucket");
      for (const each of [object, failed, listed, await headOf(key)]) {
        expect(each?.constructor.name).toBe("StoreObject");
      }
      expect(found.constructor.name).toBe("StoreObjectBody");
      const upload = await bucket.createMultipartUpload(key);
      expect(upload.constructor.name).toBe("StoreMultipartUpload");
      await found.arrayBuffer();
    });

    it("head(), and get() whose condition fails, resolve with no body and no readers", async () => {
      const key = freshKey();
      await bucket.put(key, hello.text);
      const failed = await present(bucket.get(key, { onlyIf: { etagMatches: "other" } }));
      for (const object of [await headOf(key), failed]) {
        expect(bodyMembers.filter((member) => member in object)).toEqual([]);
        expect((object as { body?: unknown }).body).toBeUndefined();
        expect(object).toMatchObject({ key, size: 5, etag: hello.md5 });
      }
    });

    it("head() and get() resolve with null when there is no object", async () => {
      expect(await bucket.head(freshKey())).toBeNull();
      expect(await bucket.get(freshKey())).toBeNull();
    });

    it("head() and get() return an empty range, and an empty body, for an empty object", async () => {
      const key = freshKey();
      await bucket.put(key, null);
      expect((await headOf(key)).range).toEqual({ offset: 0, length: 0 });
      const object = await present(bucket.get(key));
      expect(object.body).toBeInstanceOf(ReadableStream);
      expect(object.range).toEqual({ offset: 0, length: 0 });
      expect(await textOf(key)).toBe("");
    });
  });
}

type Reader = (object: StoreObjectBody) => Promise<unknown>;

const readers: Record<string, Reader> = {
  "arrayBuffer()": (object) => object.arrayBuffer(),
  "bytes()": (object) => object.bytes(),
  "blob()": (object) => object.blob(),
  body: ({ body }) => new Response(body).arrayBuffer(),
  "body behind a pipe": ({ body }) => new Response(piped(body)).arrayBuffer(),
  async "body chunk by chunk"({ body }) {
    const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return new Blob(chunks);
      chunks.push(value);
    }
  },
};
const classes: Record<string, unknown> = {
  "bytes()": Uint8Array,
  "blob()": Blob,
  "body chunk by chunk": Blob,
};

const usedTwice =
  "Body has already been used. It can only be used once. " +
  "Use tee() first if you need to read it twice.";

export function getSuite(): void {
  describe("get", () => {
    /** Each read runs on a value in the database and on a value in a file. */
    const contents = [
      { name: "an inline value", key: freshKey(), bytes: bytesOf(1000) },
      { name: "a value in a file", key: freshKey(), bytes: bytesOf(inlineBytesMax * 2) },
    ];
    beforeAll(async () => {
      for (const { key, bytes } of contents) await bucket.put(key, bytes);
    });

    describe.each(contents)("$name", ({ key, bytes }) => {
      const get = () => present(bucket.get(key));

      it.each(Object.keys(readers))("%s reads it", async (name) => {
        const read = await readers[name]!(await get());
        expect(read).toBeInstanceOf(classes[name] ?? ArrayBuffer);
        const content = await new Response(read as Blob).bytes();
        expect(sameBytes(content, bytes)).toBe(true);
      });

      it("body can be cancelled, and another get() reads the object", async () => {
        const { body } = await get();
        expect(body).toBeInstanceOf(ReadableStream);
        await body.cancel();
        expect(sameBytes(await bytesAt(key), bytes)).toBe(true);
      });

      it("bodyUsed becomes true when the body is read", async () => {
        const object = await get();
        expect(object.bodyUsed).toBe(false);
        await object.arrayBuffer();
        expect(object.bodyUsed).toBe(true);
      });

      it("body, and body of a range, can be stored under another key", async () => {
        const copy = freshKey();
        const stored = await bucket.put(copy, (await get()).body);
        expect(stored.size).toBe(bytes.length);
        expect(sameBytes(await bytesAt(copy), bytes)).toBe(true);
        const range = { offset: 10, length: 500 };
        await bucket.put(copy, (await present(bucket.get(key, { range }))).body);
        expect(sameBytes(await bytesAt(copy), bytes.slice(10, 510))).toBe(true);
      });
    });

    it("text() reads UTF-8, and replaces bytes that are not", async () => {
      const key = freshKey();
      await bucket.put(key, "Grüße, 世界 😀");
      expect(await textOf(key)).toBe("Grüße, 世界 😀");
      await bucket.put(key, new Uint8Array([0x61, 0xff, 0x62]));
      expect(await textOf(key)).toBe("a\uFFFDb");
    });

    it("json() parses the text, and rejects with a SyntaxError what is not JSON", async () => {
      const key = freshKey();
      await bucket.put(key, '{"list":[1,"two",null]}');
      expect(await (await present(bucket.get(key))).json()).toEqual({ list: [1, "two", null] });
      await bucket.put(key, hello.text);
      const object = await present(bucket.get(key));
      const message = expect.stringContaining("not valid JSON") as string;
      await expect(() => object.json()).toFailWith({ error: "SyntaxError", message });
    });

    it("blob() has the content type as its type, or no type", async () => {
      for (const [options, type] of [
        [{ httpMetadata: { contentType: "image/png" } }, "image/png"],
        [{}, ""],
      ] as const) {
        const key = freshKey();
        await bucket.put(key, "x", options);
        expect((await (await present(bucket.get(key))).blob()).type).toBe(type);
      }
    });

    it.each(["arrayBuffer", "bytes", "text", "json", "blob"] as const)(
      "%s() refuses a body that has been read",
      async (reader) => {
        const key = freshKey();
        await bucket.put(key, "1");
        const object = await present(bucket.get(key));
        await object.text();
        await expect(() => object[reader]()).toFailWith(streamError(usedTwice));
      },
    );

    it("text() refuses a body that is locked", async () => {
      const key = freshKey();
      await bucket.put(key, "x");
      const object = await present(bucket.get(key));
      object.body.getReader();
      const locked = streamError("This ReadableStream is currently locked to a reader.");
      await expect(() => object.text()).toFailWith(locked);
    });
  });
}
