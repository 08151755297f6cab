import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contentKind, decodeText, hexLines, indentJson } from "./content-kind.ts";

const encoder = new TextEncoder();
const latin1 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "latin1"));
const kindOf = (key: string, contentType: string | null, head: string | Uint8Array = "text") =>
  contentKind({ key, contentType }, typeof head === "string" ? encoder.encode(head) : head);

describe("contentKind()", () => {
  it("goes by the content type", () => {
    const cases: [string, string][] = [
      ["image/png", "image"],
      ["IMAGE/PNG; q=1", "image"],
      ["image/svg+xml", "image"],
      ["audio/mpeg", "audio"],
      ["video/mp4", "video"],
      ["application/pdf", "pdf"],
      ["application/json; charset=utf-8", "text"],
      ["application/ld+json", "text"],
      ["application/x-ndjson", "text"],
      ["application/vnd.openxmlformats-officedocument.x", "hex"],
      ["text/plain", "text"],
      ["text/x-unknown", "text"],
    ];
    for (const [contentType, kind] of cases) {
      expect(
        kindOf("k", contentType, kind === "hex" ? latin1("PK\x03\x04") : "text"),
      ).toMatchObject({ kind });
    }
  });

  it("shows HTML as text, by any evidence", () => {
    const html = "<!doctype html><script>alert(1)</script>";
    for (const [key, type] of [
      ["a", "text/html"],
      ["a", "application/xhtml+xml"],
      ["a.html", "application/octet-stream"],
      ["a.html", null],
    ] as const) {
      expect(kindOf(key, type, html)).toMatchObject({ kind: "text", language: "html" });
    }
    expect(kindOf("a", null, html)).toMatchObject({ kind: "text" });
  });

  it("goes by the first bytes if the content type says nothing", () => {
    const cases: [string, string][] = [
      ["\x89PNG\r\n\x1a\n", "image"],
      ["\xff\xd8\xff\xe0", "image"],
      ["RIFF....WEBPVP8 ", "image"],
      ["RIFF....WAVEfmt ", "audio"],
      ["ID3\x04", "audio"],
      ["\0\0\0 ftypisom", "video"],
      ["\0\0\0 ftypavif", "image"],
      ["\x1a\x45\xdf\xa3", "video"],
      ["\0\x01\x02", "hex"],
      ["\xff\xfe\xfd", "hex"],
    ];
    for (const [head, kind] of cases) {
      expect(kindOf("k", "application/octet-stream", latin1(head))).toMatchObject({ kind });
    }
  });

  it("names the content type that a document needs", () => {
    const pdf = { kind: "hex", neededType: "application/pdf" };
    expect(kindOf("a.pdf", null, "%PDF-1.7")).toMatchObject(pdf);
    expect(kindOf("a", "application/pdf; x=1", "%PDF-1.7")).toMatchObject(pdf);
    expect(kindOf("a.svg", "binary/octet-stream", "<svg/>")).toMatchObject({
      kind: "text",
      neededType: "image/svg+xml",
    });
  });

  it("goes by the extension for texts", () => {
    expect(kindOf("a/b.JSON", null)).toMatchObject({ kind: "text", language: "json" });
    expect(kindOf("a/b.json", "text/plain")).toMatchObject({ kind: "text", language: "json" });
    expect(kindOf("a/b.rs", null)).toMatchObject({ kind: "text", language: "rs" });
    expect(kindOf("a.d/b", null)).toMatchObject({ kind: "text", language: null });
    expect(kindOf("a.constructor", null)).toMatchObject({ kind: "text", language: null });
    expect(kindOf("a.rs", null, "\0\0")).toMatchObject({ kind: "hex" });
  });

  it("takes TypeScript with the type of a video for text", () => {
    expect(kindOf("a.ts", "video/mp2t", "export {};")).toMatchObject({
      kind: "text",
      language: "ts",
    });
    expect(kindOf("a.ts", "video/mp2t", latin1("G@\0\x10"))).toMatchObject({ kind: "video" });
  });

  it("takes a character at the end of the first bytes for text", () => {
    expect(kindOf("a", null, encoder.encode("abc€").subarray(0, 5))).toMatchObject({
      kind: "text",
    });
  });

  it("knows the language of the source, for content that is previewed otherwise too", () => {
    expect(kindOf("a", "image/svg+xml")).toMatchObject({ kind: "image", language: "xml" });
    expect(kindOf("a", "image/png")).toMatchObject({ kind: "image", language: null });
    expect(kindOf("a", "application/x-sh")).toMatchObject({ kind: "text", language: "bash" });
  });
});

describe("decodeText()", () => {
  it("replaces bytes that are not valid, and says so", () => {
    const bytes = Uint8Array.of(0x61, 0xff, 0x62);
    expect(decodeText(bytes, true)).toEqual({ text: "a\uFFFDb", isValid: false });
    expect(decodeText(encoder.encode("\uFEFFä"), true)).toEqual({ text: "\uFEFFä", isValid: true });
  });

  it("leaves out a character that is cut, unless the content ends there", () => {
    const cut = encoder.encode("a€").subarray(0, 3);
    expect(decodeText(cut, false)).toEqual({ text: "a", isValid: true });
    expect(decodeText(cut, true)).toEqual({ text: "a\uFFFD", isValid: false });
  });
});

describe("indentJson()", () => {
  it("adds lines, and keeps numbers and texts as they are written", () => {
    const source = '{"big":12345678901234567890, "a":[1.0,{}, []],"t":"x,\\"{ :"}';
    expect(indentJson(source)).toBe(
      '{\n  "big": 12345678901234567890,\n  "a": [\n    1.0,\n    {},\n    []\n  ],\n  "t": "x,\\"{ :"\n}',
    );
  });

  it("is what JSON.stringify() does, for any value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });
});

describe("hexLines()", () => {
  it("has 16 bytes a line, with the offset and the printable characters", () => {
    const bytes = encoder.encode("0123456789abcdefX\n");
    expect(hexLines(bytes)).toEqual([
      "00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  0123456789abcdef",
      "00000010  58 0a                                             X.",
    ]);
    expect(hexLines(new Uint8Array())).toEqual([]);
  });
});
