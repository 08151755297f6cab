import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { composeQuery, plainEdns, tcp, udp } from "../../../test/dns/support/query.ts";
import type { QuerySource } from "../answer/query.ts";
import {
  mergeLogs,
  QueryLog,
  QueryWindow,
  type LoggedQuery,
  type ResponseSummary,
} from "./query-log.ts";

const answered: ResponseSummary = { flags: 0x8403, bytes: 90 };

function logOf(
  query: Uint8Array,
  source: QuerySource = udp,
  response = answered,
): Partial<LoggedQuery> | undefined {
  const log = new QueryLog();
  log.start(1, true);
  log.add({ query, source, startedMilliseconds: 1, milliseconds: 2, response, fault: null });
  return log.since(0)[0];
}

/** OPT with one option. */
const withOption = (code: number, ...data: number[]) =>
  composeQuery("a.test A", {
    edns: { ...plainEdns, options: [{ code, data: Uint8Array.from(data) }] },
  });

describe("QueryLog", () => {
  it("has the client, the name in its case, and the sizes", () => {
    const query = composeQuery("wWw.Example.org AAAA");
    expect(logOf(query, { ...tcp, server: "::1", clientAddress: "[::1]:4000" })).toEqual({
      name: "www.example.org",
      askedName: "wWw.Example.org",
      type: "AAAA",
      transport: "tcp",
      server: "::1",
      clientAddress: "[::1]:4000",
      flags: [],
      ednsSize: null,
      clientSubnet: null,
      queryBytes: query.length,
      answerBytes: 90,
      rcode: "NXDOMAIN",
      truncated: false,
      fault: null,
      startedMilliseconds: 1,
      milliseconds: 2,
    });
  });

  it("has no size and no code without an answer", () => {
    const nothing = { flags: null, bytes: 0 };
    expect(logOf(composeQuery("a.test A"), udp, nothing)).toMatchObject({
      rcode: null,
      answerBytes: null,
    });
  });

  it("has the flags of the query and its EDNS size", () => {
    const flags = { recursionDesired: true, authenticData: true, checkingDisabled: true };
    const edns = { ...plainEdns, udpBytesMax: 4096, dnssecOk: true };
    expect(logOf(composeQuery("a.test A", { ...flags, edns }))).toMatchObject({
      flags: ["rd", "ad", "cd", "do"],
      ednsSize: 4096,
    });
  });

  it.each<[string | null, number[]]>([
    ["192.0.2.0/24", [0, 1, 24, 0, 192, 0, 2]],
    ["192.0.2.128/25", [0, 1, 25, 0, 192, 0, 2, 128]],
    ["0.0.0.0/0", [0, 1, 0, 0]],
    ["2001:db8::/56", [0, 2, 56, 0, 0x20, 1, 0x0d, 0xb8, 0, 0, 0]],
    // Another family, a prefix without its octets, too many octets.
    [null, [0, 3, 8, 0, 1]],
    [null, [0, 1, 24, 0, 192]],
    [null, [0, 1, 40, 0, 192, 0, 2, 1, 1]],
    [null, [0, 1]],
  ])("reads the client subnet %s", (text, data) => {
    expect(logOf(withOption(8, ...data))).toMatchObject({ clientSubnet: text });
    expect(logOf(withOption(10, ...data))).toMatchObject({ clientSubnet: null });
  });
});

const logged = (milliseconds: number, name = "a.test") => ({ milliseconds, name }) as LoggedQuery;
const followLog = () => new QueryWindow<LoggedQuery>(({ milliseconds }) => milliseconds);

it("mergeLogs() orders by time, and keeps the order of each log", () => {
  const merged = mergeLogs([[logged(1), logged(4)], [], [logged(2), logged(4)]]);
  expect(merged.map(({ milliseconds }) => milliseconds)).toEqual([1, 2, 4, 4]);
});

describe("QueryWindow", () => {
  it("has queries that arrive late, and equal queries of one millisecond", () => {
    const window = followLog();
    expect(window.sinceMilliseconds).toBe(0);
    expect(window.take([logged(5000), logged(5000)])).toHaveLength(2);
    expect(window.sinceMilliseconds).toBe(3000);
    const late = logged(4000, "late.example.org");
    expect(window.take([late, logged(5000), logged(5000), logged(5000)])).toEqual([
      late,
      logged(5000),
    ]);
    expect(window.take([late, logged(5000), logged(5000), logged(5000)])).toEqual([]);
    expect(window.hasGap).toBe(false);
  });

  it("tells that an answer has nothing of the answer before", () => {
    const window = followLog();
    window.take([logged(1000)]);
    window.take([logged(1000), logged(2000)]);
    expect(window.hasGap).toBe(false);
    window.take([logged(3000)]);
    expect(window.hasGap).toBe(true);
    window.take([logged(3000)]);
    expect(window.hasGap).toBe(false);
  });

  it("has each query once, if none is later than the overlap", () => {
    const step = fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 5 });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const window = followLog();
        const log: LoggedQuery[] = [];
        const taken: LoggedQuery[] = [];
        for (const [index, offsets] of steps.entries()) {
          log.push(...offsets.map((offset) => logged(500 * index + offset)));
          log.sort((one, other) => one.milliseconds - other.milliseconds);
          const since = window.sinceMilliseconds;
          taken.push(...window.take(log.filter(({ milliseconds }) => milliseconds >= since)));
        }
        expect(taken).toHaveLength(log.length);
      }),
    );
  });
});
