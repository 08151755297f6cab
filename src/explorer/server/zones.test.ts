import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CallError } from "./call.ts";
import { recordApiUrl } from "./zones.ts";

const api = "http://127.0.0.1:8788";

describe("recordApiUrl()", () => {
  it("puts the path of a call below the root of the record API", () => {
    const { href } = recordApiUrl(api, "zones/0123/dns_records?name=a%2Fb");
    expect(href).toBe(`${api}/client/v4/zones/0123/dns_records?name=a%2Fb`);
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
    "zones#x",
    "zones\\..\\x",
  ])("refuses %j", (rest) => {
    expect(() => recordApiUrl(api, rest)).toThrow("not a path of the record API");
  });

  it("leaves the root for no text", () => {
    const piece = fc.oneof(
      fc.constantFrom("..", ".", "/", "\\", "%2e", "%2F", "%5C", "?", "#", "zones", "\t", "%00"),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        let url: URL | null = null;
        try {
          url = recordApiUrl(api, pieces.join(""));
        } catch (error) {
          if (!(error instanceof CallError)) throw error;
        }
        expect(url?.href.startsWith(`${api}/client/v4/`) ?? true).toBe(true);
      }),
    );
  });
});
