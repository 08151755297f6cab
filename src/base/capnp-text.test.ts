import { describe, expect, it } from "vitest";
import { capnpText, EmbeddedFile, indentedCapnpText } from "./capnp-text.ts";

describe("capnpText()", () => {
  it("writes structs, lists, text and files", () => {
    const value = {
      name: 'a"\n',
      list: [1, true],
      none: undefined,
      file: new EmbeddedFile("a.js"),
    };
    expect(capnpText(value)).toBe('(name = "a\\x22\\x0a", list = [1, true], file = embed "a.js")');
  });
});

describe("indentedCapnpText()", () => {
  it("keeps a short value on a line", () => {
    expect(indentedCapnpText({ name: "a", list: [1, 2] })).toBe('(name = "a", list = [1, 2])');
  });

  it("has a line for each field of a long value", () => {
    const long = "x".repeat(90);
    expect(indentedCapnpText({ services: [{ name: long, text: "short" }], last: 1 })).toBe(
      [
        "(",
        "  services = [",
        "    (",
        `      name = "${long}",`,
        '      text = "short",',
        "    ),",
        "  ],",
        "  last = 1,",
        ")",
      ].join("\n"),
    );
  });
});
