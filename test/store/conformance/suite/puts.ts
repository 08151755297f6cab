/** put(): values, metadata, storage classes and checksums. */
import { describe, expect, it } from "vitest";
import type {
  StoreHTTPMetadata,
  StoreMultipartOptions,
  StorePutOptions,
} from "../../../../src/types/store.ts";
import { bytesOf, sameBytes } from "../../../support/bytes.ts";
import {
  anyTypeError,
  checksumError,
  failureOf,
  fieldError,
  storeError,
  typeError,
} from "./failures.ts";
import { keysOf } from "./lists.ts";
import {
  bucket,
  bytesAt,
  env,
  freshKey,
  headOf,
  loose,
  metadataOf,
  noMetadata,
  present,
  textOf,
} from "./subject.ts";
import {
  emptyMd5,
  fromHex,
  hello,
  inlineBytesMax,
  kinds,
  sizes,
  streamOf,
  toHex,
} from "./values.ts";

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

const difficultKeys = [
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
  // Keys that differ in case or normalisation are different.
  "a",
  "A",
  "\u00E9",
  "e\u0301",
];

export function putSuite(): void {
  describe("put", () => {
    for (const [kind, make] of Object.entries(kinds)) {
      it.each(sizes)(`put() stores ${kind} of %i bytes`, async (size) => {
        const [key, bytes] = [freshKey(), bytesOf(size)];
        expect((await bucket.put(key, make(bytes))).size).toBe(size);
        expect(sameBytes(await bytesAt(key), bytes)).toBe(true);
      });
    }

    it.each(sizes)("put() stores a string of %i bytes", async (size) => {
      const key = freshKey();
      const text = "0123456789abcdef".repeat(Math.ceil(size / 16)).slice(0, size);
      expect((await bucket.put(key, text)).size).toBe(size);
      expect((await textOf(key)) === text).toBe(true);
    });

    it.each([3, inlineBytesMax / 2, inlineBytesMax / 2 + 1])(
      "put() stores %i characters of two bytes as UTF-8",
      async (characters) => {
        const [key, text] = [freshKey(), "é".repeat(characters)];
        expect((await bucket.put(key, text)).size).toBe(characters * 2);
        expect(sameBytes(await bytesAt(key), new TextEncoder().encode(text))).toBe(true);
      },
    );

    it.each(viewClasses)("put() stores the bytes of a $name", async (View) => {
      const [key, bytes] = [freshKey(), bytesOf(64)];
      await bucket.put(key, new View(bytes.buffer, 16, 32 / View.BYTES_PER_ELEMENT));
      expect(sameBytes(await bytesAt(key), bytes.slice(16, 48))).toBe(true);
    });

    it.each([null, undefined])("put() stores 0 bytes for %s", async (value) => {
      const key = freshKey();
      expect(await loose.put(key, value)).toMatchObject({ size: 0, etag: emptyMd5 });
      expect((await bytesAt(key)).length).toBe(0);
    });

    it("put() replaces the object and all of its metadata", async () => {
      const key = freshKey();
      const first = await bucket.put(key, bytesOf(inlineBytesMax + 1), {
        httpMetadata: { contentType: "image/png" },
        customMetadata: { a: "b" },
        storageClass: "InfrequentAccess",
      });
      const { version } = await bucket.put(key, "new");
      const head = await headOf(key);
      expect([head.version, head.size]).toEqual([version, 3]);
      expect(metadataOf(head)).toEqual(noMetadata);
      expect(version).not.toBe(first.version);
      expect(await textOf(key)).toBe("new");
    });

    it.each([
      [10, inlineBytesMax + 10],
      [inlineBytesMax + 10, 10],
      [inlineBytesMax + 10, inlineBytesMax + 20],
    ])("put() replaces %i bytes by %i", async (from, to) => {
      const key = freshKey();
      await bucket.put(key, bytesOf(from, 2));
      await bucket.put(key, bytesOf(to, 3));
      expect(sameBytes(await bytesAt(key), bytesOf(to, 3))).toBe(true);
    });

    it("put() takes every character of a key literally", async () => {
      const base = freshKey();
      const keys = difficultKeys.map((key) => base + key);
      for (const key of keys) await bucket.put(key, key);
      for (const key of keys) {
        const object = await present(bucket.get(key));
        expect([object.key, await object.text()]).toEqual([key, key]);
      }
      const listed = await bucket.list({ prefix: base });
      expect(keysOf(listed).toSorted()).toEqual(keys.toSorted());
    });
  });
}

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

