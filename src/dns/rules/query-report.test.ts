import { expect, test } from "vitest";
import { requireValid } from "../record/problem.ts";
import { makeReport, readReportRequest } from "./query-report.ts";

const counts = [
  { name: "a.example.org", type: "A", rcode: "NOERROR", count: 3 },
  { name: "a.example.org", type: "AAAA", rcode: "NOERROR", count: 1 },
  { name: "b.example.org", type: "A", rcode: "NXDOMAIN", count: 2 },
  { name: "xexample.org", type: "A", rcode: "NOERROR", count: 9 },
];

function report(parameters: Record<string, string>) {
  const read = new Map(Object.entries(parameters));
  const request = requireValid((problem) => readReportRequest(read, problem));
  const { data, totals } = makeReport(counts, "example.org", request) as {
    data: { dimensions: string[]; metrics: number[] }[];
    totals: { queryCount: number };
  };
  return [
    ...data.map(({ dimensions, metrics }) => [...dimensions, ...metrics].join(" ")),
    `total ${totals.queryCount}`,
  ];
}

test.each([
  [{}, ["6", "total 6"]],
  [{ dimensions: "queryType" }, ["A 5", "AAAA 1", "total 6"]],
  [{ dimensions: "queryName,responseCode", limit: "1" }, ["a.example.org NOERROR 4", "total 6"]],
  [{ filters: "responseCode!=NXDOMAIN;queryType==aaaa" }, ["1", "total 1"]],
  [{ filters: "responseCode==NXDOMAIN,queryType==AAAA" }, ["3", "total 3"]],
])("makeReport() for %j", (parameters, lines) => {
  expect(report(parameters)).toEqual(lines);
});

test.each<Record<string, string>>([
  { dimensions: "coloName" },
  { metrics: "uncachedCount" },
  { filters: "queryType>A" },
  { limit: "0" },
])("readReportRequest() refuses %j", (parameters) => {
  expect(() => report(parameters)).toThrow("must be");
});
