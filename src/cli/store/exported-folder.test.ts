import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ChecksumAlgorithm, Checksums } from "../../store/core/checksum.ts";
import type { DescribedObject } from "../../store/core/operations.ts";
import {
  checkHeader,
  decodeEntry,
  encodeEntry,
  exportedForm,
  manifestHeader,
  readManifest,
  writeExport,
} from "./exported-folder.ts";

const record: fc.Arbitrary<DescribedObject> = fc.record({
  key: fc.string({ unit: "grapheme", minLength: 1 }),
  version: fc.string(),
  size: fc.nat(),
  etag: fc.string(),
  uploaded: fc.nat(),
  checksums: fc.record({ md5: fc.string(), sha1: fc.string() }, { requiredKeys: [] }),
  s3Checksums: fc.record({ crc32: fc.string(), sha256: fc.string() }, { requiredKeys: [] }),
  storageClass: fc.constantFrom("Standard", "InfrequentAccess"),
  http: fc.record(
    { contentType: fc.string(), cacheControl: fc.string(), cacheExpiry: fc.nat() },
    { requiredKeys: [] },
  ),
  custom: fc.dictionary(fc.string(), fc.string()),
});

describe("decodeEntry()", () => {
  it("round-trips, except for the version and the time of the upload", () => {
    fc.assert(
      fc.property(record, fc.constantFrom("a/b", ".ledge-keys/0"), (object, path) => {
        const place = { path, partBytes: object.size + 1 };
        const line = encodeEntry(object, place);
        const { version: _, uploaded: __, ...kept } = object;
        expect(line).not.toContain("\n");
        expect(decodeEntry(line, 2)).toEqual(JSON.parse(JSON.stringify({ ...kept, ...place })));
      }),
    );
  });

  const complete = { key: "a", size: 1, etag: "e", storageClass: "Standard" };
  it.each([
    ["5", "is not a JSON object"],
    ["{", "is not a JSON object"],
    ["{}", "is not a complete entry"],
    [JSON.stringify({ ...complete, size: "1" }), "is not a complete entry"],
    [JSON.stringify({ ...complete, storageClass: "x" }), "is not a complete entry"],
    [JSON.stringify({ ...complete, customMetadata: { a: 1 } }), "is not a complete entry"],
    [JSON.stringify({ ...complete, httpMetadata: { other: "x" } }), "is not a complete entry"],
    [
      JSON.stringify({ ...complete, httpMetadata: { cacheExpiry: "x" } }),
      "is not a complete entry",
    ],
    [JSON.stringify({ ...complete, s3Checksums: { sha512: "x" } }), "is not a complete entry"],
    [JSON.stringify({ ...complete, partBytes: 0 }), "is not a complete entry"],
    [JSON.stringify({ ...complete, size: 20_000, partBytes: 1 }), "is not a complete entry"],
    [JSON.stringify({ ...complete, path: "../a" }), "names a file outside"],
    [JSON.stringify({ ...complete, path: "/a" }), "names a file outside"],
    [JSON.stringify({ ...complete, path: "a\\..\\b" }), "names a file outside"],
  ])("refuses %s", (line, problem) => {
    expect(() => decodeEntry(line, 7)).toThrow(`Line 7 of the manifest ${problem}`);
  });
});

describe("checkHeader()", () => {
  it("refuses another version", () => {
    expect(() => checkHeader(manifestHeader)).not.toThrow();
    expect(() => checkHeader('{"format":"ledge store export","version":2}')).toThrow(
      "Ledge does not know",
    );
  });
});

describe("writeExport()", () => {
  const [sample] = fc.sample(record, { numRuns: 1, seed: 1 }) as [DescribedObject];

  it("writes a manifest, which appears when the export is complete", async () => {
    const folder = mkdtempSync(join(tmpdir(), "ledge-unit-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const keys = Array.from({ length: 100 }, (_, index) => `${index}`);
    const failed = writeExport(folder, async ({ addEntry }) => {
      addEntry(sample, { path: "x" });
      throw new Error("broken off");
    });
    await expect(failed).rejects.toThrow("broken off");
    expect(readdirSync(folder)).toEqual([]);
    await writeExport(folder, async ({ addEntry }) => {
      for (const key of keys) addEntry({ ...sample, key }, { path: key });
    });
    const written = [];
    for await (const { key } of readManifest(folder)) written.push(key);
    expect(written).toEqual(keys);
  });
});

/** A file with these checksums, of which nothing else is asked. */
const file = (checksums: Checksums, etag = "") => ({
  checksums: async (algorithms: readonly ChecksumAlgorithm[]): Promise<Checksums> =>
    Object.fromEntries(algorithms.map((algorithm) => [algorithm, checksums[algorithm]])),
  multipartEtag: async (partBytes: number) => `${etag}-${partBytes}`,
});

describe("exportedForm()", () => {
  it("is nothing for an object that only has an md5", async () => {
    expect(await exportedForm({ etag: "m", checksums: { md5: "m" } }, file({}))).toBeNull();
  });

  it("names the checksums of the whole content", async () => {
    const checksums = { md5: "m", sha512: "s" };
    const s3Checksums = { crc32: "c" };
    const entry = { etag: "m", checksums, s3Checksums };
    expect(await exportedForm(entry, file({ ...checksums, ...s3Checksums }))).toEqual({
      etag: "m",
      checksums: { ...checksums, ...s3Checksums },
      form: { algorithms: ["sha512", "crc32"] },
    });
    expect(await exportedForm(entry, file({ ...checksums, crc32: "other" }))).toBeNull();
    expect(await exportedForm(entry, file({ ...checksums, ...s3Checksums, md5: "x" }))).toBeNull();
  });

  it.each([
    ["a composite checksum", { sha256: "s-2" }, "composite"],
    ["a checksum of the whole content", { crc64nvme: "c" }, "full object"],
  ])("names the parts and %s of an upload", async (_, s3Checksums, checksumType) => {
    const entry = { etag: "e-5", checksums: {}, s3Checksums, partBytes: 5 };
    const [[algorithm, hex]] = Object.entries(s3Checksums) as [[string, string]];
    const checksum = { algorithm, hex };
    expect(await exportedForm(entry, file({}, "e"))).toEqual({
      etag: "e-5",
      checksums: s3Checksums,
      form: {
        algorithms: [algorithm],
        upload: { partBytes: 5, checksumAlgorithm: algorithm, checksumType, checksum },
      },
    });
    // The file has changed.
    expect(await exportedForm(entry, file({}, "other"))).toBeNull();
  });

  it("names the parts of an upload without checksums", async () => {
    const entry = { etag: "e-5", checksums: {}, partBytes: 5 };
    expect(await exportedForm(entry, file({}, "e"))).toMatchObject({
      form: { algorithms: [], upload: { partBytes: 5 } },
    });
  });
});
