import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CallError } from "../call.ts";
import { decodeUploadCursor, encodeUploadCursor } from "./upload-routes.ts";

/** The error that is no `CallError`, or `null`. */
function otherError(cursor: string): unknown {
  try {
    decodeUploadCursor(cursor);
    return null;
  } catch (error) {
    return error instanceof CallError ? null : error;
  }
}

describe("decodeUploadCursor()", () => {
  it("returns the position that the cursor was made of", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(text, fc.option(text, { nil: undefined }), (key, uploadId) => {
        const position = uploadId === undefined ? { key } : { key, uploadId };
        expect(decodeUploadCursor(encodeUploadCursor(position))).toEqual(position);
      }),
    );
  });

  it("throws nothing but CallError", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(otherError(text)).toBeNull();
        expect(otherError(Buffer.from(text).toString("base64url"))).toBeNull();
      }),
    );
  });
});
