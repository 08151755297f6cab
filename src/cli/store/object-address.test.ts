import { describe, expect, it } from "vitest";
import { parseAddress } from "./object-address.ts";

describe("parseAddress()", () => {
  it("takes everything after the first slash as the key", () => {
    expect(parseAddress("photos/a//b/")).toEqual({ bucket: "photos", key: "a//b/" });
    expect(parseAddress("photos//")).toEqual({ bucket: "photos", key: "/" });
  });

  it.each(["photos", "photos/", "/key", "", `photos/${"x".repeat(1025)}`])("refuses %j", (text) => {
    expect(() => parseAddress(text)).toThrow(/does not name an object|longer than 1024 bytes/);
  });
});
