import { describe, expect, it } from "vitest";
import {
  hashAlgorithms,
  parseChecksum,
  requiredAlgorithms,
  verifyChecksum,
  type HashAlgorithm,
} from "./checksum.ts";
import { StoreError } from "./errors.ts";

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
