import { isIPv4, isIPv6 } from "node:net";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { propertyRuns } from "../../../test/support/property-runs.ts";
import { formatIpv4, formatIpv6, parseIpv4, parseIpv6 } from "./ip-address.ts";

test.each([
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
  ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
  ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
  ["0:0:0:0:0:0:0:0", "::"],
  ["::1", "::1"],
  ["1::", "1::"],
  ["::ffff:192.0.2.1", "::ffff:c000:201"],
])("formatIpv6() writes %s in the form of RFC 5952", (text, canonical) => {
  expect(formatIpv6(parseIpv6(text)!)).toBe(canonical);
});

test("parseIpv4() and parseIpv6() read what formatIpv4() and formatIpv6() write", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 4, maxLength: 4 }), (bytes) => {
      expect(parseIpv4(formatIpv4(bytes))).toEqual(bytes);
    }),
  );
  const octet = fc.oneof(fc.constant(0), fc.nat(255));
  fc.assert(
    fc.property(fc.array(octet, { minLength: 16, maxLength: 16 }), (list) => {
      const bytes = Uint8Array.from(list);
      expect(parseIpv6(formatIpv6(bytes))).toEqual(bytes);
    }),
  );
});

test("parseIpv4() and parseIpv6() accept the same addresses as node:net", () => {
  const text = fc.string({
    unit: fc.constantFrom(..."0123456789abcdef.::".split("")),
    maxLength: 24,
  });
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        fc.ipV4(),
        fc.ipV6(),
        fc.constantFrom("1:2:3:4:5:6:7::", "1.2.3.4::", "::1.2.3.4:5", "01.2.3.4"),
      ),
      (input) => {
        expect(parseIpv4(input) !== null).toBe(isIPv4(input));
        expect(parseIpv6(input) !== null).toBe(isIPv6(input));
      },
    ),
    { numRuns: propertyRuns({ few: 1000, all: 3000 }) },
  );
});
