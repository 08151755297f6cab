import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readJson, type JsonNode } from "./json-reader.ts";
import { childCount, jsonRows, rootId } from "./json-rows.ts";

const read = (value: unknown): JsonNode => {
  const { root } = readJson(JSON.stringify(value), { isCut: false });
  return root as JsonNode;
};
const labels = (root: JsonNode, ...open: string[]) =>
  jsonRows(root, new Set(open)).map(({ label }) => label?.text ?? null);

describe("jsonRows()", () => {
  it("shows the children of what is open", () => {
    const root = read({ a: [true, "x"], b: {} });
    expect(labels(root)).toEqual([null]);
    expect(labels(root, rootId)).toEqual([null, "a", "b"]);
    expect(labels(root, rootId, "$/0")).toEqual([null, "a", "0", "1", "b"]);
    expect(labels(root, "$/0")).toEqual([null]);
    expect(jsonRows(root, new Set([rootId])).map((row) => row.isExpandable)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("shows ranges of a hundred children, and ranges of ranges", () => {
    const root = read(Array.from({ length: 250 }, () => 0));
    expect(labels(root, rootId)).toEqual([null, "0 … 99", "100 … 199", "200 … 249"]);
    expect(labels(root, rootId, "$/200-250").slice(-2)).toEqual(["248", "249"]);
    const large = read(Array.from({ length: 10_001 }, () => 0));
    expect(labels(large, rootId)).toEqual([null, "0 … 9999", "10000 … 10000"]);
    expect(labels(large, rootId, "$/0-10000")).toContain("9900 … 9999");
  });

  it("shows every node once with everything open, and no more than a hundred rows a container", () => {
    const values = fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      fc.nat({ max: 1500 }).map((length) => Array.from({ length }, (_, index) => [index])),
    );
    fc.assert(
      fc.property(values, (value) => {
        const root = read(value);
        const open = new Set<string>();
        let rows = jsonRows(root, open);
        for (;;) {
          const closed = rows.filter((row) => row.isExpandable && !row.isOpen);
          if (closed.length === 0) break;
          for (const { id } of closed) open.add(id);
          rows = jsonRows(root, open);
        }
        expect(rows.filter(({ node }) => node !== null)).toHaveLength(countNodes(root));
        expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
        const counts = Map.groupBy(rows, ({ parentId }) => parentId);
        for (const children of counts.values()) expect(children.length).toBeLessThanOrEqual(100);
      }),
      { numRuns: 30 },
    );
  });
});

function countNodes(node: JsonNode): number {
  if (childCount(node) === 0) return 1;
  const children =
    node.kind === "object"
      ? node.members.map(({ value }) => value)
      : node.kind === "array"
        ? node.items
        : [];
  return children.reduce((count, child) => count + countNodes(child), 1);
}
