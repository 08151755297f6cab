import { describe, expect, it } from "vitest";
import type { ChecksumAlgorithm, Checksums } from "../../../store/core/checksum.ts";
import { exportedForm } from "./exported-form.ts";

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
