import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encodeName, escapeLabel } from "./name.ts";
import { Reader, Writer } from "./octets.ts";
import { WireError } from "./bytes.ts";

function uint(bits: number): fc.Arbitrary<number> {
  return fc.integer({ min: 0, max: 2 ** bits - 1 });
}

test("Reader reads the fields that Writer wrote", () => {
  const label = fc.uint8Array({ minLength: 1, maxLength: 20 }).map(escapeLabel);
  const name = fc.array(label, { minLength: 1, maxLength: 8 }).map((labels) => labels.join("."));
  fc.assert(
    fc.property(
      uint(8),
      uint(16),
      uint(32),
      fc.uint8Array({ maxLength: 255 }),
      name,
      (a, b, c, d, e) => {
        const writer = new Writer();
        writer.uint8(a);
        writer.uint16(b);
        writer.uint32(c);
        writer.characterString(d);
        writer.name(e);
        const reader = new Reader(writer.finish());
        expect([reader.uint8(), reader.uint16(), reader.uint32()]).toEqual([a, b, c]);
        expect(reader.characterString()).toEqual(d);
        expect(reader.name()).toBe(e);
        reader.expectEnd();
      },
    ),
  );
});

test("Reader follows compression pointers only backwards", () => {
  const name = encodeName("a.example.org");
  const message = Uint8Array.of(...name, 1, 0x62, 0xc0, 2);
  const reader = new Reader(message, name.length);
  expect(reader.name()).toBe("b.example.org");
  reader.expectEnd();
  for (const bytes of [[0xc0, 0], [0xc0, 2, 0], [1, 0x61, 0xc0, 0], [0x40], [5, 1], [], [0xc0]]) {
    expect(() => new Reader(Uint8Array.from(bytes)).name()).toThrow(WireError);
  }
});

test("encodeName() refuses names that a message cannot hold", () => {
  for (const name of ["a".repeat(64), "a..b", `${"a".repeat(60)}.`.repeat(5), "a\\", "\\999"]) {
    expect(() => encodeName(name)).toThrow(WireError);
  }
});
