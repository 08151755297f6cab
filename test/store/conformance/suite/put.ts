import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket, StoreValue } from "../../../../src/types/store.ts";
import { bytesOf, emptyMd5, firstDifference, inlineBytesMax, sizes } from "./content.ts";
import { freshKey } from "./key.ts";
import { present } from "./present.ts";
import { bodyOf, streamOf } from "./stream.ts";
import type { Subject } from "./subject.ts";

type Make = (subject: Subject, bytes: Uint8Array<ArrayBuffer>) => StoreValue;

/** Every kind of value, created from the same bytes. */
const kinds: Record<string, Make> = {
  "an ArrayBuffer": (_, bytes) => bytes.slice().buffer,
  "a Uint8Array": (_, bytes) => bytes,
  "a Uint8Array into a larger buffer": (_, bytes) => surrounded(bytes),
  "a DataView into a larger buffer": (_, bytes) => {
    const { buffer, byteOffset, byteLength } = surrounded(bytes);
    return new DataView(buffer, byteOffset, byteLength);
  },
  "a Blob": (_, bytes) => new Blob([bytes]),
  "a Blob of several pieces": (_, bytes) => new Blob([bytes.slice(0, 7), bytes.slice(7)]),
  "a File": (_, bytes) => new File([bytes], "file.bin"),
  "a stream": streamOf,
  "the body of a response": (_, bytes) => bodyOf(bytes),
};

/** A view of the same bytes in a larger buffer, whose other bytes must not be stored. */
function surrounded(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes.length + 27).fill(0xee);
  larger.set(bytes, 16);
  return larger.subarray(16, 16 + bytes.length);
}

const viewClasses = [
  Int8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
];

export function putSuite(subject: Subject): void {
  describe("put", () => {
    let bucket: StoreBucket;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });

    async function contentOf(key: string): Promise<ArrayBuffer> {
      return (await present(bucket.get(key))).arrayBuffer();
    }

    for (const [kind, make] of Object.entries(kinds)) {
      for (const size of sizes) {
        it(`put() stores ${kind} of ${size} bytes`, async () => {
          const key = freshKey("put");
          const bytes = bytesOf(size);
          const stored = await bucket.put(key, make(subject, bytes));
          expect(stored.size).toBe(size);
          expect(firstDifference(await contentOf(key), bytes)).toBe(-1);
        });
      }
    }

    for (const size of sizes) {
      it(`put() stores a string of ${size} bytes`, async () => {
        const key = freshKey("put");
        const text = "0123456789abcdef".repeat(Math.ceil(size / 16)).slice(0, size);
        const stored = await bucket.put(key, text);
        expect(stored.size).toBe(size);
        const read = await (await present(bucket.get(key))).text();
        expect(read === text).toBe(true);
      });
    }

    for (const characters of [inlineBytesMax / 2, inlineBytesMax / 2 + 1]) {
      it(`put() stores ${characters} characters of two bytes each`, async () => {
        const key = freshKey("put");
        const text = "é".repeat(characters);
        const stored = await bucket.put(key, text);
        expect(stored.size).toBe(characters * 2);
        const read = await (await present(bucket.get(key))).text();
        expect(read === text).toBe(true);
      });
    }

    it("put() stores text as UTF-8", async () => {
      const key = freshKey("put");
      await bucket.put(key, "é€😀");
      expect([...new Uint8Array(await contentOf(key))]).toEqual([
        0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80,
      ]);
    });

    for (const View of viewClasses) {
      it(`put() stores the bytes of a ${View.name}`, async () => {
        const key = freshKey("put");
        const bytes = bytesOf(64);
        await bucket.put(key, new View(bytes.buffer, 16, 32 / View.BYTES_PER_ELEMENT));
        expect(firstDifference(await contentOf(key), bytes.slice(16, 48))).toBe(-1);
      });
    }

    for (const value of [null, undefined]) {
      it(`put() stores 0 bytes for ${value}`, async () => {
        const key = freshKey("put");
        const stored = await bucket.put(key, value as null);
        expect(stored.size).toBe(0);
        expect(stored.etag).toBe(emptyMd5);
        expect((await contentOf(key)).byteLength).toBe(0);
      });
    }

    it("put() replaces the object and all of its metadata", async () => {
      const key = freshKey("put");
      const first = await bucket.put(key, bytesOf(inlineBytesMax + 1), {
        httpMetadata: { contentType: "image/png" },
        customMetadata: { a: "b" },
        storageClass: "InfrequentAccess",
      });
      const second = await bucket.put(key, "new");
      const read = await present(bucket.get(key));
      expect(read.version).toBe(second.version);
      expect(read.version).not.toBe(first.version);
      expect(read.size).toBe(3);
      expect(read.httpMetadata).toEqual({});
      expect(read.customMetadata).toEqual({});
      expect(read.storageClass).toBe("Standard");
      expect(await read.text()).toBe("new");
    });

    for (const [from, to] of [
      [10, inlineBytesMax + 10],
      [inlineBytesMax + 10, 10],
      [inlineBytesMax + 10, inlineBytesMax + 20],
    ] as const) {
      it(`put() replaces ${from} bytes by ${to}`, async () => {
        const key = freshKey("put");
        await bucket.put(key, bytesOf(from, 2));
        await bucket.put(key, bytesOf(to, 3));
        expect(firstDifference(await contentOf(key), bytesOf(to, 3))).toBe(-1);
      });
    }

    it("put() takes a key of exactly 1024 bytes", async () => {
      for (const key of [freshKey("put").padEnd(1024, "k"), "é".repeat(512), "😀".repeat(256)]) {
        expect((await bucket.put(key, "x")).key).toBe(key);
        expect((await present(bucket.head(key))).key).toBe(key);
        await bucket.delete(key);
      }
    });

    it("put() takes every character of a key literally", async () => {
      const base = freshKey("put");
      const keys = [
        "..",
        "../../outside",
        "/leading",
        "trailing/",
        "double//slash",
        ".hidden",
        "back\\slash",
        "percent%2Fencoded",
        "question?mark#hash",
        "quote'\"`",
        "space and\ttab",
        "line\nbreak",
        "null\0byte",
        "*?[a-z]_%",
        "__proto__",
        "Ünïcödé 世界 😀",
        "\u{10FFFF}",
      ].map((key) => `${base}${key}`);
      for (const key of keys) await bucket.put(key, key);
      for (const key of keys) {
        const object = await present(bucket.get(key));
        expect(object.key).toBe(key);
        expect(await object.text()).toBe(key);
      }
      const listed = await bucket.list({ prefix: base });
      expect(listed.objects.map((object) => object.key).toSorted()).toEqual(keys.toSorted());
    });

    it("put() distinguishes keys that differ in case or normalisation", async () => {
      const base = freshKey("put");
      const keys = ["a", "A", "\u00E9", "e\u0301"].map((key) => `${base}${key}`);
      for (const key of keys) await bucket.put(key, key);
      const read = await Promise.all(
        keys.map(async (key) => (await present(bucket.get(key))).text()),
      );
      expect(read).toEqual(keys);
    });
  });
}
