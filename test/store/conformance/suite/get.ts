import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket } from "../../../../src/types/store.ts";
import { bytesOf, firstDifference, hello, inlineBytesMax } from "./content.ts";
import { failureOf, streamError } from "./failure.ts";
import { freshKey } from "./key.ts";
import { present } from "./present.ts";
import { piped } from "./stream.ts";
import type { Subject } from "./subject.ts";

const usedTwice =
  "Body has already been used. It can only be used once. " +
  "Use tee() first if you need to read it twice.";

export function getSuite(subject: Subject): void {
  describe("get", () => {
    let bucket: StoreBucket;
    /** Each read runs on a value in the database and on a value in a file. */
    const contents = [
      { name: "an inline value", key: freshKey("get"), bytes: bytesOf(1000) },
      { name: "a value in a file", key: freshKey("get"), bytes: bytesOf(inlineBytesMax * 2) },
    ];
    beforeAll(async () => {
      bucket = await subject.bucket();
      for (const { key, bytes } of contents) await bucket.put(key, bytes);
    });

    it("get() resolves with null when there is no object", async () => {
      expect(await bucket.get(freshKey("get"))).toBeNull();
    });

    it("get() resolves with the metadata of the object", async () => {
      const key = freshKey("get");
      const stored = await bucket.put(key, hello.text, {
        httpMetadata: { contentType: "text/plain" },
        customMetadata: { colour: "red" },
      });
      const object = await present(bucket.get(key));
      expect(object.key).toBe(key);
      expect(object.version).toBe(stored.version);
      expect(object.size).toBe(5);
      expect(object.etag).toBe(hello.md5);
      expect(object.httpEtag).toBe(`"${hello.md5}"`);
      expect(object.uploaded.getTime()).toBe(stored.uploaded.getTime());
      expect(object.httpMetadata).toEqual({ contentType: "text/plain" });
      expect(object.customMetadata).toEqual({ colour: "red" });
      expect(object.checksums.toJSON()).toEqual({ md5: hello.md5 });
      expect(object.storageClass).toBe("Standard");
      expect(object.range).toEqual({ offset: 0, length: 5 });
      expect(await object.text()).toBe(hello.text);
    });

    for (const { name, key, bytes } of contents) {
      it(`arrayBuffer() reads ${name}`, async () => {
        const content = await (await present(bucket.get(key))).arrayBuffer();
        expect(content).toBeInstanceOf(ArrayBuffer);
        expect(firstDifference(content, bytes)).toBe(-1);
      });

      it(`bytes() reads ${name}`, async () => {
        const content = await (await present(bucket.get(key))).bytes();
        expect(content).toBeInstanceOf(Uint8Array);
        expect(firstDifference(content, bytes)).toBe(-1);
      });

      it(`blob() reads ${name}`, async () => {
        const blob = await (await present(bucket.get(key))).blob();
        expect(blob).toBeInstanceOf(Blob);
        expect(blob.size).toBe(bytes.length);
        expect(firstDifference(await blob.arrayBuffer(), bytes)).toBe(-1);
      });

      it(`body streams ${name}`, async () => {
        const { body } = await present(bucket.get(key));
        expect(body).toBeInstanceOf(ReadableStream);
        const content = await new Response(body).arrayBuffer();
        expect(firstDifference(content, bytes)).toBe(-1);
      });

      it(`body can be read chunk by chunk: ${name}`, async () => {
        const { body } = await present(bucket.get(key));
        const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
        const chunks: Uint8Array<ArrayBuffer>[] = [];
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          chunks.push(value);
        }
        const content = await new Blob(chunks).arrayBuffer();
        expect(firstDifference(content, bytes)).toBe(-1);
      });

      it(`body can be piped: ${name}`, async () => {
        const { body } = await present(bucket.get(key));
        const content = await new Response(piped(subject, body)).arrayBuffer();
        expect(firstDifference(content, bytes)).toBe(-1);
      });

      it(`body can be cancelled, and another get() reads the object: ${name}`, async () => {
        const object = await present(bucket.get(key));
        await object.body.cancel();
        const content = await (await present(bucket.get(key))).arrayBuffer();
        expect(firstDifference(content, bytes)).toBe(-1);
      });

      it(`bodyUsed becomes true when the body is read: ${name}`, async () => {
        const object = await present(bucket.get(key));
        expect(object.bodyUsed).toBe(false);
        await object.arrayBuffer();
        expect(object.bodyUsed).toBe(true);
      });
    }

    it("text() reads the text", async () => {
      const key = freshKey("get");
      const text = "Grüße, 世界 😀";
      await bucket.put(key, text);
      expect(await (await present(bucket.get(key))).text()).toBe(text);
    });

    it("text() replaces bytes that are not UTF-8", async () => {
      const key = freshKey("get");
      await bucket.put(key, new Uint8Array([0x61, 0xff, 0x62]));
      expect(await (await present(bucket.get(key))).text()).toBe("a\uFFFDb");
    });

    it("json() parses the text", async () => {
      const key = freshKey("get");
      await bucket.put(key, '{"list":[1,"two",null]}');
      const value = await (await present(bucket.get(key))).json<{ list: unknown[] }>();
      expect(value).toEqual({ list: [1, "two", null] });
    });

    it("json() rejects with a SyntaxError when the text is not JSON", async () => {
      const key = freshKey("get");
      await bucket.put(key, hello.text);
      const object = await present(bucket.get(key));
      expect(await failureOf(() => object.json())).toEqual({
        error: "SyntaxError",
        message: expect.stringContaining("not valid JSON") as unknown,
      });
    });

    it("blob() has the content type as its type", async () => {
      const key = freshKey("get");
      await bucket.put(key, "x", { httpMetadata: { contentType: "image/png" } });
      expect((await (await present(bucket.get(key))).blob()).type).toBe("image/png");
    });

    it("blob() has no type when the object has no content type", async () => {
      const key = freshKey("get");
      await bucket.put(key, "x");
      expect((await (await present(bucket.get(key))).blob()).type).toBe("");
    });

    for (const reader of ["arrayBuffer", "bytes", "text", "json", "blob"] as const) {
      it(`${reader}() refuses a body that has been read`, async () => {
        const key = freshKey("get");
        await bucket.put(key, "1");
        const object = await present(bucket.get(key));
        await object.text();
        expect(await failureOf(() => object[reader]())).toEqual(streamError(subject, usedTwice));
      });
    }

    it("text() refuses a body that is locked", async () => {
      const key = freshKey("get");
      await bucket.put(key, "x");
      const object = await present(bucket.get(key));
      object.body.getReader();
      expect(await failureOf(() => object.text())).toEqual(
        streamError(subject, "This ReadableStream is currently locked to a reader."),
      );
    });

    it("get() returns an empty body for an empty object", async () => {
      const key = freshKey("get");
      await bucket.put(key, null);
      const object = await present(bucket.get(key));
      expect(object.body).toBeInstanceOf(ReadableStream);
      expect(object.range).toEqual({ offset: 0, length: 0 });
      const other = await present(bucket.get(key));
      expect(await other.text()).toBe("");
    });

    for (const { name, key, bytes } of contents) {
      it(`body can be stored under another key: ${name}`, async () => {
        const copy = freshKey("get");
        const { body } = await present(bucket.get(key));
        const stored = await bucket.put(copy, body);
        expect(stored.size).toBe(bytes.length);
        const content = await (await present(bucket.get(copy))).arrayBuffer();
        expect(firstDifference(content, bytes)).toBe(-1);
      });

      it(`body of a range can be stored under another key: ${name}`, async () => {
        const copy = freshKey("get");
        const { body } = await present(bucket.get(key, { range: { offset: 10, length: 500 } }));
        await bucket.put(copy, body);
        const content = await (await present(bucket.get(copy))).arrayBuffer();
        expect(firstDifference(content, bytes.slice(10, 510))).toBe(-1);
      });
    }
  });
}
