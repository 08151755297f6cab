import { describe, expect, it } from "vitest";
import { packHeaders, packedHeader } from "../remote/remote-object.ts";
import {
  contentStart,
  entryOfCustom,
  entryToCustom,
  isExpired,
  metadataBytesMax,
  parseBulkQuery,
  parseEntry,
  parseListQuery,
  validateKey,
  type NamespaceEntry,
} from "./namespace-entry.ts";

function entryAt(given: object): NamespaceEntry {
  const none = { expiration: null, expirationTtl: null, metadata: null };
  return parseEntry({ ...none, ...given }, 1_000_500);
}

describe("entryToCustom()", () => {
  it.each([
    {},
    { expiration: 5 },
    { metadata: '{"a":"é😀"}' },
    { expiration: 5, metadata: "null" },
  ])("keeps %o", (entry) => expect(entryOfCustom(entryToCustom(entry))).toEqual(entry));

  it("has room for the largest metadata in the 2 KB of S3, whatever its characters", () => {
    for (const character of ['"', "\\", "é", "x"]) {
      const repeated = character.repeat(
        metadataBytesMax / new TextEncoder().encode(character).length,
      );
      const headers = packHeaders({
        version: "0".repeat(32),
        uploaded: Date.now(),
        custom: entryToCustom({ expiration: 9_999_999_999, metadata: repeated }),
        http: {},
        storageClass: "Standard",
        checksums: { md5: "0".repeat(32) },
      });
      expect(packedHeader.length + (headers[packedHeader] as string).length).toBeLessThan(2048);
    }
  });
});

it("entryOfCustom() ignores what another writer has stored under the names", () => {
  expect(entryOfCustom({ expiration: "soon", metadata: "no base64!" })).toEqual({});
  expect(entryOfCustom({ metadata: btoa("no JSON") })).toEqual({});
  expect(entryOfCustom(undefined)).toEqual({});
});

it("isExpired() compares whole seconds with the clock", () => {
  expect(isExpired({}, 1e15)).toBe(false);
  expect(isExpired({ expiration: 5 }, 4999)).toBe(false);
  expect(isExpired({ expiration: 5 }, 5000)).toBe(true);
});

it("contentStart() differs for each expiration", () => {
  expect([contentStart({}), contentStart({ expiration: 5 })]).toEqual(["", "5\n"]);
});

describe("parseEntry()", () => {
  it("prefers the time to live, and counts from the whole second", () => {
    expect(entryAt({})).toEqual({});
    expect(entryAt({ expirationTtl: "60", expiration: "1" })).toEqual({ expiration: 1060 });
    expect(entryAt({ expiration: "1060" })).toEqual({ expiration: 1060 });
  });

  it.each([
    [{ expirationTtl: "59" }, "at least 60"],
    [{ expirationTtl: "0" }, "integer greater than 0"],
    [{ expirationTtl: "x" }, "integer greater than 0"],
    [{ expiration: "1000" }, "greater than the current number of seconds"],
    [{ expiration: "1059" }, "at least 60 seconds in the future"],
    [{ metadata: "x".repeat(1025) }, "Metadata length of 1025 exceeds limit of 1024."],
  ])("refuses %o", (given, message) => expect(() => entryAt(given)).toThrow(message));
});

it("parseListQuery() has the default limit, and an empty cursor is the start", () => {
  const query = new URLSearchParams("prefix=a%2F&cursor=");
  expect(parseListQuery(query)).toEqual({ limit: 1000, prefix: "a/" });
  expect(() => parseListQuery(new URLSearchParams("key_count_limit=1001"))).toThrow(
    "less than 1000",
  );
});

it("parseBulkQuery() refuses other types and keys that no value can have", () => {
  expect(parseBulkQuery('{"keys":["a"]}')).toEqual({
    keys: ["a"],
    type: "text",
    withMetadata: false,
  });
  expect(() => parseBulkQuery('{"keys":["a"],"type":"stream"}')).toThrow(
    '"stream" is not a valid type',
  );
  expect(() => parseBulkQuery('{"keys":[".."]}')).toThrow('Illegal key name ".."');
  expect(() => parseBulkQuery('{"keys":["a"],"cacheTtl":"29"}')).toThrow("at least 30");
});

it("validateKey() counts bytes of UTF-8", () => {
  validateKey("é".repeat(256));
  expect(() => validateKey("é".repeat(256) + "x")).toThrow("length of 513 exceeds");
});
