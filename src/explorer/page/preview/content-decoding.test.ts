import { deflateSync, gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeContent } from "./content-decoding.ts";

const text = new TextDecoder();

describe("decodeContent()", () => {
  it("decodes gzip and deflate, for any bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1 }), async (bytes) => {
        expect(await decodeContent(gzipSync(bytes), "gzip")).toEqual({ bytes, isWhole: true });
        expect(await decodeContent(deflateSync(bytes), "deflate")).toEqual({
          bytes,
          isWhole: true,
        });
      }),
      { numRuns: 30 },
    );
  });

  it("decodes the beginning of encoded bytes", async () => {
    const source = Array.from({ length: 50_000 }, (_, index) => `line ${index}\n`).join("");
    const encoded = gzipSync(source);
    const half = await decodeContent(encoded.subarray(0, encoded.length / 2), "gzip");
    expect(half?.isWhole).toBe(false);
    expect(half?.bytes.length).toBeGreaterThan(1000);
    expect(source.startsWith(text.decode(half?.bytes))).toBe(true);
  });

  it("does not decode far more than the encoded bytes", async () => {
    const encoded = gzipSync(new Uint8Array(64 * 1024 * 1024));
    const decoded = await decodeContent(encoded, "gzip");
    expect(decoded?.isWhole).toBe(false);
    expect(decoded?.bytes.length).toBeLessThan(encoded.length * 16 + 1024 * 1024);
  });

  it("is null for other encodings, and for content that is not encoded", async () => {
    expect(await decodeContent(gzipSync("a"), "br")).toBeNull();
    expect(await decodeContent(new TextEncoder().encode("plain text"), "gzip")).toBeNull();
  });
});
