import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ObjectDetails } from "../../api/buckets.ts";
import { changeOf, draftOf } from "./metadata-draft.ts";

const details = (parts: Partial<ObjectDetails> = {}): ObjectDetails => ({
  key: "a",
  size: 1,
  etag: "e1",
  uploaded: 0,
  storageClass: "Standard",
  contentType: null,
  version: "v1",
  httpMetadata: {},
  customMetadata: {},
  checksums: {},
  hasCustomerKey: false,
  ...parts,
});

describe("changeOf()", () => {
  it("changes nothing of a draft that is not edited, for any metadata", () => {
    const http = fc.record(
      {
        contentType: fc.string({ minLength: 1 }),
        cacheControl: fc.string({ minLength: 1 }),
        cacheExpiry: fc.integer({ min: -6e13, max: 8e15 }),
      },
      { requiredKeys: [] },
    );
    const custom = fc.dictionary(fc.string({ minLength: 1 }), fc.string());
    fc.assert(
      fc.property(http, custom, (httpMetadata, customMetadata) => {
        const object = details({ httpMetadata: { ...httpMetadata }, customMetadata });
        expect(changeOf(draftOf(object), object)).toEqual({
          etag: "e1",
          version: "v1",
          httpMetadata: { ...httpMetadata },
          customMetadata,
          storageClass: "Standard",
        });
      }),
    );
  });

  it("leaves out empty fields, and renames, adds and removes pairs", () => {
    const object = details({
      httpMetadata: { contentType: "text/plain", cacheControl: "no-cache" },
      customMetadata: { old: "1", gone: "2" },
    });
    const change = changeOf(
      {
        texts: { contentType: "text/plain", cacheControl: "" },
        cacheExpiry: "2026-11-16T10:30",
        custom: [
          { id: 0, name: "new", value: "1" },
          { id: 5, name: "__proto__", value: "" },
        ],
        storageClass: "InfrequentAccess",
      },
      object,
    );
    expect(change).toMatchObject({
      httpMetadata: { contentType: "text/plain", cacheExpiry: Date.UTC(2026, 10, 16, 10, 30) },
      storageClass: "InfrequentAccess",
    });
    expect(Object.entries(change.customMetadata)).toEqual([
      ["new", "1"],
      ["__proto__", ""],
    ]);
  });

  it("says which pairs have no name, or the same name", () => {
    const draft = draftOf(details());
    const tryChange =
      (...names: string[]) =>
      () =>
        changeOf(
          { ...draft, custom: names.map((name, id) => ({ id, name, value: "" })) },
          details(),
        );
    expect(tryChange("")).toThrow("no name");
    expect(tryChange("a", "b", "a")).toThrow('the name "a"');
  });
});
