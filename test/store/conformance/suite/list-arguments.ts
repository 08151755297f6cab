/** Bad options of list(), and those that are coerced. */
import { beforeAll, describe, expect, it } from "vitest";
import {
  type Failure,
  failureOf,
  fieldError,
  notANumber,
  notAnInteger32,
  parameterError,
  rangeError,
  storeError,
  typeError,
} from "./failures.ts";
import { cursorOf, keysOf, stored } from "./lists.ts";
import { bucket, loose } from "./subject.ts";

type Refused = [name: string, options: unknown, failure: Failure];
const limitError = storeError("list", 10022);
const includeElement = typeError(
  "Incorrect type for array element 0: the provided value is not of type 'string'.",
);
const limitRows: [value: unknown, failure: Failure][] = [
  ...[0, 1001, -1, Number.NaN, Number.POSITIVE_INFINITY, 0.5, null, "many", {}].map(
    (value): [unknown, Failure] => [value, limitError],
  ),
  ...[2 ** 31, 2 ** 40, -(2 ** 40)].map((value): [unknown, Failure] => [value, notAnInteger32]),
  [5n, typeError("Cannot convert a BigInt value to a number")],
  [Symbol("limit"), notANumber],
];
const includeField = fieldError("include", "ListOptions", "Array");
const includeRows: [value: unknown, failure: Failure][] = [
  ["httpMetadata", includeField],
  [null, includeField],
  [new Set(["httpMetadata"]), includeField],
  [[1], includeElement],
  [[null], includeElement],
  [[Symbol("include")], includeElement],
  [["bogus"], rangeError("Unsupported include value bogus")],
  [["HttpMetadata"], rangeError("Unsupported include value HttpMetadata")],
];
const refused: Refused[] = [
  ...[1, "prefix", true, Symbol("options")].map((options): Refused => [
    String(options),
    options,
    parameterError("list", 1, "ListOptions"),
  ]),
  ...limitRows.map(([limit, failure]): Refused => [`limit: ${String(limit)}`, { limit }, failure]),
  ...includeRows.map(([include, failure], index): Refused => [
    `include, row ${index}`,
    { include },
    failure,
  ]),
  ...["prefix", "cursor", "delimiter", "startAfter"].flatMap((field) =>
    [1, null, true, {}, ["a"], Symbol("text")].map((value): Refused => [
      `${field}: a value of type ${typeof value}`,
      { [field]: value },
      fieldError(field, "ListOptions", "string"),
    ]),
  ),
];

const absent = { cursor: undefined, delimiter: undefined, startAfter: undefined };
const coerced: [name: string, options: object, count: number][] = [
  ["limit: a string", { limit: "2" }, 2],
  ["limit: true", { limit: true }, 1],
  ["limit: 1.5", { limit: 1.5 }, 1],
  ["limit: undefined", { limit: undefined }, 3],
  ["limit: 1000.5", { limit: 1000.5 }, 3],
  ["cursor, delimiter, startAfter, include: undefined", { ...absent, include: undefined }, 3],
  ["unknown fields", { colour: "red" }, 3],
];

export function listArgumentSuite(): void {
  describe("list: arguments", () => {
    let prefix: string;
    beforeAll(async () => {
      prefix = await stored(["a", "b", "c"]);
    });

    it.each(refused)("list() refuses options: %s", async (_, options, failure) => {
      await expect(() => loose.list(options)).toFailWith(failure);
    });

    it.each(coerced)("list() takes options: %s", async (_, options, count) => {
      expect((await loose.list({ ...options, prefix })).objects).toHaveLength(count);
    });

    it("list() treats undefined and null as no options", async () => {
      for (const none of [undefined, null]) {
        expect((await loose.list(none)).objects.length).toBeGreaterThan(0);
      }
    });

    it("list() refuses a forged cursor", async () => {
      const cursor = cursorOf(await bucket.list({ prefix, limit: 1 }));
      const middle = Math.floor(cursor.length / 2);
      const other = cursor[middle] === "A" ? "B" : "A";
      const forged = [
        "bogus",
        "{}",
        "AAAA",
        prefix,
        cursor.slice(1),
        cursor.slice(0, middle),
        cursor.slice(0, middle) + other + cursor.slice(middle + 1),
        cursor + cursor,
      ];
      const failures = await Promise.all(
        forged.map((bad) => failureOf(() => bucket.list({ prefix, cursor: bad }))),
      );
      const message: unknown = expect.stringMatching(/^list: ./);
      expect(failures).toEqual(forged.map(() => ({ error: "Error", message })));
      expect(keysOf(await bucket.list({ prefix, cursor }), prefix)).toEqual(["b", "c"]);
    });
  });
}
