import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { explainDifference, isSameFile, parseRecord, type UploadRecord } from "./upload-record.ts";

const record: UploadRecord = {
  project: "photos .ledge",
  bucket: "photos",
  key: "a/report.bin",
  uploadId: "u1",
  name: "report.bin",
  size: 40,
  lastModified: 5,
  partBytes: 16,
};

describe("isSameFile()", () => {
  it("compares name, size and time", () => {
    const file = { name: "report.bin", size: 40, lastModified: 5 };
    expect(isSameFile(record, file)).toBe(true);
    expect(isSameFile(record, { ...file, name: "other.bin" })).toBe(false);
    expect(isSameFile(record, { ...file, size: 41 })).toBe(false);
    expect(isSameFile(record, { ...file, lastModified: 6 })).toBe(false);
  });
});

describe("explainDifference()", () => {
  it("accepts a renamed file, and says how another file differs", () => {
    const file = { name: "renamed.bin", size: 40, lastModified: 5 };
    expect(explainDifference(record, file)).toBeNull();
    expect(explainDifference(record, { ...file, size: 41 })).toContain("has 41 bytes");
    expect(explainDifference(record, { ...file, lastModified: 6 })).toContain("another time");
  });
});

describe("parseRecord()", () => {
  it("reads what JSON.stringify() writes", () => {
    expect(parseRecord(JSON.stringify(record))).toEqual(record);
  });

  it("returns null for any other text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(parseRecord(text)).toBeNull();
      }),
    );
    expect(parseRecord(JSON.stringify({ ...record, partBytes: 0 }))).toBeNull();
    expect(parseRecord(JSON.stringify({ ...record, key: 1 }))).toBeNull();
  });
});
