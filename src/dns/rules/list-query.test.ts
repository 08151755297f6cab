import { expect, test } from "vitest";
import type { Problem } from "../record/problem.ts";
import { describePage, readRecordQuery } from "./list-query.ts";

function read(query: string) {
  const problems: Problem[] = [];
  const result = readRecordQuery(new Map(new URLSearchParams(query)), (found) =>
    problems.push(found),
  );
  return { ...result, problems: problems.map(({ message }) => message) };
}

test("readRecordQuery() has the defaults of the deployed service", () => {
  expect(read("")).toEqual({
    conditions: [],
    tagConditions: [],
    match: "all",
    tagMatch: "all",
    search: null,
    order: "type",
    direction: "asc",
    page: 1,
    perPage: 100,
    problems: [],
  });
});

test("readRecordQuery() converts values to lower case and punycode", () => {
  const [name, content] = read("name=WWW.Bücher.example.&content.startswith=ABC").conditions;
  expect(name).toEqual({
    kind: "text",
    field: "name",
    test: { operator: "exact", value: "www.xn--bcher-kva.example" },
  });
  expect(content).toMatchObject({ test: { operator: "startswith", value: "abc" } });
});

test("readRecordQuery() splits tags at the first colon", () => {
  expect(read("tag.contains=Team:a:B&tag.absent=X&tag=y").tagConditions).toEqual([
    { kind: "tag", name: "y", test: null, present: true },
    { kind: "tag", name: "team", test: { operator: "contains", value: "a:b" }, present: true },
    { kind: "tag", name: "x", test: null, present: false },
  ]);
});

test.each([
  ["page=0", "page must be"],
  ["page=-1", "page must be"],
  ["page=x", "page must be"],
  ["per_page=0", "per_page must be"],
  ["order=id", "order must be one of"],
  ["direction=up", "direction must be one of"],
  ["match=some", "match must be one of"],
  ["tag_match=some", "tag_match must be one of"],
  ["proxied=1", "proxied must be one of"],
])("readRecordQuery() refuses %s", (query, message) => {
  expect(read(query).problems).toEqual([expect.stringContaining(message)]);
});

test("describePage() gives an empty list one page", () => {
  expect(describePage({ page: 1, perPage: 100 }, 0, 0).total_pages).toBe(1);
  expect(describePage({ page: 3, perPage: 10 }, 1, 21)).toEqual({
    page: 3,
    per_page: 10,
    count: 1,
    total_count: 21,
    total_pages: 3,
  });
});
