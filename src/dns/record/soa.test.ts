import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isLaterSerial, nextSerial } from "./soa.ts";

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
