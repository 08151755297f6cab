import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LoggedQuery } from "../../dns/fault/observed-queries.ts";
import { QueryWindow } from "./query-window.ts";

function query(milliseconds: number, name = "example.org"): LoggedQuery {
  return {
    name,
    type: "A",
    transport: "udp",
    server: null,
    milliseconds,
    startedMilliseconds: milliseconds,
    rcode: "NOERROR",
    truncated: false,
    fault: null,
  };
}

describe("QueryWindow", () => {
  it("has queries that arrive late, and equal queries of one millisecond", () => {
    const window = new QueryWindow();
    expect(window.sinceMilliseconds).toBe(0);
    expect(window.take([query(5000), query(5000)])).toHaveLength(2);
    expect(window.sinceMilliseconds).toBe(3000);
    const late = query(4000, "late.example.org");
    expect(window.take([late, query(5000), query(5000), query(5000)])).toEqual([late, query(5000)]);
    expect(window.take([late, query(5000), query(5000), query(5000)])).toEqual([]);
  });

  it("has each query once, if none is later than the overlap", () => {
    const step = fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 5 });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const window = new QueryWindow();
        const log: LoggedQuery[] = [];
        const taken: LoggedQuery[] = [];
        for (const [index, offsets] of steps.entries()) {
          log.push(...offsets.map((offset) => query(500 * index + offset)));
          log.sort((one, other) => one.milliseconds - other.milliseconds);
          const since = window.sinceMilliseconds;
          taken.push(...window.take(log.filter(({ milliseconds }) => milliseconds >= since)));
        }
        expect(taken).toHaveLength(log.length);
      }),
    );
  });
});
