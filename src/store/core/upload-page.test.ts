import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareKeys } from "./key.ts";
import type { UploadPosition, UploadRecord } from "./operations.ts";
import { uploadPage, type ScanUploads } from "./upload-page.ts";

/** Uploads in order: those of one key are in the order of the list. */
function uploadsOf(keys: readonly string[]): UploadRecord[] {
  return keys
    .map((key, index) => ({ key, uploadId: `u${index}`, created: index }))
    .sort((one, other) => compareKeys(one.key, other.key) || one.created - other.created)
    .map((upload) => ({ ...upload, storageClass: "Standard" }));
}

function scanOf(uploads: readonly UploadRecord[]): ScanUploads {
  const index = (id: string) => uploads.findIndex((upload) => upload.uploadId === id);
  return ({ from, end }) => {
    const isAfter = ({ key, uploadId }: UploadRecord): boolean => {
      const order = compareKeys(key, from.key);
      if (order !== 0) return order > 0;
      if (from.uploadId === undefined) return from.inclusive;
      return index(uploadId) > index(from.uploadId);
    };
    return uploads.filter(
      (upload) => isAfter(upload) && (end === null || compareKeys(upload.key, end) < 0),
    );
  };
}

const uploads = uploadsOf(["b", "a/1", "a/2", "b", "c/x/1", "a/1", "d"]);
const list = (request: Partial<Parameters<typeof uploadPage>[0]>) => {
  const page = uploadPage({ prefix: "", limit: 1000, ...request }, scanOf(uploads));
  return { ...page, uploads: page.uploads.map(({ key, uploadId }) => `${key} ${uploadId}`) };
};

describe("uploadPage()", () => {
  it("rolls keys up at the first delimiter after the prefix", () => {
    expect(list({ delimiter: "/" })).toEqual({
      uploads: ["b u0", "b u3", "d u6"],
      prefixes: ["a/", "c/"],
      truncated: false,
    });
    expect(list({ prefix: "c/", delimiter: "/" }).prefixes).toEqual(["c/x/"]);
    expect(list({ prefix: "a/", delimiter: "/" }).uploads).toEqual(["a/1 u1", "a/1 u5", "a/2 u2"]);
  });

  it("continues after a key, after an upload, and after a prefix", () => {
    expect(list({ after: { key: "a/1" } }).uploads[0]).toBe("a/2 u2");
    expect(list({ after: { key: "a/1", uploadId: "u1" } }).uploads[0]).toBe("a/1 u5");
    expect(list({ after: { key: "a/" }, delimiter: "/" }).prefixes).toEqual(["c/"]);
    expect(list({ after: { key: "a/" } }).uploads[0]).toBe("a/1 u1");
    expect(list({ after: { key: "A" }, prefix: "b" }).uploads).toEqual(["b u0", "b u3"]);
  });

  it("lists each upload and each prefix once, in pages of any size", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom("a", "b", "/", "é"), maxLength: 4 })),
        fc.constantFrom("", "/", "a/"),
        fc.constantFrom("", "a", "b/"),
        fc.integer({ min: 1, max: 5 }),
        (keys, delimiter, prefix, limit) => {
          const scan = scanOf(uploadsOf(keys));
          const whole = uploadPage({ prefix, delimiter, limit: 1000 }, scan);
          const seen = { uploads: [] as UploadRecord[], prefixes: [] as string[] };
          let after: UploadPosition | undefined;
          do {
            const page = uploadPage({ prefix, delimiter, limit, ...(after && { after }) }, scan);
            seen.uploads.push(...page.uploads);
            seen.prefixes.push(...page.prefixes);
            expect(page.truncated).toBe(page.next !== undefined);
            after = page.next;
          } while (after !== undefined);
          expect(seen).toEqual({ uploads: whole.uploads, prefixes: whole.prefixes });
        },
      ),
    );
  });
});