/** What is given, and what is stored of it. */
const httpRows: [name: string, given: unknown, stored: object][] = [
  ["every field", everything, everything],
  ["headers, of which others are ignored", new Headers({ ...asHeaders, etag: '"e"' }), everything],
  ["headers without metadata", new Headers({ "x-other": "1" }), {}],
  // RFC 9111, section 5.3: an invalid date represents a time in the past.
  ["an invalid Expires header", new Headers({ expires: "soon" }), { cacheExpiry: new Date(0) }],
  ["one field", { contentLanguage: "en" }, { contentLanguage: "en" }],
  ["an empty field", { contentType: "" }, { contentType: "" }],
  ["an unknown field, which is ignored", { contentType: "a/b", etag: "x" }, { contentType: "a/b" }],
  [
    "values that are coerced",
    { contentType: 1, contentLanguage: null, cacheControl: {} },
    { contentType: "1", contentLanguage: "null", cacheControl: "[object Object]" },
  ],
  ["a number for cacheExpiry", { cacheExpiry: 1000 }, { cacheExpiry: new Date(1000) }],
];
const customRows: [name: string, given: Record<string, unknown>, stored: object][] = [
  [
    "texts",
    { a: "1", "Mixed-Case": "Value", empty: "", ünï: "世界 😀", z: "\n" },
    { a: "1", "Mixed-Case": "Value", empty: "", ünï: "世界 😀", z: "\n" },
  ],
  [
    "values that are coerced",
    { a: 1, b: null, c: undefined, d: {}, e: true },
    { a: "1", b: "null", c: "undefined", d: "[object Object]", e: "true" },
  ],
];

/** The limit of all metadata of an object, in bytes. Each row is at the limit, and fails with a byte more. */
const limit = 8192;
const limits: Record<string, (extra: number) => StoreMultipartOptions> = {
  "keys and values of 8192 bytes": (extra) => ({
    customMetadata: { key: "v".repeat(limit - 3 + extra) },
  }),
  "a key of 8192 bytes": (extra) => ({ customMetadata: { ["k".repeat(limit + extra)]: "" } }),
  "many entries of 8192 bytes": (extra) => ({
    customMetadata: Object.fromEntries(
      Array.from({ length: 1024 }, (_, index) => [
        String(index).padStart(4, "0"),
        "v".repeat(index === 0 ? 4 + extra : 4),
      ]),
    ),
  }),
  "4096 characters of two bytes": (extra) => ({
    customMetadata: { "": "é".repeat(limit / 2 + extra) },
  }),
  "a content type of 8192 bytes": (extra) => ({
    httpMetadata: { contentType: "t".repeat(limit + extra) },
  }),
  "both kinds, 8192 bytes together": (extra) => ({
    httpMetadata: { contentType: "t".repeat(4096), cacheControl: "c".repeat(1000) },
    customMetadata: { a: "v".repeat(limit - 4096 - 1000 - 1 + extra) },
  }),
};

/** Both ways to store metadata, with the object that results. */
const storing = {
  "put()": async (options: object) => {
    const key = freshKey();
    const object = await bucket.put(key, "x", options);
    expect((await present(bucket.get(key))).httpMetadata).toEqual(object.httpMetadata);
    return object;
  },
  "createMultipartUpload()": async (options: object) => {
    const upload = await bucket.createMultipartUpload(freshKey(), options);
    return upload.complete([await upload.uploadPart(1, "x")]);
  },
};

