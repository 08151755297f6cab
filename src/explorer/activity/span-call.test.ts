import { describe, expect, it } from "vitest";
import { questionOf } from "./span-call.ts";

const read = (query: string) => questionOf(new URLSearchParams(query));

describe("questionOf()", () => {
  it("reads the JSON form", () => {
    expect(read("name=example.org&type=aaaa")).toEqual({ name: "example.org", type: "AAAA" });
    expect(read("name=example.org")).toEqual({ name: "example.org", type: "A" });
    expect(read("name=example.org&type=15")).toEqual({ name: "example.org", type: "MX" });
  });

  it("reads a message of RFC 8484, section 4.1.1", () => {
    expect(read("dns=AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB")).toEqual({
      name: "www.example.com",
      type: "A",
    });
  });

  it("knows no question in other addresses", () => {
    for (const query of ["", "dns=", "dns=AAAA", "dns=%00", "type=A"]) {
      expect(read(query)).toBeNull();
    }
  });
});
