/** The five hashes: given on put(), verified, and read back. */
import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket, StorePutOptions } from "../../../../src/types/store.ts";
import { bytesOf, emptyMd5, fromHex, hello, inlineBytesMax, toHex } from "./content.ts";
import { checksumError, failureOf, fieldError, typeError } from "./failure.ts";
import { freshKey } from "./key.ts";
import { looseBucket } from "./loose.ts";
import { present } from "./present.ts";
import { streamOf } from "./stream.ts";
import type { Subject } from "./subject.ts";

const algorithms = [
  { field: "md5", name: "MD5", bytes: 16 },
  { field: "sha1", name: "SHA-1", bytes: 20 },
  { field: "sha256", name: "SHA-256", bytes: 32 },
  { field: "sha384", name: "SHA-384", bytes: 48 },
  { field: "sha512", name: "SHA-512", bytes: 64 },
] as const;

export function checksumsSuite(subject: Subject): void {
  describe("checksums", () => {
    let bucket: StoreBucket;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });

    it("put() computes only the MD5 by default", async () => {
      const key = freshKey("checksums");
      const stored = await bucket.put(key, hello.text);
      const head = await present(bucket.head(key));
      for (const { checksums } of [stored, head]) {
        expect(toHex(checksums.md5 ?? new ArrayBuffer(0))).toBe(hello.md5);
        expect(checksums.md5).toBeInstanceOf(ArrayBuffer);
        expect(checksums.sha1).toBeUndefined();
        expect(checksums.sha256).toBeUndefined();
        expect(checksums.sha384).toBeUndefined();
        expect(checksums.sha512).toBeUndefined();
        expect(checksums.toJSON()).toEqual({ md5: hello.md5 });
      }
    });

    it("put() computes the MD5 of an empty value", async () => {
      const stored = await bucket.put(freshKey("checksums"), null);
      expect(stored.checksums.toJSON()).toEqual({ md5: emptyMd5 });
    });

    it("put() computes the MD5 of a value in a file", async () => {
      const stored = await bucket.put(freshKey("checksums"), "a".repeat(5 * 1024 * 1024));
      expect(stored.checksums.toJSON()).toEqual({ md5: "79b281060d337b9b2b84ccf390adcf74" });
      expect(stored.etag).toBe("79b281060d337b9b2b84ccf390adcf74");
    });

    for (const { field, name, bytes } of algorithms) {
      const hash = hello[field];
      const padded = new Uint8Array([0, ...fromHex(hash), 0]);
      const forms: [form: string, value: NonNullable<StorePutOptions[typeof field]>][] = [
        ["hexadecimal", hash],
        ["upper-case hexadecimal", hash.toUpperCase()],
        ["an ArrayBuffer", fromHex(hash).buffer],
        ["a view", padded.subarray(1, -1)],
        ["a DataView", new DataView(padded.buffer, 1, bytes)],
      ];

      for (const [form, value] of forms) {
        it(`put() verifies and keeps ${name} given as ${form}`, async () => {
          const key = freshKey("checksums");
          const options: StorePutOptions = { [field]: value };
          const stored = await bucket.put(key, hello.text, options);
          const expected = { md5: hello.md5, [field]: hash };
          expect(stored.checksums.toJSON()).toEqual(expected);
          const object = await present(bucket.get(key));
          expect(object.checksums.toJSON()).toEqual(expected);
          expect(toHex(object.checksums[field] ?? new ArrayBuffer(0))).toBe(hash);
          expect(await object.text()).toBe(hello.text);
        });
      }

      for (const [form, wrong] of [
        ["hexadecimal", "A".repeat(bytes * 2)],
        ["an ArrayBuffer", new Uint8Array(bytes).fill(0xaa).buffer],
      ] as const) {
        it(`put() refuses content with another ${name} than the one given as ${form}`, async () => {
          const key = freshKey("checksums");
          const failure = checksumError(name, { given: "aa".repeat(bytes), actual: hash });
          const put = () => bucket.put(key, hello.text, { [field]: wrong });
          expect(await failureOf(put)).toEqual(failure);
          expect(await bucket.head(key)).toBeNull();
          const old = await bucket.put(key, "old");
          expect(await failureOf(put)).toEqual(failure);
          expect((await present(bucket.head(key))).version).toBe(old.version);
          expect(await (await present(bucket.get(key))).text()).toBe("old");
        });
      }

      const wrongLength = (given: number) => typeError(`${name} is ${bytes} bytes, not ${given}`);
      const wrongDigits = (given: number) =>
        typeError(`${name} is ${bytes * 2} hex characters, not ${given}`);
      const wrongType = fieldError(field, { on: "PutOptions", type: "BufferSource or string" });
      const refused = [
        ["too short a buffer", new Uint8Array(bytes - 1).buffer, wrongLength(bytes - 1)],
        ["too long a buffer", new Uint8Array(bytes + 1), wrongLength(bytes + 1)],
        ["an empty buffer", new ArrayBuffer(0), wrongLength(0)],
        ["too short a string", hash.slice(1), wrongDigits(bytes * 2 - 1)],
        ["too long a string", `${hash}00`, wrongDigits(bytes * 2 + 2)],
        ["an empty string", "", wrongDigits(0)],
        [
          "a string that is not hexadecimal",
          "z".repeat(bytes * 2),
          typeError(`Provided ${name} wasn't a valid hex string`),
        ],
        [
          "a string that is not hexadecimal at its end",
          `${hash.slice(0, -1)}g`,
          typeError(`Provided ${name} wasn't a valid hex string`),
        ],
        ["a number", 1, wrongType],
        ["null", null, wrongType],
        ["an object", {}, wrongType],
        ["an array", [...fromHex(hash)], wrongType],
      ] as const;
      for (const [form, value, failure] of refused) {
        it(`put() refuses ${form} for ${name}`, async () => {
          const key = freshKey("checksums");
          const put = () => looseBucket(bucket).put(key, hello.text, { [field]: value });
          expect(await failureOf(put)).toEqual(failure);
          expect(await bucket.head(key)).toBeNull();
        });
      }

      it(`put() verifies the ${name} of a stream to a file`, async () => {
        const key = freshKey("checksums");
        const content = bytesOf(inlineBytesMax * 2);
        const wrong = "00".repeat(bytes);
        const result = await failureOf(() =>
          bucket.put(key, streamOf(subject, content), { [field]: wrong }),
        );
        const message = "message" in result ? result.message : "";
        expect(message).toMatch(/\(10037\)$/);
        expect(await bucket.head(key)).toBeNull();
        // The message contains the actual hash, with which put() succeeds.
        const actual = /was: ([0-9a-f]+) /.exec(message)?.[1] ?? "";
        expect(actual).toHaveLength(bytes * 2);
        await bucket.put(key, streamOf(subject, content), { [field]: actual });
        expect((await present(bucket.head(key))).checksums.toJSON()[field]).toBe(actual);
      });
    }

    it("put() refuses more than one hash", async () => {
      const key = freshKey("checksums");
      for (const options of [
        { md5: hello.md5, sha1: hello.sha1 },
        { sha256: hello.sha256, sha512: hello.sha512 },
        { md5: hello.md5, sha1: hello.sha1, sha256: hello.sha256 },
      ]) {
        expect(await failureOf(() => bucket.put(key, hello.text, options))).toEqual(
          typeError("You cannot specify multiple hashing algorithms."),
        );
      }
      expect(await bucket.head(key)).toBeNull();
    });

    it("put() refuses a detached hash", async () => {
      const key = freshKey("checksums");
      const md5 = new ArrayBuffer(16);
      structuredClone(md5, { transfer: [md5] });
      expect(await failureOf(() => bucket.put(key, hello.text, { md5 }))).toEqual(
        typeError("MD5 is 16 bytes, not 0"),
      );
      expect(await bucket.head(key)).toBeNull();
    });

    it("complete() returns an object without an MD5", async () => {
      const key = freshKey("checksums");
      const upload = await bucket.createMultipartUpload(key);
      const object = await upload.complete([await upload.uploadPart(1, hello.text)]);
      expect(object.checksums.md5).toBeUndefined();
      expect(object.checksums.toJSON()).toEqual({});
      expect((await present(bucket.head(key))).checksums.toJSON()).toEqual({});
    });
  });
}