const headersOf = (object: { writeHttpMetadata(headers: Headers): void }, initial = {}) => {
  const headers = new Headers(initial);
  object.writeHttpMetadata(headers);
  return Object.fromEntries(headers);
};

export function metadataSuite(): void {
  describe("metadata", () => {
    for (const [method, store] of Object.entries(storing)) {
      const rows = [
        ...httpRows.map(
          ([name, given, http]) => [name, { httpMetadata: given }, http, {}] as const,
        ),
        ...customRows.map(([name, given, custom]) => {
          return [`custom ${name}`, { customMetadata: given }, {}, custom] as const;
        }),
      ];
      it.each(rows)(`${method} keeps %s`, async (_, options, http, custom) => {
        const expected = { ...noMetadata, httpMetadata: http, customMetadata: custom };
        const object = await store(options);
        expect(metadataOf(object)).toEqual(expected);
        expect(metadataOf(await headOf(object.key))).toEqual(expected);
      });

      it.each(Object.keys(limits))(`${method} takes metadata: %s`, async (name) => {
        const metadata = limits[name]!(0);
        const { key } = await store(metadata);
        const object = await headOf(key);
        expect(object.customMetadata).toEqual(metadata.customMetadata ?? {});
        expect(object.httpMetadata).toEqual(metadata.httpMetadata ?? {});
      });

      it.each(Object.keys(limits))(`${method} refuses a byte more than %s`, async (name) => {
        const key = freshKey();
        const action = method === "put()" ? "put" : "createMultipartUpload";
        const rest = action === "put" ? ["x", limits[name]!(1)] : [limits[name]!(1)];
        await expect(() => loose[action](key, ...rest)).toFailWith(storeError(action, 10012));
        expect(await bucket.head(key)).toBeNull();
      });
    }

    it("put() refuses too much metadata given as headers, and keeps the old object", async () => {
      const key = freshKey();
      const { version } = await bucket.put(key, "old");
      const httpMetadata = new Headers({ "content-type": "t".repeat(limit + 1) });
      const failure = storeError("put", 10012);
      await expect(() => bucket.put(key, "x", { httpMetadata })).toFailWith(failure);
      const customMetadata = { a: "v".repeat(9216) };
      await expect(() => bucket.put(key, "new", { customMetadata })).toFailWith(failure);
      expect((await headOf(key)).version).toBe(version);
    });

    it("get() returns the given httpMetadata, and the other stored fields", async () => {
      const key = freshKey();
      const stored = { contentType: "a/b", contentLanguage: "en" };
      await bucket.put(key, "x", { httpMetadata: stored });
      const httpMetadata = { contentType: "c/d", cacheControl: "no-store" };
      const object = await present(bucket.get(key, { httpMetadata }));
      expect(object.httpMetadata).toEqual({ ...stored, ...httpMetadata });
      expect(headersOf(object)).toEqual({
        "cache-control": "no-store",
        "content-language": "en",
        "content-type": "c/d",
      });
      expect((await object.blob()).type).toBe("c/d");
      const headers = new Headers(asHeaders);
      const other = await present(bucket.get(key, { httpMetadata: headers }));
      expect(other.httpMetadata).toEqual(everything);
      // What is stored does not change.
      for (const later of [await headOf(key), await present(bucket.get(key))]) {
        expect(later.httpMetadata).toEqual(stored);
      }
    });

    it("writeHttpMetadata() sets the headers, and keeps the others", async () => {
      const key = freshKey();
      const object = await bucket.put(key, "x", { httpMetadata: everything });
      for (const each of [object, await headOf(key), await present(bucket.get(key))]) {
        expect(headersOf(each)).toEqual(asHeaders);
      }
      const initial = { "content-type": "old", "cache-control": "old", x: "1" };
      await bucket.put(key, "x", { httpMetadata: { contentType: "a/b" } });
      expect(headersOf(await headOf(key), initial)).toEqual({ ...initial, "content-type": "a/b" });
      expect(headersOf(await bucket.put(key, "x"))).toEqual({});
    });

    it.each(["a\rb", "a\nb", "a\0b"])("writeHttpMetadata() refuses %j", async (contentType) => {
      const object = await bucket.put(freshKey(), "x", { httpMetadata: { contentType } });
      expect(object.httpMetadata).toEqual({ contentType });
      await expect(() => object.writeHttpMetadata(new Headers())).toFailWith(anyTypeError);
    });

    it.each(["Standard", "InfrequentAccess"] as const)(
      "keeps the class %s",
      async (storageClass) => {
        for (const target of [bucket, env.INFREQUENT]) {
          const key = freshKey();
          expect((await target.put(key, "x", { storageClass })).storageClass).toBe(storageClass);
          const upload = await target.createMultipartUpload(`${key}parts`, { storageClass });
          await upload.complete([await upload.uploadPart(1, "x")]);
          expect((await present(target.head(key))).storageClass).toBe(storageClass);
          expect((await present(target.get(key))).storageClass).toBe(storageClass);
          const { objects } = await target.list({ prefix: key });
          expect(objects.map((object) => object.storageClass)).toEqual([
            storageClass,
            storageClass,
          ]);
        }
      },
    );

    it("put() and createMultipartUpload() use the class of the bucket by default", async () => {
      const key = freshKey();
      expect((await env.INFREQUENT.put(key, "x")).storageClass).toBe("InfrequentAccess");
      const upload = await env.INFREQUENT.createMultipartUpload(key);
      const object = await upload.complete([await upload.uploadPart(1, "x")]);
      expect(object.storageClass).toBe("InfrequentAccess");
    });
  });
}

