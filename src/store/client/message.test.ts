import { describe, expect, it } from "vitest";
import { decodeFrame, encodeFrame } from "./message.ts";
import * as fc from "fast-check";

function roundTrip(value: unknown): unknown {
  return decodeFrame(encodeFrame(value).buffer);
}

describe("encodeFrame() and decodeFrame()", () => {
  it("round-trip any JSON with bytes in it", () => {
    const bytes = fc.uint8Array({ maxLength: 20 });
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue({ depthSize: "small" }),
        bytes,
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie("tree"), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        // JSON does not preserve -0.
        const expected = JSON.stringify(value) === undefined ? undefined : value;
        expect(normal(roundTrip(expected))).toEqual(normal(expected));
      }),
    );
  });

  it("round-trip the bytes of a view, and not the rest of its buffer", () => {
    const buffer = Uint8Array.of(1, 2, 3, 4, 5).buffer;
    const empty = new Uint8Array(0);
    const value = { view: new Uint8Array(buffer, 1, 2), empty, buffer };
    expect(roundTrip(value)).toEqual({
      view: Uint8Array.of(2, 3),
      empty,
      buffer: Uint8Array.of(1, 2, 3, 4, 5),
    });
  });

  it("do not take metadata for bytes, whatever its name", () => {
    const custom = { $bytes: "0,1" };
    expect(roundTrip({ custom })).toEqual({ custom });
  });
});

function normal(value: unknown): unknown {
  if (Object.is(value, -0)) return 0;
  if (Array.isArray(value)) return value.map(normal);
  if (value === null || typeof value !== "object" || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, normal(item)]));
}
