/** HTTP and custom metadata: as an object and as headers, size limits, and overrides on reads. */
import { beforeAll, describe, expect, it } from "vitest";
import type {
  StoreBucket,
  StoreHTTPMetadata,
  StoreMultipartOptions,
  StorePutOptions,
} from "../../../../src/types/store.ts";
import { hello } from "./content.ts";
import { anyTypeError, failureOf, parameterError, storeError } from "./failure.ts";
import { freshKey } from "./key.ts";
import { looseBucket, looseObject } from "./loose.ts";
import { present } from "./present.ts";
import type { Subject } from "./subject.ts";

const cacheExpiry = new Date("2030-01-02T03:04:05.000Z");
const everything: Required<StoreHTTPMetadata> = {
  contentType: "text/plain; charset=utf-8",
  contentLanguage: "de, en",
  contentDisposition: 'attachment; filename="a.txt"',
  contentEncoding: "gzip",
  cacheControl: "max-age=60",
  cacheExpiry,
};
const asHeaders = {
  "content-type": "text/plain; charset=utf-8",
  "content-language": "de, en",
  "content-disposition": 'attachment; filename="a.txt"',
  "content-encoding": "gzip",
  "cache-control": "max-age=60",
  expires: "Wed, 02 Jan 2030 03:04:05 GMT",
};

/** The limit of all metadata of an object, in bytes. */
const limit = 8192;

const withinLimit: [name: string, metadata: StoreMultipartOptions][] = [
  ["3000 bytes of values", { customMetadata: { a: "v".repeat(3000) } }],
  ["keys and values of 8192 bytes", { customMetadata: { key: "v".repeat(limit - 3) } }],
  ["a key of 8192 bytes", { customMetadata: { ["k".repeat(limit)]: "" } }],
  ["many entries of 8192 bytes", { customMetadata: entries(1024, 4) }],
  ["4096 characters of two bytes", { customMetadata: { "": "é".repeat(limit / 2) } }],
  ["a content type of 8192 bytes", { httpMetadata: { contentType: "t".repeat(limit) } }],
  [
    "both kinds, 8192 bytes together",
    {
      httpMetadata: { contentType: "t".repeat(4096), cacheControl: "c".repeat(1000) },
      customMetadata: { a: "v".repeat(limit - 4096 - 1000 - 1) },
    },
  ],
];

const beyondLimit: [name: string, metadata: StoreMultipartOptions][] = [
  ["keys and values of 8193 bytes", { customMetadata: { key: "v".repeat(limit - 2) } }],
  ["a key of 8193 bytes", { customMetadata: { ["k".repeat(limit + 1)]: "" } }],
  ["many entries of 8193 bytes", { customMetadata: { ...entries(1024, 4), x: "" } }],
  ["4097 characters of two bytes", { customMetadata: { "": "é".repeat(limit / 2 + 1) } }],
  ["a content type of 8193 bytes", { httpMetadata: { contentType: "t".repeat(limit + 1) } }],
  [
    "both kinds, 8193 bytes together",
    {
      httpMetadata: { contentType: "t".repeat(4096), cacheControl: "c".repeat(1000) },
      customMetadata: { a: "v".repeat(limit - 4096 - 1000) },
    },
  ],
  ["9 KiB", { customMetadata: { a: "v".repeat(9216) } }],
];

/** Entries with keys of four bytes. */
function entries(count: number, valueBytes: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      String(index).padStart(4, "0"),
      "v".repeat(valueBytes),
    ]),
  );
}