const algorithms = [
  { field: "md5", name: "MD5", bytes: 16 },
  { field: "sha1", name: "SHA-1", bytes: 20 },
  { field: "sha256", name: "SHA-256", bytes: 32 },
  { field: "sha384", name: "SHA-384", bytes: 48 },
  { field: "sha512", name: "SHA-512", bytes: 64 },
] as const;

export function checksumSuite(): void {
  describe("checksums", () => {
    it("put() computes only the MD5 by default", async () => {
      const key = freshKey();
      const stored = await bucket.put(key, hello.text);
      for (const { checksums } of [stored, await headOf(key)]) {
        expect(toHex(checksums.md5)).toBe(hello.md5);
        expect(checksums.md5).toBeInstanceOf(ArrayBuffer);
        const others = algorithms.slice(1).map(({ field }) => checksums[field]);
        expect(others).toEqual([undefined, undefined, undefined, undefined]);
        expect(checksums.toJSON()).toEqual({ md5: hello.md5 });
      }
    });

    it("put() computes the MD5 of an empty value, and of a value in a file", async () => {
      const md5 = "79b281060d337b9b2b84ccf390adcf74";
      for (const [value, expected] of [
        [null, emptyMd5],
        ["a".repeat(5 * 1024 * 1024), md5],
      ] as const) {
        const stored = await bucket.put(freshKey(), value);
        expect(stored.checksums.toJSON()).toEqual({ md5: expected });
        expect(stored.etag).toBe(expected);
      }
    });

    describe.each(algorithms)("$name", ({ field, name, bytes }) => {
      const hash = hello[field];
      const padded = new Uint8Array([0, ...fromHex(hash), 0]);

      it.each<[form: string, value: NonNullable<StorePutOptions[typeof field]>]>([
        ["hexadecimal", hash],
        ["upper-case hexadecimal", hash.toUpperCase()],
        ["an ArrayBuffer", fromHex(hash).buffer],
        ["a view", padded.subarray(1, -1)],
        ["a DataView", new DataView(padded.buffer, 1, bytes)],
      ])("put() verifies and keeps %s", async (_, value) => {
        const key = freshKey();
        const stored = await bucket.put(key, hello.text, { [field]: value });
        const expected = { md5: hello.md5, [field]: hash };
        expect(stored.checksums.toJSON()).toEqual(expected);
        const object = await present(bucket.get(key));
        expect(object.checksums.toJSON()).toEqual(expected);
        expect(toHex(object.checksums[field])).toBe(hash);
        expect(await object.text()).toBe(hello.text);
      });

      it.each([
        ["hexadecimal", "A".repeat(bytes * 2)],
        ["an ArrayBuffer", new Uint8Array(bytes).fill(0xaa).buffer],
      ])("put() refuses content with another hash than %s", async (_, wrong) => {
        const [key, old] = [freshKey(), freshKey()];
        const { version } = await bucket.put(old, "old");
        const failure = checksumError(name, { given: "aa".repeat(bytes), actual: hash });
        for (const target of [key, old]) {
          await expect(() => bucket.put(target, hello.text, { [field]: wrong })).toFailWith(
            failure,
          );
        }
        expect(await bucket.head(key)).toBeNull();
        expect((await headOf(old)).version).toBe(version);
        expect(await textOf(old)).toBe("old");
      });

      const wrongLength = (given: number) => typeError(`${name} is ${bytes} bytes, not ${given}`);
      const wrongDigits = (given: number) =>
        typeError(`${name} is ${bytes * 2} hex characters, not ${given}`);
      const notHex = typeError(`Provided ${name} wasn't a valid hex string`);
      const wrongType = fieldError(field, "PutOptions", "BufferSource or string");
      it.each([
        ["too short a buffer", new Uint8Array(bytes - 1).buffer, wrongLength(bytes - 1)],
        ["too long a buffer", new Uint8Array(bytes + 1), wrongLength(bytes + 1)],
        ["an empty buffer", new ArrayBuffer(0), wrongLength(0)],
        ["too short a string", hash.slice(1), wrongDigits(bytes * 2 - 1)],
        ["too long a string", `${hash}00`, wrongDigits(bytes * 2 + 2)],
        ["an empty string", "", wrongDigits(0)],
        ["a string that is not hexadecimal", "z".repeat(bytes * 2), notHex],
        ["a string that is not hexadecimal at its end", `${hash.slice(0, -1)}g`, notHex],
        ["a number", 1, wrongType],
        ["null", null, wrongType],
        ["an object", {}, wrongType],
        ["an array", [...fromHex(hash)], wrongType],
      ])("put() refuses %s", async (_, value, failure) => {
        const key = freshKey();
        await expect(() => loose.put(key, hello.text, { [field]: value })).toFailWith(failure);
        expect(await bucket.head(key)).toBeNull();
      });

      it("put() verifies a stream to a file", async () => {
        const [key, content] = [freshKey(), bytesOf(inlineBytesMax * 2)];
        const put = (given: string) => bucket.put(key, streamOf(content), { [field]: given });
        const failure = await failureOf(() => put("00".repeat(bytes)));
        const message = "message" in failure ? failure.message : "";
        expect(message).toMatch(/\(10037\)$/);
        expect(await bucket.head(key)).toBeNull();
        // The message contains the actual hash, with which put() succeeds.
        const actual = /was: ([0-9a-f]+) /.exec(message)?.[1] ?? "";
        expect(actual).toHaveLength(bytes * 2);
        await put(actual);
        expect((await headOf(key)).checksums.toJSON()[field]).toBe(actual);
      });
    });

    it("put() refuses more than one hash, and a detached hash", async () => {
      const key = freshKey();
      const { md5, sha1, sha256, sha512 } = hello;
      const several = typeError("You cannot specify multiple hashing algorithms.");
      for (const options of [
        { md5, sha1 },
        { sha256, sha512 },
        { md5, sha1, sha256 },
      ]) {
        await expect(() => bucket.put(key, hello.text, options)).toFailWith(several);
      }
      const gone = new ArrayBuffer(16);
      structuredClone(gone, { transfer: [gone] });
      const empty = typeError("MD5 is 16 bytes, not 0");
      await expect(() => bucket.put(key, hello.text, { md5: gone })).toFailWith(empty);
      expect(await bucket.head(key)).toBeNull();
    });
  });
}
