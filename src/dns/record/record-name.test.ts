import { domainToASCII } from "node:url";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Problem } from "./problem.ts";
import { isInZone, parentName, resolveName, toAsciiName, type NameRules } from "./record-name.ts";

const zoneName = "example.org";

function resolve(input: unknown, type = "A", rules: NameRules = "strict"): string | number {
  const problems: Problem[] = [];
  const name = resolveName({ input, type, zoneName, rules }, (found) => problems.push(found));
  return name ?? problems[0]!.code;
}

describe("resolveName() returns the full name", () => {
  test.each([
    ["@", "example.org"],
    ["example.org", "example.org"],
    ["EXAMPLE.org.", "example.org"],
    ["www", "www.example.org"],
    ["WWW.Example.ORG", "www.example.org"],
    ["www.example.org.", "www.example.org"],
    ["a.b", "a.b.example.org"],
    ["*", "*.example.org"],
    ["*.a", "*.a.example.org"],
    ["*.example.org", "*.example.org"],
    ["www.other.test", "www.other.test.example.org"],
    ["notexample.org", "notexample.org.example.org"],
    ["bücher", "xn--bcher-kva.example.org"],
    ["BÜCHER.例え。example.org", "xn--bcher-kva.xn--r8jz45g.example.org"],
    ["ｗｗｗ", "www.example.org"],
    ["_acme-challenge.www", "_acme-challenge.www.example.org"],
    ["a_b", "a_b.example.org"],
    ["  www ", "www.example.org"],
    ["a".repeat(63), `${"a".repeat(63)}.example.org`],
  ])("%s", (input, name) => expect(resolve(input)).toBe(name));
});

const malformed =
  "1 1.www -a a- a_ a..b .a www.other.test. example.com. a.* *a ** a!b a/b @.@".split(" ");
const others = [
  "",
  "  ",
  "a b",
  "a".repeat(64),
  `${"a".repeat(60)}.`.repeat(4),
  7,
  {},
  ["www"],
  true,
];

describe("resolveName() refuses", () => {
  test.each([...malformed, ...others])("%j", (input) => expect(resolve(input)).toBe(9000));

  test("a missing name", () => {
    expect(resolve(undefined)).toBe(9100);
    expect(resolve(null)).toBe(9100);
  });
});

describe('resolveName() accepts any octets with the rules "dns", in one text for each name', () => {
  test.each([
    ["1", "1"],
    ["-a-", "-a-"],
    ["a b", "a\\032b"],
    ["a\\ b", "a\\032b"],
    ["A\\032B", "a\\032b"],
    ["\\065\\066c", "abc"],
    ["a\\.b", "a\\.b"],
    ["a\\046b", "a\\.b"],
    ["a\\\\.b", "a\\\\.b"],
    ['say "hi"', 'say\\032\\"hi\\"'],
    ["a*b", "a*b"],
    ["a!b+c", "a\\!b\\+c"],
    ["a.*.b", "a.*.b"],
    ["*.a", "*.a"],
    ["\\*.a", "*.a"],
    ["a@b;c$(d)", "a\\@b\\;c\\$\\(d\\)"],
    ["\\@", "\\@"],
    ["\\195\\188", "\\195\\188"],
    ["\\000\\255", "\\000\\255"],
    ["bücher.a b", "xn--bcher-kva.a\\032b"],
    ["\\255".repeat(63), "\\255".repeat(63)],
  ])("%s", (input, name) => {
    for (const type of ["A", "TXT"])
      expect(resolve(input, type, "dns")).toBe(`${name}.example.org`);
    expect(resolve(`${name}.example.org.`, "A", "dns")).toBe(`${name}.example.org`);
  });

  test.each([
    ["a..b", "A label is empty."],
    ["\\255".repeat(64), "A label has more than 63 octets."],
    [`${"\\255.".repeat(126)}a`, "The name has more than 253 characters."],
    ["a\\256", 'Label "a\\\\256" has a malformed escape'],
    ["a\\", "not in the zone"],
    ["küche links", 'Label "küche links" has no form in ASCII'],
    ["www.example.net.", "not in the zone example.org"],
  ])("but not %s", (input, reason) => {
    const problems: Problem[] = [];
    const request = { input, type: "A", zoneName, rules: "dns" as const };
    expect(resolveName(request, (found) => problems.push(found))).toBe(undefined);
    expect(problems[0]!.message).toBe("DNS name is invalid.");
    expect(problems[0]!.error_chain![0]!.message).toContain(reason);
  });
});

test("parentName() and isInZone() know dots inside a label", () => {
  expect(parentName("a\\.b.example.org")).toBe("example.org");
  expect(parentName("a\\\\.example.org")).toBe("example.org");
  expect(parentName("org")).toBe("");
  expect(isInZone("a\\.example.org", zoneName)).toBe(false);
  expect(isInZone("a\\\\.example.org", zoneName)).toBe(true);
});

test("resolveName() requires the specification's form only for A, AAAA and CNAME", () => {
  for (const type of ["A", "AAAA", "CNAME"]) expect(resolve("1", type)).toBe(9000);
  for (const type of ["TXT", "PTR", "NS"]) expect(resolve("1", type)).toBe("1.example.org");
  expect(resolve("0/25", "NS")).toBe("0/25.example.org");
});

test("resolveName() accepts numbers as CNAMEs of reverse zones (RFC 2317)", () => {
  const problems: Problem[] = [];
  const reverse = "2.0.192.in-addr.arpa";
  const request = { input: "3", type: "CNAME", zoneName: reverse, rules: "strict" as const };
  expect(resolveName(request, (found) => problems.push(found))).toBe(`3.${reverse}`);
  expect(problems).toEqual([]);
});

test("resolveName() takes dots inside a label as `\\.`", () => {
  expect(resolve("first\\.last", "TXT")).toBe("first\\.last.example.org");
  expect(resolve("first\\.example.org", "TXT")).toBe("first\\.example.org.example.org");
  expect(resolve("a\\.example.org.", "TXT")).toBe(9000);
  expect(resolve("a\\", "TXT")).toBe(9000);
});

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
