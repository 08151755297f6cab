import { describe, expect, it } from "vitest";
import { bucketPlace } from "../location.ts";
import { callEntry, requestEntry } from "../fixtures.ts";
import {
  kindName,
  noteOf,
  outcomeText,
  outcomeTone,
  pathOf,
  placeOfCall,
  subjectOf,
  timeText,
} from "./entry-words.ts";

describe("kindName()", () => {
  it.each([
    ["request", "Request"],
    ["kv", "KV"],
    ["durable object", "Durable object"],
    ["analytics_engine", "Analytics engine"],
  ])("of %s is %s", (kind, name) => {
    expect(kindName(kind)).toBe(name);
  });
});

describe("timeText()", () => {
  it("has two digits for each part, and three for milliseconds", () => {
    expect(timeText(new Date(2030, 0, 2, 3, 4, 5, 6).getTime())).toBe("03:04:05.006");
  });
});

describe("pathOf()", () => {
  it.each([
    ["http://localhost:8787/a?b#c", "/a?b#c"],
    ["http://localhost", "http://localhost"],
    ["*/5 * * * *", "*/5 * * * *"],
    ["/a", "/a"],
  ])("of %s is %s", (url, path) => {
    expect(pathOf(url)).toBe(path);
  });
});

describe("a row", () => {
  it.each([
    [callEntry(), "photos/images/a.png"],
    [callEntry({ subject: "" }), "photos"],
    [callEntry({ kind: "query", place: "", subject: "a.test" }), "a.test"],
    [callEntry({ kind: "kv", place: "SETTINGS", subject: "a" }), "SETTINGS a"],
    [callEntry({ subject: "a\u202eb" }), "photos/a\\u202eb"],
    [callEntry({ kind: "edge", place: "", subject: "http://a.test/b" }), "http://a.test/b"],
    [requestEntry(), "/albums?page=2"],
  ])("names its subject", (entry, subject) => {
    expect(subjectOf(entry)).toBe(subject);
  });

  it.each([
    [requestEntry({ status: 404 }), "404", "warning"],
    [requestEntry({ status: 500 }), "500", "bad"],
    [requestEntry({ status: null, outcome: "error" }), "error", "bad"],
    [callEntry({ outcome: "none" }), "not found", "warning"],
    [callEntry(), "ok", "good"],
    [callEntry({ kind: "edge", status: 200 }), "200", "good"],
    [callEntry({ kind: "edge", status: 404 }), "404", "warning"],
    [callEntry({ kind: "edge", status: 530, outcome: "error" }), "530", "bad"],
  ])("has the status or the outcome, in a tone", (entry, text, tone) => {
    expect([outcomeText(entry), outcomeTone(entry)]).toEqual([text, tone]);
  });

  it("says why the request failed", () => {
    const exceptions = [{ name: "RangeError", message: "too far", stack: "at a.ts:1:2" }];
    expect(noteOf(requestEntry({ exceptions }))).toBe("RangeError: too far");
    expect(noteOf(requestEntry({ note: "cancelled" }))).toBe("cancelled");
  });
});

const zoneId = "0123456789abcdef".repeat(2);

describe("placeOfCall()", () => {
  it("leads from a bucket call to the object, in its folder", () => {
    expect(placeOfCall(callEntry({ subject: "a/b/c.png" }))).toEqual({
      ...bucketPlace("photos", "a/b/"),
      key: "a/b/c.png",
    });
  });

  it.each([
    [{ method: "list", subject: "a/" }, bucketPlace("photos", "a/")],
    [{ subject: "" }, bucketPlace("photos")],
    [
      { method: "listMultipartUploads", subject: "" },
      { view: "uploads", bucket: "photos" },
    ],
    [
      { kind: "query", method: "MX", place: "", subject: "example.org" },
      { view: "lookup", name: "example.org", type: "MX" },
    ],
    [
      { kind: "api", subject: `/client/v4/zones/${zoneId}/dns_records?per_page=5` },
      { view: "records", zone: zoneId, search: "", record: null },
    ],
    [
      { kind: "api", subject: `/client/v4/zones/${zoneId}` },
      { view: "records", zone: zoneId, search: "", record: null },
    ],
    [{ kind: "api", subject: "/client/v4/zones?name=example.org" }, { view: "zones" }],
    [{ kind: "api", place: "127.0.0.1:8788", subject: "/client/v4/user" }, null],
    [{ kind: "other" }, null],
  ] as const)("leads from %j to %j", (fields, place) => {
    expect(placeOfCall(callEntry(fields))).toEqual(place);
  });
});
