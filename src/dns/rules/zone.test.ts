import { expect, test } from "vitest";
import { acceptZoneName } from "./zone.ts";

test.each([
  ["Example.ORG.", "example.org"],
  ["bücher.example", "xn--bcher-kva.example"],
  ["0/25.2.0.192.in-addr.arpa", "0/25.2.0.192.in-addr.arpa"],
  ["com", undefined],
  ["-a.test", undefined],
  ["a-.test", undefined],
  ["a.-test", undefined],
  ["*.test", undefined],
  ["192.0.2.1", undefined],
])("acceptZoneName(%j) is %j", (input, name) => {
  expect(acceptZoneName(input, () => {})).toBe(name);
});
