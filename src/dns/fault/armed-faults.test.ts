import * as fc from "fast-check";
import { expect, it } from "vitest";
import { ArmedQueryFaults } from "./armed-faults.ts";
import type { FaultQuestion, QueryFaultInput } from "./query-fault.ts";
import { readQueryFault } from "./read-fault.ts";

const ask = (name: string): FaultQuestion => ({
  name,
  type: "A",
  transport: "udp",
  server: null,
  ednsSize: null,
});

function arm(...faults: readonly QueryFaultInput[]): ArmedQueryFaults {
  const armed = new ArmedQueryFaults();
  for (const fault of faults) armed.arm(readQueryFault(fault), null);
  return armed;
}

it("take() returns the first fault that hits, and every fault that matches counts the query", () => {
  const armed = arm({ kind: "drop", name: "a.test", times: 1 }, { kind: "servfail" });
  expect([armed.take(ask("a.test")), armed.take(ask("a.test")), armed.take(ask("b.test"))]).toEqual(
    [1, 2, 2],
  );
  expect(armed.list()).toEqual([
    { kind: "drop", name: "a.test", times: 1, matches: 2, hits: 1 },
    { kind: "servfail", matches: 3, hits: 2 },
  ]);
});

it("take() hits exactly the queries from nth on, times of them", () => {
  const number = fc.integer({ min: 1, max: 6 });
  fc.assert(
    fc.property(number, number, fc.integer({ min: 0, max: 15 }), (nth, times, queries) => {
      const armed = arm({ kind: "drop", nth, times });
      const taken = Array.from({ length: queries }, () => armed.take(ask("a.test")));
      const expected = taken.map((_, index) =>
        index + 1 >= nth && index + 1 < nth + times ? 1 : null,
      );
      expect(taken).toEqual(expected);
      expect(armed.list()[0]).toMatchObject({
        matches: queries,
        hits: taken.filter((id) => id !== null).length,
      });
    }),
  );
});

it("closeLayer() ends the faults of the layer and of the layers above it", () => {
  const armed = new ArmedQueryFaults();
  armed.arm(readQueryFault({ kind: "drop" }), null);
  armed.arm(readQueryFault({ kind: "lame" }), 1);
  armed.arm(readQueryFault({ kind: "refused" }), 2);
  armed.arm(readQueryFault({ kind: "servfail" }), 3);
  const kinds = () => armed.served().map(({ kind }) => kind);
  expect(armed.closeLayer(2)).toBe(true);
  expect(kinds()).toEqual(["drop", "lame"]);
  expect(armed.closeLayer(2)).toBe(false);
  expect(armed.clear()).toBe(true);
  expect(kinds()).toEqual([]);
});

it("clear() and closeLayer() leave held faults, which release() ends", () => {
  const armed = arm({ kind: "servfail" });
  const held = armed.hold(readQueryFault({ kind: "drop", name: "a.test" }));
  armed.closeLayer(1);
  expect(armed.clear()).toBe(true);
  expect(armed.take(ask("a.test"))).toBe(held);
  expect(armed.hitsOf(held)).toBe(1);
  armed.release([held]);
  expect(armed.take(ask("a.test"))).toBeNull();
  expect(armed.hitsOf(held)).toBe(0);
});
