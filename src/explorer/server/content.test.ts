import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HttpMetadata } from "../../store/core/metadata.ts";
import type { DescribedObject } from "../../store/core/operations.ts";
import {
  attachment,
  contentHeaders,
  fileNameOf,
  isForbiddenDestination,
  type ShownContent,
} from "./content.ts";

function objectWith(http: HttpMetadata): DescribedObject {
  const etag = "0cc175b9c0f1b6a831c399e269772661";
  return {
    key: "a",
    version: "1",
    size: 10,
    etag,
    uploaded: 1_700_000_000_000,
    checksums: { md5: etag },
    storageClass: "Standard",
    http,
    custom: {},
  };
}

function headers(http: HttpMetadata, shown: Partial<ShownContent> = {}): Record<string, string> {
  return contentHeaders({
    object: objectWith(http),
    range: null,
    fileName: null,
    acceptEncoding: "gzip, br;q=0.5",
    ...shown,
  });
}

describe("contentHeaders()", () => {
  it.each([
    "text/html",
    "image/svg+xml",
    "application/pdf; charset=utf-8",
    "application/pdf;,text/html",
    "application/pdf, text/html",
    "application/xhtml+xml",
    "",
  ])("puts content of the type %j in a sandbox", (contentType) => {
    const policy = headers({ contentType })["content-security-policy"];
    expect(policy).toMatch(/^sandbox; default-src 'none';/);
  });

  it("shows a PDF without a sandbox, and without scripts", () => {
    const policy = headers({ contentType: "application/pdf" })["content-security-policy"];
    expect(policy).not.toContain("sandbox");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'self'");
  });

  it.each(["text/html\r\nset-cookie: a=b", "text/html\u0000", "Текст", "text/\u00e9", undefined])(
    "takes no type %j for a header",
    (contentType) => {
      const http = contentType === undefined ? {} : { contentType };
      expect(headers(http)["content-type"]).toBe("application/octet-stream");
    },
  );

  it("takes only the type and the encoding of the object", () => {
    const http = { contentType: "a/b", contentDisposition: "inline", cacheControl: "public" };
    expect(headers(http)).not.toHaveProperty("content-disposition");
    expect(headers(http)).not.toHaveProperty("cache-control");
  });

  it("declares an encoding only of a whole content that the browser decodes and shows", () => {
    const encoded = { contentEncoding: "GZIP" };
    expect(headers(encoded)["content-encoding"]).toBe("gzip");
    expect(headers({ contentEncoding: "br" })["content-encoding"]).toBe("br");
    const range = { offset: 0, length: 5 };
    expect(headers(encoded, { range })).not.toHaveProperty("content-encoding");
    expect(headers(encoded, { fileName: "a" })).not.toHaveProperty("content-encoding");
    expect(headers({ contentEncoding: "zstd" })).not.toHaveProperty("content-encoding");
    expect(headers({ contentEncoding: "gzip, br" })).not.toHaveProperty("content-encoding");
    expect(headers({ contentEncoding: "secret" })).not.toHaveProperty("content-encoding");
  });

  it("has only header-safe values for any metadata", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(text, text, text, (contentType, contentEncoding, fileName) => {
        const values = Object.values(headers({ contentType, contentEncoding }, { fileName }));
        expect(values.filter((value) => !/^[\x20-\x7e]+$/.test(value))).toEqual([]);
      }),
    );
  });
});

describe("attachment()", () => {
  it("quotes the name in ASCII, and encodes it in UTF-8", () => {
    expect(attachment(`a"b\\c'(é).txt`)).toBe(
      `attachment; filename="a_b_c'(_).txt"; filename*=UTF-8''a%22b%5Cc%27%28%C3%A9%29.txt`,
    );
  });
});

describe("fileNameOf()", () => {
  it.each([
    ["photos/cat.png", "cat.png"],
    ["photos/", "photos"],
    ["//", "photos"],
    ["", "photos"],
    ["invoice\u202egnp.exe", "invoice_gnp.exe"],
  ])("of %j is %j", (key, name) => {
    expect(fileNameOf(key, "photos")).toBe(name);
  });
});

describe("isForbiddenDestination()", () => {
  it("is true for what runs in a page or styles it", () => {
    const forbidden = ["script", "style", "serviceworker", "worker", "audioworklet", "manifest"];
    const allowed = ["document", "iframe", "image", "video", "audio", "empty", "object", undefined];
    expect(forbidden.filter((destination) => !isForbiddenDestination(destination))).toEqual([]);
    expect(allowed.filter((destination) => isForbiddenDestination(destination))).toEqual([]);
  });
});
