import { domainToASCII } from "node:url";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encodePunycode, toAsciiName } from "./record-name.ts";

/** RFC 3492 section 7.1. */
test.each([
  ["ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"],
  ["他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"],
  ["3年B組金八先生", "3B-ww4c5e180e575a65lsy2b"],
  ["MajiでKoiする5秒前", "MajiKoi5-783gue6qz075azm5e"],
])("encodePunycode(%s)", (label, encoded) => expect(encodePunycode(label)).toBe(encoded));

test("toAsciiName() agrees with domainToASCII() of Node on letters", () => {
  const letters = fc.string({
    unit: fc.constantFrom(..."aäöüßéñжшд中文日本語αβγ".split("")),
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(letters, (label) => {
      expect(toAsciiName(`${label}.example`)).toBe(domainToASCII(`${label}.example`));
    }),
  );
});
