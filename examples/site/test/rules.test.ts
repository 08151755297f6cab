import { describe, expect, it } from "vitest";
import { cacheControlOf } from "../src/cache-control.ts";
import { contentTypeOf } from "../src/content-type.ts";
import { acceptedEncodings, isCompressible } from "../src/encoding.ts";
import { pageKeys, withSlash } from "../src/page-key.ts";

describe("pageKeys()", () => {
  it.each([
    ["/", "index.html", null],
    ["/guide/", "guide/index.html", null],
    ["/guide", "guide", "guide/index.html"],
    ["/a%20b/%C3%BC.css", "a b/ü.css", "a b/ü.css/index.html"],
  ])("returns the keys of %s", (pathname, key, folderIndex) => {
    expect(pageKeys(pathname)).toEqual({ key, folderIndex });
  });

  it("returns null for an address that is not UTF-8", () => {
    expect(pageKeys("/%ff")).toBeNull();
  });
});

describe("withSlash()", () => {
  it("keeps the query and the host", () => {
    expect(withSlash("http://site.test/guide?a=1")).toBe("http://site.test/guide/?a=1");
    expect(new URL(withSlash("http://site.test//evil.test")).host).toBe("site.test");
  });
});

describe("acceptedEncodings()", () => {
  it.each([
    [null, []],
    ["", []],
    ["gzip", ["gzip"]],
    ["gzip, deflate, br, zstd", ["br", "gzip"]],
    ["br;q=0, gzip;q=0.5", ["gzip"]],
    ["*", ["br", "gzip"]],
    ["*;q=0", []],
    ["br;q=0, *", ["gzip"]],
    ["GZIP ; Q=1.0", ["gzip"]],
    ["identity", []],
  ])("parses %s", (header, encodings) => {
    expect(acceptedEncodings(header)).toEqual(encodings);
  });
});

describe("isCompressible()", () => {
  it("is true for text types only", () => {
    const texts = [
      "index.html",
      "a.css",
      "a.js",
      "a.json",
      "a.svg",
      "a.xml",
      "a.webmanifest",
      "a.wasm",
    ];
    expect(texts.map(contentTypeOf).filter((type) => !isCompressible(type))).toEqual([]);
    const others = ["a.png", "a.jpg", "a.woff2", "a.mp4", "a.pdf", "a.unknown", "a"];
    expect(others.map(contentTypeOf).filter(isCompressible)).toEqual([]);
  });
});

describe("cacheControlOf()", () => {
  it.each(["assets/style.4f2a9c1b.css", "app-0123456789abcdef.js"])(
    "is immutable for %s",
    (key) => {
      expect(cacheControlOf(key)).toContain("immutable");
    },
  );

  it.each(["index.html", "style.css", "4f2a9c1b", "v1.2.3.js", "deadbee.css", "4f2a9c1b.d/a.css"])(
    "is no-cache for %s",
    (key) => {
      expect(cacheControlOf(key)).toBe("no-cache");
    },
  );
});