export function metadataSuite(subject: Subject): void {
  describe("metadata", () => {
    let bucket: StoreBucket;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });

    async function stored(options: StorePutOptions): Promise<string> {
      const key = freshKey("metadata");
      await bucket.put(key, hello.text, options);
      return key;
    }

    it("put() keeps every field of httpMetadata", async () => {
      const key = freshKey("metadata");
      const object = await bucket.put(key, "x", { httpMetadata: everything });
      expect(object.httpMetadata).toEqual(everything);
      expect((await present(bucket.head(key))).httpMetadata).toEqual(everything);
      expect((await present(bucket.get(key))).httpMetadata).toEqual(everything);
    });

    it("put() takes httpMetadata from headers, and ignores other headers", async () => {
      const headers = new Headers({ ...asHeaders, "x-other": "1", etag: '"e"' });
      const key = await stored({ httpMetadata: headers });
      expect((await present(bucket.head(key))).httpMetadata).toEqual(everything);
    });

    it("put() stores no httpMetadata for headers without metadata", async () => {
      const key = await stored({ httpMetadata: new Headers({ "x-other": "1" }) });
      expect((await present(bucket.head(key))).httpMetadata).toEqual({});
    });

    it("put() treats an invalid Expires header as a date in the past", async () => {
      // RFC 9111, section 5.3: an invalid date represents a time in the past.
      const key = await stored({ httpMetadata: new Headers({ expires: "soon" }) });
      expect((await present(bucket.head(key))).httpMetadata).toEqual({ cacheExpiry: new Date(0) });
    });

    it("put() keeps only the given fields", async () => {
      const key = await stored({ httpMetadata: { contentLanguage: "en" } });
      expect((await present(bucket.head(key))).httpMetadata).toEqual({ contentLanguage: "en" });
    });

    it("put() keeps an empty field", async () => {
      const key = await stored({ httpMetadata: { contentType: "" } });
      expect((await present(bucket.head(key))).httpMetadata).toEqual({ contentType: "" });
    });

    it("put() ignores unknown fields of httpMetadata", async () => {
      const httpMetadata = { contentType: "a/b", etag: "x" } as StoreHTTPMetadata;
      const key = await stored({ httpMetadata });
      expect((await present(bucket.head(key))).httpMetadata).toEqual({ contentType: "a/b" });
    });

    it("put() coerces the strings of httpMetadata", async () => {
      const key = freshKey("metadata");
      await looseBucket(bucket).put(key, "x", {
        httpMetadata: { contentType: 1, contentLanguage: null, cacheControl: {} },
      });
      expect((await present(bucket.head(key))).httpMetadata).toEqual({
        contentType: "1",
        contentLanguage: "null",
        cacheControl: "[object Object]",
      });
    });

    it("put() takes a number for cacheExpiry", async () => {
      const key = freshKey("metadata");
      await looseBucket(bucket).put(key, "x", { httpMetadata: { cacheExpiry: 1000 } });
      expect((await present(bucket.head(key))).httpMetadata).toEqual({
        cacheExpiry: new Date(1000),
      });
    });

    it("put() keeps customMetadata", async () => {
      const customMetadata = { a: "1", "Mixed-Case": "Value", empty: "", ünï: "世界 😀", z: "\n" };
      const key = freshKey("metadata");
      const object = await bucket.put(key, "x", { customMetadata });
      expect(object.customMetadata).toEqual(customMetadata);
      expect((await present(bucket.head(key))).customMetadata).toEqual(customMetadata);
    });

    it("put() coerces the values of customMetadata", async () => {
      const key = freshKey("metadata");
      const customMetadata = { a: 1, b: null, c: undefined, d: {}, e: true };
      await looseBucket(bucket).put(key, "x", { customMetadata });
      expect((await present(bucket.head(key))).customMetadata).toEqual({
        a: "1",
        b: "null",
        c: "undefined",
        d: "[object Object]",
        e: "true",
      });
    });

    for (const [name, metadata] of withinLimit) {
      it(`put() takes metadata: ${name}`, async () => {
        const key = await stored(metadata);
        const object = await present(bucket.head(key));
        expect(object.customMetadata).toEqual(metadata.customMetadata ?? {});
        expect(object.httpMetadata).toEqual(metadata.httpMetadata ?? {});
      });

      it(`createMultipartUpload() takes metadata: ${name}`, async () => {
        const upload = await bucket.createMultipartUpload(freshKey("metadata"), metadata);
        const object = await upload.complete([await upload.uploadPart(1, "x")]);
        expect(object.customMetadata).toEqual(metadata.customMetadata ?? {});
        expect(object.httpMetadata).toEqual(metadata.httpMetadata ?? {});
      });
    }

    for (const [name, metadata] of beyondLimit) {
      it(`put() refuses metadata: ${name}`, async () => {
        const key = freshKey("metadata");
        expect(await failureOf(() => bucket.put(key, "x", metadata))).toEqual(
          storeError("put", 10012),
        );
        expect(await bucket.head(key)).toBeNull();
      });

      it(`createMultipartUpload() refuses metadata: ${name}`, async () => {
        const key = freshKey("metadata");
        expect(await failureOf(() => bucket.createMultipartUpload(key, metadata))).toEqual(
          storeError("createMultipartUpload", 10012),
        );
      });
    }

    it("put() refuses too much metadata given as headers", async () => {
      const key = freshKey("metadata");
      const httpMetadata = new Headers({ "content-type": "t".repeat(limit + 1) });
      expect(await failureOf(() => bucket.put(key, "x", { httpMetadata }))).toEqual(
        storeError("put", 10012),
      );
      expect(await bucket.head(key)).toBeNull();
    });

    it("put() keeps the old object when it refuses metadata", async () => {
      const key = freshKey("metadata");
      const { version } = await bucket.put(key, "old");
      const customMetadata = { a: "v".repeat(9216) };
      expect(await failureOf(() => bucket.put(key, "new", { customMetadata }))).toEqual(
        storeError("put", 10012),
      );
      expect((await present(bucket.head(key))).version).toBe(version);
    });

    it("get() returns the given httpMetadata, and the other stored fields", async () => {
      const key = await stored({ httpMetadata: { contentType: "a/b", contentLanguage: "en" } });
      const object = await present(
        bucket.get(key, { httpMetadata: { contentType: "c/d", cacheControl: "no-store" } }),
      );
      const overridden = { contentType: "c/d", contentLanguage: "en", cacheControl: "no-store" };
      expect(object.httpMetadata).toEqual(overridden);
      const headers = new Headers();
      object.writeHttpMetadata(headers);
      expect(Object.fromEntries(headers)).toEqual({
        "cache-control": "no-store",
        "content-language": "en",
        "content-type": "c/d",
      });
      expect((await object.blob()).type).toBe("c/d");
    });

    it("get() returns httpMetadata given as headers", async () => {
      const key = await stored({ httpMetadata: { contentType: "a/b" } });
      const httpMetadata = new Headers(asHeaders);
      const object = await present(bucket.get(key, { httpMetadata }));
      expect(object.httpMetadata).toEqual(everything);
    });

    it("get() with httpMetadata does not change the stored metadata", async () => {
      const key = await stored({ httpMetadata: { contentType: "a/b" } });
      await bucket.get(key, { httpMetadata: { contentType: "c/d" } });
      expect((await present(bucket.head(key))).httpMetadata).toEqual({ contentType: "a/b" });
      expect((await present(bucket.get(key))).httpMetadata).toEqual({ contentType: "a/b" });
    });

    it("writeHttpMetadata() sets the headers", async () => {
      const key = await stored({ httpMetadata: everything });
      for (const object of [await present(bucket.head(key)), await present(bucket.get(key))]) {
        const headers = new Headers();
        object.writeHttpMetadata(headers);
        expect(Object.fromEntries(headers)).toEqual(asHeaders);
      }
    });

    it("writeHttpMetadata() works on the result of put()", async () => {
      const object = await bucket.put(freshKey("metadata"), "x", { httpMetadata: everything });
      const headers = new Headers();
      object.writeHttpMetadata(headers);
      expect(Object.fromEntries(headers)).toEqual(asHeaders);
    });

    it("writeHttpMetadata() replaces its headers and keeps the others", async () => {
      const key = await stored({ httpMetadata: { contentType: "a/b" } });
      const headers = new Headers({ "content-type": "old", "cache-control": "old", x: "1" });
      (await present(bucket.head(key))).writeHttpMetadata(headers);
      expect(Object.fromEntries(headers)).toEqual({
        "content-type": "a/b",
        "cache-control": "old",
        x: "1",
      });
    });

    it("writeHttpMetadata() sets nothing without metadata", async () => {
      const key = await stored({});
      const headers = new Headers();
      (await present(bucket.head(key))).writeHttpMetadata(headers);
      expect([...headers]).toEqual([]);
    });

    for (const [name, contentType] of [
      ["CR", "a\rb"],
      ["LF", "a\nb"],
      ["NUL", "a\0b"],
    ] as const) {
      it(`writeHttpMetadata() refuses a value with ${name}`, async () => {
        const key = await stored({ httpMetadata: { contentType } });
        const object = await present(bucket.head(key));
        expect(object.httpMetadata).toEqual({ contentType });
        expect(await failureOf(() => object.writeHttpMetadata(new Headers()))).toEqual(
          anyTypeError,
        );
      });
    }

    it("writeHttpMetadata() refuses an argument that is not a Headers object", async () => {
      const key = await stored({ httpMetadata: everything });
      const object = await present(bucket.head(key));
      const failure = parameterError("writeHttpMetadata", {
        index: 1,
        type: "Headers",
        on: "StoreObject",
      });
      for (const bad of [[], [undefined], [null], [{}], [new Map()], ["x"], [1], [Symbol("x")]]) {
        expect(await failureOf(() => looseObject(object).writeHttpMetadata(...bad))).toEqual(
          failure,
        );
      }
    });
  });
}
