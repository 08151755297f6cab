import { array, assert, integer, property, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { frame, Frames } from "./tcp-frames.ts";

const messages = array(uint8Array({ maxLength: 300 }), { maxLength: 20 });

/** Splits octets into pieces of these sizes, in turn. */
function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let from = 0, at = 0; from < bytes.length; at++) {
    const size = sizes[at % sizes.length]!;
    pieces.push(bytes.slice(from, from + size));
    from += size;
  }
  return pieces;
}

describe("Frames", () => {
  it("finds the messages of a stream in pieces of any size", () => {
    const sizes = array(integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 10 });
    assert(
      property(messages, sizes, (sent, cuts) => {
        const frames = new Frames();
        const stream = Buffer.concat(sent.map(frame));
        const found = cut(stream, cuts).flatMap((piece) =>
          Array.from(frames.push(piece), (message) => Buffer.from(message)),
        );
        expect(found).toEqual(sent.map((message) => Buffer.from(message)));
        expect(frames.isPartial).toBe(false);
      }),
    );
  });

  it("keeps an incomplete message, and isPartial is true", () => {
    const frames = new Frames();
    expect([...frames.push(Uint8Array.of(0))]).toEqual([]);
    expect(frames.isPartial).toBe(true);
    expect([...frames.push(Uint8Array.of(2, 7))]).toEqual([]);
    expect(frames.isPartial).toBe(true);
    expect([...frames.push(Uint8Array.of(8, 0, 0))]).toEqual([
      Uint8Array.of(7, 8),
      new Uint8Array(),
    ]);
    expect(frames.isPartial).toBe(false);
  });
});
