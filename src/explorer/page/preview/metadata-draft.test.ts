import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ObjectDetails } from "../../api/buckets.ts";
import {
  changeOf,
  draftBytes,
  draftOf,
  draftProblems,
  hasProblems,
  isChanged,
  rebaseDraft,
} from "./metadata-draft.ts";

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
    const text = fc.option(fc.string({ minLength: 1 }), { nil: undefined });
    const http = fc.record(
      {
        contentType: text,
        cacheControl: text,
        cacheExpiry: fc.integer({ min: -6e13, max: 8e15 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(http, fc.dictionary(fc.string(), fc.string()), (httpMetadata, customMetadata) => {
        const object = details({
          httpMetadata: JSON.parse(JSON.stringify(httpMetadata)),
          customMetadata,
        });
        const draft = draftOf(object);
        expect(isChanged(draft, object)).toBe(false);
        expect(changeOf(draft, object)).toEqual({
          etag: "e1",
          version: "v1",
          httpMetadata: object.httpMetadata,
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
    const draft = {
      ...draftOf(object),
      cacheControl: "",
      cacheExpiry: "2026-11-16T10:30",
      custom: [
        { id: 0, name: "new", value: "1" },
        { id: 5, name: "__proto__", value: "" },
      ],
      storageClass: "InfrequentAccess" as const,
    };
    expect(isChanged(draft, object)).toBe(true);
    const change = changeOf(draft, object);
    expect(change.httpMetadata).toEqual({
      contentType: "text/plain",
      cacheExpiry: Date.UTC(2026, 10, 16, 10, 30),
    });
    expect(Object.entries(change.customMetadata)).toEqual([
      ["new", "1"],
      ["__proto__", ""],
    ]);
    expect(change.storageClass).toBe("InfrequentAccess");
  });
});

describe("draftProblems()", () => {
  const draft = draftOf(details());

  it("finds line breaks in headers, and dates that cannot be read", () => {
    const problems = draftProblems({ ...draft, contentType: "a\nb", cacheExpiry: "soon" });
    expect(Object.keys(problems.fields)).toEqual(["contentType", "cacheExpiry"]);
    expect(hasProblems(problems)).toBe(true);
    expect(hasProblems(draftProblems(draft))).toBe(false);
  });

  it("finds pairs without a name, and names that occur twice", () => {
    const custom = [
      { id: 1, name: "a", value: "" },
      { id: 2, name: "", value: "b" },
      { id: 3, name: "a", value: "c" },
    ];
    expect([...draftProblems({ ...draft, custom }).pairs.keys()]).toEqual([2, 3]);
  });

  it("finds metadata above the limit, in bytes", () => {
    const custom = [{ id: 0, name: "é", value: "x".repeat(8190) }];
    expect(draftBytes({ ...draft, custom })).toBe(8192);
    expect(draftProblems({ ...draft, custom }).whole).toBeNull();
    expect(draftProblems({ ...draft, custom, contentType: "x" }).whole).toContain("8193 bytes");
  });
});

describe("rebaseDraft()", () => {
  it("keeps what was typed, and takes the rest of the object as it is now", () => {
    const from = details({
      httpMetadata: { contentType: "text/plain", cacheControl: "no-cache" },
      customMetadata: { a: "1" },
    });
    const to = details({
      etag: "e2",
      version: "v2",
      httpMetadata: { contentType: "text/css", cacheControl: "no-store" },
      customMetadata: { b: "2" },
    });
    const typed = { ...draftOf(from), contentType: "text/html" };
    const draft = rebaseDraft(typed, { from, to });
    expect(changeOf(draft, to)).toEqual({
      etag: "e2",
      version: "v2",
      httpMetadata: { contentType: "text/html", cacheControl: "no-store" },
      customMetadata: { b: "2" },
      storageClass: "Standard",
    });
    const edited = { ...typed, custom: [{ id: 0, name: "a", value: "9" }] };
    expect(rebaseDraft(edited, { from, to }).custom).toEqual(edited.custom);
  });
});
