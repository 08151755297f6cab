import { describe, expect, it } from "vitest";
import { bucketPlace } from "../location.ts";
import { callEntry } from "./entry-fixture.ts";
import { placeOfCall } from "./entry-place.ts";

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
