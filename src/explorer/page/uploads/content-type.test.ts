import { describe, expect, it } from "vitest";
import { contentTypeOf } from "./content-type.ts";

describe("contentTypeOf()", () => {
  it("is the type that the browser knows", () => {
    expect(contentTypeOf({ name: "a.md", type: "image/png" })).toBe("image/png");
  });

  it("is the type of the extension where the browser knows none", () => {
    expect(contentTypeOf({ name: "notes.MD", type: "" })).toBe("text/markdown");
    expect(contentTypeOf({ name: "archive.tar.gz", type: "" })).toBe("application/gzip");
  });

  it("does not take the source of a program for a video", () => {
    expect(contentTypeOf({ name: "index.ts", type: "video/mp2t" })).toBe("text/plain");
  });

  it("is undefined for an unknown extension, and for names of an object's properties", () => {
    expect(contentTypeOf({ name: "data.bin9", type: "" })).toBeUndefined();
    expect(contentTypeOf({ name: "a.constructor", type: "" })).toBeUndefined();
    expect(contentTypeOf({ name: "Makefile", type: "" })).toBeUndefined();
  });
});
