import { describe, expect, it } from "vitest";
import { bucketPlace } from "../location.ts";
import { callEntry } from "./entry-fixture.ts";
import { placeOfCall } from "./entry-place.ts";

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
      { view: "ask", name: "example.org", type: "MX" },
    ],
    [
      { kind: "api", place: "example.org" },
      { view: "records", zone: "example.org", search: "", record: null },
    ],
    [{ kind: "api", place: "" }, null],
    [{ kind: "other" }, null],
  ] as const)("leads from %j to %j", (fields, place) => {
    expect(placeOfCall(callEntry(fields))).toEqual(place);
  });
});
