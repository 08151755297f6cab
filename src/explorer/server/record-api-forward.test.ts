import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordApiPath } from "./record-api-forward.ts";

describe("recordApiPath()", () => {
  it("puts the path of a call below the root of the record API", () => {
    expect(recordApiPath("zones/0123/dns_records")).toBe("/client/v4/zones/0123/dns_records");
  });

  it.each([
    "",
    "..",
    "zones/../../../ledge/faults",
    "zones/%2e%2e/%2E./x",
    "zones/..%2f..%2fledge",
    "zones/%5c..%5cledge",
    "//example.com/x",
    "zones//x",
    "zones/",
    "zones?x=1",
    "zones#x",
    "%",
    "zones\\..\\x",
  ])("refuses %j", (rest) => {
    expect(recordApiPath(rest)).toBeNull();
  });

  it("leaves the root for no text", () => {
    const piece = fc.oneof(
      fc.constantFrom("..", ".", "/", "\\", "%2e", "%2F", "%5C", "?", "#", "zones", "\t", "%00"),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const path = recordApiPath(pieces.join(""));
        if (path === null) return;
        const { pathname, search, hash, host } = new URL(path, "http://server");
        expect({ pathname, search, hash, host }).toEqual({
          pathname: path,
          search: "",
          hash: "",
          host: "server",
        });
        expect(path.startsWith("/client/v4/")).toBe(true);
      }),
    );
  });
});
