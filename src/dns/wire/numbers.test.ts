import * as fc from "fast-check";
import { expect, test } from "vitest";
import { firstSerial, isLaterSerial, nextSerial } from "./numbers.ts";

test("nextSerial() is always later, also at the end of the range", () => {
  expect(nextSerial(2 ** 32 - 1)).toBe(0);
  fc.assert(
    fc.property(fc.oneof(fc.nat(2 ** 32 - 1), fc.constant(2 ** 32 - 1)), (serial) => {
      expect(isLaterSerial(nextSerial(serial), serial)).toBe(true);
      expect(isLaterSerial(serial, nextSerial(serial))).toBe(false);
      expect(isLaterSerial(serial, serial)).toBe(false);
    }),
  );
});

test("firstSerial() is the time, or the serial after the last when the time is not later", () => {
  expect(firstSerial(1_800_000_000, null)).toBe(1_800_000_000);
  expect(firstSerial(1_800_000_000, 1_799_999_999)).toBe(1_800_000_000);
  expect(firstSerial(1_800_000_000, 1_800_000_000)).toBe(1_800_000_001);
  expect(firstSerial(1_700_000_000, 1_800_000_000)).toBe(1_800_000_001);
  // The distance to this serial is more than half of the range: the time is behind.
  expect(firstSerial(1_800_000_000, 2 ** 32 - 1)).toBe(1_800_000_000);
  expect(firstSerial(2 ** 32 + 5, null)).toBe(5);
});
