import { describe, expect, it } from "vitest";
import {
  checksumText,
  hashAlgorithms,
  parseChecksum,
  requiredAlgorithms,
  verifyChecksum,
  type HashAlgorithm,
  type ChecksumType,
  type S3ChecksumAlgorithm,
  checksumsOfUpload,
  resolveUploadChecksum,
} from "./checksum.ts";
import { StoreError } from "./errors.ts";
import { createHash, hash } from "node:crypto";
import * as fc from "fast-check";
import { crcOf } from "./hash.ts";

const algorithms = [
  { algorithm: "md5", name: "MD5", bytes: 16 },
  { algorithm: "sha1", name: "SHA-1", bytes: 20 },
  { algorithm: "sha256", name: "SHA-256", bytes: 32 },
  { algorithm: "sha384", name: "SHA-384", bytes: 48 },
  { algorithm: "sha512", name: "SHA-512", bytes: 64 },
] as const;

it("hashAlgorithms are those of the specification, in its order", () => {
  expect(Object.keys(hashAlgorithms)).toStrictEqual(algorithms.map(({ algorithm }) => algorithm));
});

describe.for(algorithms)("parseChecksum() of $name", ({ algorithm, name, bytes }) => {
  const hex = "0f".repeat(bytes);

  it("takes bytes", () => {
    expect(parseChecksum(algorithm, new Uint8Array(bytes).fill(15))).toStrictEqual({
      algorithm,
      hex,
    });
  });

  it("takes hexadecimal digits of either case, and gives lower case", () => {
    expect(parseChecksum(algorithm, hex)).toStrictEqual({ algorithm, hex });
    expect(parseChecksum(algorithm, hex.toUpperCase())).toStrictEqual({ algorithm, hex });
  });

  it.each([0, bytes - 1, bytes + 1, bytes * 2])("refuses %i bytes", (length) => {
    expect(() => parseChecksum(algorithm, new Uint8Array(length))).toThrow(
      new TypeError(`${name} is ${bytes} bytes, not ${length}`),
    );
  });

  it.each([0, bytes, bytes * 2 - 1, bytes * 2 + 1])("refuses %i digits", (length) => {
    expect(() => parseChecksum(algorithm, "0".repeat(length))).toThrow(
      new TypeError(`${name} is ${bytes * 2} hex characters, not ${length}`),
    );
  });

  it.each(["g", "G", " ", "-", "\n", "\u0661"])("refuses text with %j in it", (character) => {
    for (const text of [character + hex.slice(1), hex.slice(1) + character]) {
      expect(() => parseChecksum(algorithm, text)).toThrow(
        new TypeError(`Provided ${name} wasn't a valid hex string`),
      );
    }
  });
});

describe.for(algorithms)("verifyChecksum() of $name", ({ algorithm, name }) => {
  const actual = { md5: "aa", sha1: "aa", sha256: "aa", sha384: "aa", sha512: "aa" };

  it("takes the hash that the content has", () => {
    expect(() => verifyChecksum({ algorithm, hex: "aa" }, actual)).not.toThrow();
  });

  it("refuses another hash, and shows both", () => {
    expect(() =>
      verifyChecksum({ algorithm, hex: "aa" }, { ...actual, [algorithm]: "bb" }),
    ).toThrow(
      new StoreError(
        10037,
        `The ${name} checksum you specified did not match what we received.\n` +
          `You provided a ${name} checksum with value: aa\n` +
          `Actual ${name} was: bb`,
      ),
    );
  });
});

it.each([
  ["3610a686", "adf3f363", "NhCmhg==", "rfPzYw=="],
  ["3610a686-2", "3610a686-3", "NhCmhg==-2", "NhCmhg==-3"],
])("verifyChecksum() shows %s and %s as S3 writes them", (hex, computed, given, actual) => {
  expect(() =>
    verifyChecksum({ algorithm: "crc32", hex }, { crc32: computed }, checksumText),
  ).toThrow(`You provided a CRC32 checksum with value: ${given}\nActual CRC32 was: ${actual}`);
});

it("verifyChecksum() takes any content when no hash is expected", () => {
  expect(() => verifyChecksum(undefined, {})).not.toThrow();
});

it("verifyChecksum() fails for an expected hash that was not computed", () => {
  expect(() => verifyChecksum({ algorithm: "sha1", hex: "aa" }, { md5: "aa" })).toThrow(
    new Error("Cannot verify sha1: it was not computed"),
  );
});

it.each<[HashAlgorithm | undefined, HashAlgorithm[]]>([
  [undefined, ["md5"]],
  ["md5", ["md5"]],
  ["sha1", ["md5", "sha1"]],
  ["sha256", ["md5", "sha256"]],
  ["sha384", ["md5", "sha384"]],
  ["sha512", ["md5", "sha512"]],
])("requiredAlgorithms() for %s are %j", (given, required) => {
  const expected = given === undefined ? undefined : { algorithm: given, hex: "" };
  expect(requiredAlgorithms(expected)).toStrictEqual(required);
});

const s3Algorithms = ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"] as const;

function digest(algorithm: S3ChecksumAlgorithm, bytes: Uint8Array): string {
  return algorithm === "sha1" || algorithm === "sha256"
    ? hash(algorithm, bytes)
    : crcOf(algorithm, bytes);
}

const partOf = (bytes: Uint8Array) => ({
  size: bytes.length,
  checksums: Object.fromEntries(s3Algorithms.map((each) => [each, digest(each, bytes)])),
});
const parts = [partOf(Uint8Array.of(1, 2, 3)), partOf(Uint8Array.of(4))];
const whole = Uint8Array.of(1, 2, 3, 4);

