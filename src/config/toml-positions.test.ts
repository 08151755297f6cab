import * as fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { describe, expect, it } from "vitest";
import type { Path } from "../base/schema.ts";
import { positionAt } from "./config-file.ts";
import { tomlOffsets } from "./toml-positions.ts";

function positions(text: string): Record<string, string> {
  return Object.fromEntries(
    Array.from(tomlOffsets(text), ([path, offset]) => {
      const { line, column } = positionAt(text, offset);
      return [(JSON.parse(path) as Path).join("."), `${line}:${column}`];
    }),
  );
}

/** Every path in a value. */
function paths(value: unknown, path: Path = []): string[] {
  const own = path.length === 0 ? [] : [JSON.stringify(path)];
  if (typeof value !== "object" || value === null) return own;
  const steps = Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value);
  return [
    ...own,
    ...steps.flatMap((step) => paths((value as Record<string, unknown>)[step], [...path, step])),
  ];
}

describe("tomlOffsets()", () => {
  it("finds keys, tables, and items of lists", () => {
    const text = `# a comment
name = "x" # another
  deep.er = [1, "]", { a = '}' },
    2]

[table."with space"]
key = """
[no] = "table"
\\""""" # still "quoted"
[[list]]
a = 1
[[list]] # the second
b.c = 1979-05-27T07:32:00Z
[list.inner]
d = ''
[[list.more]]
e = {}
`;
    expect(positions(text)).toEqual({
      name: "2:1",
      deep: "3:3",
      "deep.er": "3:3",
      "deep.er.0": "3:14",
      "deep.er.1": "3:17",
      "deep.er.2": "3:22",
      "deep.er.2.a": "3:24",
      "deep.er.3": "4:5",
      table: "6:1",
      "table.with space": "6:1",
      "table.with space.key": "7:1",
      list: "10:1",
      "list.0": "10:1",
      "list.0.a": "11:1",
      "list.1": "12:1",
      "list.1.b": "13:1",
      "list.1.b.c": "13:1",
      "list.1.inner": "14:1",
      "list.1.inner.d": "15:1",
      "list.1.more": "16:1",
      "list.1.more.0": "16:1",
      "list.1.more.0.e": "17:1",
    });
  });

  it("finds every value that the parser finds, and no other", () => {
    const key = fc.string({ unit: "binary", minLength: 1 }).filter((name) => name.isWellFormed());
    const { tree } = fc.letrec((tie) => ({
      tree: fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
      value: fc.oneof(
        { depthSize: "small" },
        fc.string({ unit: "binary" }).filter((text) => text.isWellFormed()),
        fc.string({
          unit: fc.constantFrom('"', "'", "\\", "[", "]", "{", "}", "#", "\n", "=", ","),
        }),
        fc.integer(),
        fc.boolean(),
        fc.date({ noInvalidDate: true, min: new Date(0), max: new Date("2100-01-01") }),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.array(tie("value"), { maxLength: 3 }),
        tie("tree"),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const text = stringify(value);
        const found = [...tomlOffsets(text).keys()];
        expect(found.toSorted()).toEqual(paths(plain(parse(text))).toSorted());
      }),
      { numRuns: 50 },
    );
  });
});

/** A date is an object in JavaScript, but a value in TOML. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return "date";
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}
