import { expect, it } from "vitest";
import { isNestedTooDeep } from "./nesting.ts";

const lists = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const tables = (levels: number): string => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);

it.each([
  ["1", false],
  [lists(100), false],
  [lists(101), true],
  [lists(100_000), true],
  [tables(100), false],
  [tables(101), true],
  [`[${"[],{},".repeat(1000)}1]`, false],
])("isNestedTooDeep() counts levels and not brackets: %.20s", (text, isTooDeep) => {
  expect(isNestedTooDeep(JSON.parse(text))).toBe(isTooDeep);
});