describe("resolveUploadChecksum()", () => {
  it.each<[S3ChecksumAlgorithm, ChecksumType]>([
    ["crc32", "composite"],
    ["crc32c", "composite"],
    ["crc64nvme", "full object"],
    ["sha1", "composite"],
    ["sha256", "composite"],
  ])("gives %s the type %s", (checksumAlgorithm, checksumType) => {
    expect(resolveUploadChecksum({ checksumAlgorithm })).toEqual({
      checksumAlgorithm,
      checksumType,
    });
  });

  it("takes the type that the request names", () => {
    const named = { checksumAlgorithm: "crc32", checksumType: "full object" } as const;
    expect(resolveUploadChecksum(named)).toEqual(named);
    expect(resolveUploadChecksum({})).toEqual({});
  });

  it.each([
    [
      { checksumAlgorithm: "sha256", checksumType: "full object" },
      "The FULL_OBJECT checksum type cannot be used with the sha256 checksum algorithm.",
    ],
    [
      { checksumAlgorithm: "crc64nvme", checksumType: "composite" },
      "The COMPOSITE checksum type cannot be used with the crc64nvme checksum algorithm.",
    ],
    [
      { checksumType: "composite" },
      "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.",
    ],
  ] as const)("refuses %j", (checksum, text) => {
    expect(() => resolveUploadChecksum(checksum)).toThrow(new StoreError(200002, text));
  });
});

describe("checksumsOfUpload()", () => {
  it("is empty without an algorithm", () => {
    expect(checksumsOfUpload({}, parts)).toEqual({});
  });

  it.each(["crc32", "crc32c", "crc64nvme"] as const)("combines the %s of the parts", (each) => {
    const upload = { checksumAlgorithm: each, checksumType: "full object" } as const;
    expect(checksumsOfUpload(upload, parts)).toEqual({ [each]: crcOf(each, whole) });
  });

  it.each(["crc32", "crc32c", "sha1", "sha256"] as const)(
    "composes the %s of the parts",
    (each) => {
      const digests = parts.map(({ checksums }) => Buffer.from(checksums[each] as string, "hex"));
      const composite = `${digest(each, Buffer.concat(digests))}-2`;
      const upload = { checksumAlgorithm: each, checksumType: "composite" } as const;
      expect(checksumsOfUpload(upload, parts)).toEqual({ [each]: composite });
      const given = (hex: string) => ({ checksum: { algorithm: each, hex } });
      expect(checksumsOfUpload({}, parts, given(composite))).toEqual({ [each]: composite });
      // minio-go leaves out the number of the parts.
      const bare = given(composite.replace("-2", ""));
      expect(checksumsOfUpload(upload, parts, bare)).toEqual({ [each]: composite });
      expect(checksumsOfUpload({}, parts, { ...bare, checksumType: "composite" })).toEqual({
        [each]: composite,
      });
      const other = given(composite.replace(/^./, (digit) => (digit === "0" ? "1" : "0")));
      for (const hex of [
        other.checksum.hex,
        other.checksum.hex.replace("-2", ""),
        `${bare.checksum.hex}-3`,
      ]) {
        expect(() => checksumsOfUpload(upload, parts, given(hex))).toThrow(
          expect.objectContaining({ code: 10037 }),
        );
      }
    },
  );

  it("is empty when a part was uploaded without the checksum", () => {
    const upload = { checksumAlgorithm: "sha256", checksumType: "composite" } as const;
    expect(checksumsOfUpload(upload, [...parts, { size: 1, checksums: {} }])).toEqual({});
  });

  it("refuses another checksum than expected", () => {
    const checksum = { algorithm: "crc32", hex: "00000000" } as const;
    expect(() => checksumsOfUpload({}, parts, { checksum })).toThrow(
      expect.objectContaining({
        code: 10037,
        message: expect.stringContaining("You provided a CRC32 checksum with value: AAAAAA=="),
      }),
    );
  });

  it.each([
    { algorithm: "sha256", hex: createHash("sha256").update(whole).digest("hex") },
    { algorithm: "md5", hex: "0".repeat(32) },
  ] as const)("refuses %j, which the parts do not give", (checksum) => {
    expect(() => checksumsOfUpload({}, parts, { checksum })).toThrow(
      expect.objectContaining({ code: 200002 }),
    );
  });

  it("refuses another type than the upload's", () => {
    const upload = { checksumAlgorithm: "crc32", checksumType: "full object" } as const;
    const error = new StoreError(
      200002,
      "The upload was created using the FULL_OBJECT checksum mode. The complete request must use " +
        "the same checksum mode.",
    );
    const checksum = { algorithm: "crc32", hex: `${crcOf("crc32", whole)}-2` } as const;
    expect(() => checksumsOfUpload(upload, parts, { checksum })).toThrow(error);
    expect(() => checksumsOfUpload(upload, parts, { checksumType: "composite" })).toThrow(error);
    const composite = { ...upload, checksumType: "composite" } as const;
    expect(() => checksumsOfUpload(composite, parts, { checksumType: "full object" })).toThrow(
      "created using the COMPOSITE checksum mode",
    );
    expect(checksumsOfUpload(upload, parts, { checksumType: "full object" })).toEqual({
      crc32: crcOf("crc32", whole),
    });
  });

  it("verifies the full CRC of any division", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 30 }), { minLength: 1 }),
        fc.constantFrom("crc32", "crc32c", "crc64nvme"),
        (pieces, algorithm) => {
          const hex = crcOf(algorithm, Buffer.concat(pieces));
          const checksum = { algorithm, hex };
          expect(checksumsOfUpload({}, pieces.map(partOf), { checksum })).toEqual({
            [algorithm]: hex,
          });
        },
      ),
    );
  });
});
