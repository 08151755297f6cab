import { describe, expect, it } from "vitest";
import { presentObject } from "./test-runtime.ts";

const present = (bytes: Uint8Array) =>
  presentObject({ key: "a", bytes, http: {}, custom: {} }).content;
const text = (value: string) => present(new TextEncoder().encode(value));

describe("presentObject()", () => {
  it("shows text, and only the beginning of long text", () => {
    expect(text("two\nlines\t€")).toBe("two\nlines\t€");
    expect(text("")).toBe("");
    expect(text("a".repeat(3000))).toBe(`${"a".repeat(2000)}… <3000 bytes>`);
  });

  it("shows the number of bytes and the first bytes", () => {
    expect(present(Uint8Array.of(1, 2, 255))).toBe("<3 bytes: 01 02 ff>");
    expect(present(new Uint8Array(9))).toBe("<9 bytes: 00 00 00 00 00 00 00 00 …>");
  });

  it("shows cacheExpiry as a time", () => {
    const http = { contentType: "text/plain", cacheExpiry: 0 };
    expect(presentObject({ key: "a", bytes: new Uint8Array(), http, custom: { a: "b" } })).toEqual({
      content: "",
      httpMetadata: { contentType: "text/plain", cacheExpiry: "1970-01-01T00:00:00.000Z" },
      customMetadata: { a: "b" },
    });
  });
});
