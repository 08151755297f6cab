/** Names in wire form with labels of any octets, up to the longest name. */
import * as fc from "fast-check";
import { nameWireBytesMax } from "../../../src/dns/wire/name.ts";

const label = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 5 }),
  fc.uint8Array({ minLength: 62, maxLength: 63 }),
  fc.constant(Uint8Array.of(0x40)),
  fc.constant(new Uint8Array(63).fill(0xff)),
);

export const nameArbitrary: fc.Arbitrary<Uint8Array> = fc
  .array(label, { maxLength: 8 })
  .map((labels) => {
    const octets: number[] = [];
    for (const each of labels) {
      if (octets.length + each.length + 2 <= nameWireBytesMax) octets.push(each.length, ...each);
    }
    return Uint8Array.from([...octets, 0]);
  });
