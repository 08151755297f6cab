import { expect, test } from "vitest";
import { requireValid } from "../record/problem.ts";
import { inOneInterval, makeReport, readInterval, readReportRequest } from "./query-report.ts";

const counts = [
  { name: "a.example.org", type: "A", rcode: "NOERROR", count: 3 },
  { name: "a.example.org", type: "AAAA", rcode: "NOERROR", count: 1 },
  { name: "b.example.org", type: "A", rcode: "NXDOMAIN", count: 2 },
  { name: "xexample.org", type: "A", rcode: "NOERROR", count: 9 },
];

function report(parameters: Record<string, string>) {
  const read = new Map(Object.entries(parameters));
  const request = requireValid((problem) => readReportRequest(read, problem));
  const { data, totals } = makeReport(counts, "example.org", request);
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

test("inOneInterval() puts all counts into the interval of the request", () => {
  const parameters = new Map([["until", "2026-01-02T00:00:00Z"]]);
  const interval = requireValid((found) => readInterval(parameters, 0, found));
  const request = requireValid((found) => readReportRequest(parameters, found));
  expect(inOneInterval(makeReport(counts, "example.org", request), interval)).toMatchObject({
    data: [{ dimensions: [], metrics: [[6]] }],
    time_intervals: [["2026-01-01T18:00:00.000Z", "2026-01-02T00:00:00.000Z"]],
  });
});

test("readInterval() refuses a time that is none", () => {
  const parameters = new Map([["since", "yesterday"]]);
  const read = () => requireValid((found) => readInterval(parameters, 0, found));
  expect(read).toThrow("since must be a time");
});

test("readInterval() begins with the first time that a date can have", () => {
  const first = "-271821-04-20T00:00:00.000Z";
  const parameters = new Map([["until", first]]);
  const interval = requireValid((found) => readInterval(parameters, 0, found));
  expect(interval).toEqual([first, first]);
});
