import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { damagedRow, itemText, RowSeals } from "./row-seal.ts";

/** `TextEncoder` is not part of the language, for which this folder is checked. */
const { TextEncoder: Encoder } = globalThis as unknown as {
  TextEncoder: new () => ConstructorParameters<typeof RowSeals>[0];
};
const seals = new RowSeals(new Encoder());

const object = fc.record({
  key: fc.string({ unit: "grapheme", minLength: 1 }),
  fields: fc.json(),
  metadata: fc.option(fc.json()),
  body: fc.nat(),
  content: fc.uint8Array({ maxLength: 100 }),
});

describe("RowSeals", () => {
  it("accepts what was sealed, with and without the metadata", () => {
    fc.assert(
      fc.property(object, (row) => {
        const { itemChecksum, checksum, contentChecksum } = seals.sealObject(row);
        const item = itemText(row.key, row.fields);
        expect(seals.isItemIntact(item, null, itemChecksum)).toBe(true);
        expect(seals.isItemIntact(item, row.metadata, checksum)).toBe(true);
        expect(seals.isContentIntact(row.content, contentChecksum, row.body)).toBe(true);
      }),
    );
  });

  it("refuses another key, other fields, other metadata, another body and other content", () => {
    fc.assert(
      fc.property(object, (row) => {
        const { itemChecksum, checksum, contentChecksum } = seals.sealObject(row);
        const otherKey = itemText(`${row.key}x`, row.fields);
        expect(seals.isItemIntact(otherKey, row.metadata, checksum)).toBe(false);
        expect(seals.isItemIntact(otherKey, null, itemChecksum)).toBe(false);
        const item = itemText(row.key, row.fields);
        const otherMetadata = row.metadata === null ? "[{},{}]" : null;
        expect(seals.isItemIntact(item, otherMetadata, checksum)).toBe(false);
        expect(seals.isContentIntact(row.content, contentChecksum, row.body + 1)).toBe(false);
        const longer = Uint8Array.from([...row.content, 0]);
        expect(seals.isContentIntact(longer, contentChecksum, row.body)).toBe(false);
      }),
    );
  });

  it("refuses values of another type, which a damaged row may have", () => {
    expect(seals.isItemIntact("", 5 as unknown as string, 0)).toBe(false);
    expect(seals.isItemIntact("", new ArrayBuffer(1) as unknown as string, 0)).toBe(false);
    expect(seals.isContentIntact(5 as unknown as string, 0)).toBe(false);
  });

  it("sealColumns() changes with each column and with their order", () => {
    const sums = [
      ["a", 1, null],
      ["b", 1, null],
      ["a", 2, null],
      ["a", 1, 0],
      [1, "a", null],
    ].map((columns) => seals.sealColumns(columns));
    expect(new Set(sums).size).toBe(sums.length);
  });

  it("sealColumns() covers the columns that a later format has added, if the row has them", () => {
    const columns = ["a", 1];
    expect(seals.sealColumns(columns, [null, null], [null])).toBe(seals.sealColumns(columns));
    expect(seals.sealColumns(columns, [1, null], [null])).toBe(
      seals.sealColumns(columns, [1, null]),
    );
    expect(seals.sealColumns(columns, [1, null], ["a"])).not.toBe(
      seals.sealColumns(columns, [1, null]),
    );
    const sums = [[null], [5, null], [5, "b"], [6, null]].map((added) =>
      seals.sealColumns(columns, added as [number | null]),
    );
    expect(new Set(sums).size).toBe(sums.length);
  });
});

describe("damagedRow()", () => {
  it("names the key and says what to do", () => {
    expect(damagedRow("k", "its row is damaged")).toMatchObject({
      code: 10001,
      message:
        'Cannot read "k": its row is damaged. The object is damaged; put it again or delete it.',
    });
  });
});
