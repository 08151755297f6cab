import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readJson, type JsonNode } from "./json-reader.ts";

const read = (text: string): JsonNode => {
  const { root, problem } = readJson(text, { isCut: false });
  if (root === null) throw new Error(problem.message);
  return root;
};

/** What `JSON.parse()` makes of the same text. */
function valueOf(node: JsonNode): unknown {
  switch (node.kind) {
    case "object": {
      const members = node.members.map(({ name, value }) => [name, valueOf(value)] as const);
      return Object.fromEntries(members);
    }
    case "array":
      return node.items.map(valueOf);
    case "string":
      return node.text;
    case "number":
      return Number(node.literal);
    case "word":
      return JSON.parse(node.word);
  }
}

describe("readJson()", () => {
  it("reads any JSON text as JSON.parse() does", () => {
    const layouts = fc.constantFrom(undefined, 2, "\t");
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), layouts, (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(valueOf(read(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it("refuses what JSON.parse() refuses, and throws nothing", () => {
    const json = fc.jsonValue().map((value) => JSON.stringify(value));
    const damaged = fc
      .tuple(json, fc.nat(), fc.constantFrom("", ",", "]", "}", '"', "\\", "0", " ", "x", ":", "-"))
      .map(([text, at, inserted]) => {
        const index = at % (text.length + 1);
        return text.slice(0, index) + inserted + text.slice(index + 1);
      });
    fc.assert(
      fc.property(fc.oneof(damaged, fc.string()), (text) => {
        let isValid = true;
        try {
          JSON.parse(text);
        } catch {
          isValid = false;
        }
        expect(readJson(text, { isCut: false }).root !== null).toBe(isValid);
      }),
      { numRuns: 1000 },
    );
  });

  it("keeps every digit of a number", () => {
    const literals = ["12345678901234567890", "0.1000", "1E400", "-0", "1.7976931348623157e+308"];
    expect(read(`[${literals.join(",")}]`)).toMatchObject({
      items: literals.map((literal) => ({ kind: "number", literal })),
    });
  });

  it("keeps names that occur twice, and names of Object.prototype", () => {
    expect(read('{"a":1,"a":2,"__proto__":3}')).toMatchObject({
      members: [{ name: "a" }, { name: "a" }, { name: "__proto__" }],
    });
  });

  it("reads a nesting that is deeper than the stack", () => {
    const depth = 200_000;
    let node = read("[".repeat(depth) + "]".repeat(depth));
    let levels = 0;
    while (node.kind === "array") {
      levels++;
      if (node.items[0] === undefined) break;
      node = node.items[0];
    }
    expect(levels).toBe(depth);
  });

  it("says where the text is wrong", () => {
    expect(readJson('{\n  "a": 1,\n  b: 2\n}', { isCut: false }).problem).toEqual({
      message: 'Found "b" where a name in quotation marks is expected.',
      line: 3,
      column: 3,
    });
    expect(readJson("[1, 2", { isCut: false }).problem?.message).toBe(
      "The text ends where ] is expected.",
    );
    expect(readJson("", { isCut: false }).problem).toMatchObject({ line: 1, column: 1 });
  });

  it("reads the beginning of any array or object", () => {
    const values = fc.oneof(
      fc.array(fc.jsonValue(), { minLength: 1 }),
      fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
    );
    fc.assert(
      fc.property(values, fc.nat(), (value, at) => {
        const text = JSON.stringify(value);
        const length = 1 + (at % (text.length - 1));
        const { root } = readJson(text.slice(0, length), { isCut: true });
        expect(root).toMatchObject({ isCut: true });
      }),
    );
  });

  it("drops a value that the end of the loaded part cuts", () => {
    expect(readJson('{"a":[1,23', { isCut: true }).root).toEqual({
      kind: "object",
      isCut: true,
      members: [
        {
          name: "a",
          value: { kind: "array", isCut: true, items: [{ kind: "number", literal: "1" }] },
        },
      ],
    });
    expect(readJson('"abc', { isCut: true }).problem?.message).toContain("longer than the part");
  });
});
