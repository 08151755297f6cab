import { expect, it } from "vitest";
import { describeResponse, mergeLogs, QueryLog, type LoggedQuery } from "./query-log.ts";

const logged = (milliseconds: number): LoggedQuery => ({
  name: "example.org",
  type: "A",
  transport: "udp",
  server: null,
  milliseconds,
  startedMilliseconds: milliseconds,
  rcode: "NOERROR",
  truncated: false,
  fault: null,
});
const times = (queries: readonly LoggedQuery[]) => queries.map(({ milliseconds }) => milliseconds);

it("QueryLog keeps the last queries, and no more than its limit", () => {
  const log = new QueryLog(3);
  expect(log.list()).toEqual([]);
  for (let count = 1; count <= 20; count++) {
    log.add(logged(count));
    const expected = [count - 2, count - 1, count].filter((each) => each > 0);
    expect(times(log.list())).toEqual(expected);
  }
  log.clear();
  expect(log.list()).toEqual([]);
});

it("mergeLogs() orders by time, and keeps the order of each log", () => {
  const merged = mergeLogs([[logged(1), logged(4)], [], [logged(2), logged(4)]]);
  expect(times(merged)).toEqual([1, 2, 4, 4]);
});

it("describeResponse() reads the code and TC", () => {
  const response = new Uint8Array(12);
  response[2] = 0x82;
  response[3] = 0x83;
  expect(describeResponse(response)).toEqual({ rcode: "NXDOMAIN", truncated: true });
  expect(describeResponse(null)).toEqual({ rcode: null, truncated: false });
});
