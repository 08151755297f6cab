import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../test/support/error-of.ts";
import {
  matchesQuestion,
  queryFaultKinds,
  QueryFaultError,
  readQueryFault,
  type FaultQuestion,
  type QueryFaultInput,
  ArmedQueryFaults,
} from "./query-fault.ts";

const question: FaultQuestion = {
  name: "www.example.org",
  type: "A",
  transport: "udp",
  server: "127.0.0.1",
};

describe("readQueryFault()", () => {
  it("fills what is not given", () => {
    expect(readQueryFault({ kind: "drop" })).toEqual({
      target: {
        kind: "drop",
        name: null,
        zone: null,
        types: null,
        transport: null,
        server: null,
        milliseconds: 0,
      },
      given: { kind: "drop" },
      first: 1,
      times: Infinity,
      probability: 1,
      seed: 1,
    });
  });

  it("normalises names and types, and reads lengths of time", () => {
    const fault = { kind: "delay", name: "WWW.Example.org.", type: ["a", "type28"], by: "1.5s" };
    expect(readQueryFault(fault).target).toMatchObject({
      name: "www.example.org",
      types: ["A", "AAAA"],
      milliseconds: 1500,
    });
  });

  it("hits one query with nth, and a number of queries from the nth on with times", () => {
    expect(readQueryFault({ kind: "drop", nth: 3 })).toMatchObject({ first: 3, times: 1 });
    expect(readQueryFault({ kind: "drop", nth: 3, times: 2 })).toMatchObject({ times: 2 });
  });

  it.each<[unknown, string]>([
    ["drop", "A fault is an object with a kind."],
    [{}, 'A fault needs a "kind": drop, delay,'],
    [{ kind: "dropp" }, '"dropp" is no kind. Did you mean "drop"?'],
    [{ kind: "drop", nmae: "x" }, '"nmae" is no field of a fault. Did you mean "name"?'],
    [{ kind: "drop", name: "a", zone: "b" }, 'A fault has a "name" or a "zone", and not both.'],
    [{ kind: "drop", name: "a..b" }, '"name" is "a..b", which is no domain name.'],
    [{ kind: "drop", name: 7 }, '"name" is 7: give text.'],
    [{ kind: "drop", type: "AA" }, '"type" is "AA", which is no type of records.'],
    [{ kind: "drop", type: [] }, '"type" is an empty list: leave it out.'],
    [{ kind: "drop", transport: "tls" }, '"tls" is no transport.'],
    [{ kind: "drop", by: "1s" }, '"by" is a field of delay and propagation_delay, not of drop.'],
    [{ kind: "delay" }, '"delay" needs "by": give a length of time'],
    [{ kind: "delay", by: "2 hours" }, '"by" is "2 hours": give a length of time'],
    [{ kind: "delay", by: "2m" }, "at most 60 seconds."],
    [{ kind: "delay", by: -1 }, '"by" is -1'],
    [{ kind: "propagation_delay", by: "31d" }, "at most 30 days."],
    [{ kind: "drop", times: 0 }, '"times" is 0: give a whole number from 1.'],
    [{ kind: "drop", nth: 1.5 }, '"nth" is 1.5: give a whole number from 1.'],
    [{ kind: "drop", probability: 2 }, '"probability" is 2: give a number from 0 to 1.'],
    [{ kind: "drop", seed: "x" }, '"seed" is "x": give a whole number.'],
    [{ kind: "truncate", transport: "tcp" }, '"truncate" has an effect over UDP only'],
    [{ kind: "stale", type: "AXFR" }, '"stale" has no effect on transfers'],
    [{ kind: "lost_notify", type: "A" }, '"lost_notify" has a "zone" and a "server"'],
  ])("refuses %j with a sentence", (input, sentence) => {
    expect(() => readQueryFault(input)).toThrow(QueryFaultError);
    expect(() => readQueryFault(input)).toThrow(sentence);
  });

  it("returns a fault or throws QueryFaultError, for any input", () => {
    const word = fc.oneof(fc.constantFrom(...queryFaultKinds, "udp", "A", "1s"), fc.jsonValue());
    const keys = ["kind", "name", "zone", "type", "transport", "server", "by", "nth", "times"];
    const input = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom(...keys, "probability", "seed", "other"), word),
    );
    fc.assert(
      fc.property(input, (value) => {
        expect(errorOf(() => readQueryFault(value))).toSatisfy(
          (error) => error === null || error instanceof QueryFaultError,
        );
      }),
    );
  });
});

const transfer = { type: "AXFR", transport: "tcp" } as const;
const notify = { type: "SOA", name: "example.org", transport: "notify" } as const;

it.each<[QueryFaultInput, Partial<FaultQuestion>, boolean]>([
  [{ kind: "drop" }, {}, true],
  [{ kind: "drop", name: "www.example.org", type: "A" }, {}, true],
  [{ kind: "drop", name: "*.example.org" }, {}, true],
  [{ kind: "drop", name: "example.org" }, {}, false],
  [{ kind: "drop", type: ["AAAA", "TXT"] }, {}, false],
  [{ kind: "drop", transport: "tcp" }, {}, false],
  [{ kind: "drop", server: "127.0.0.2" }, {}, false],
  [{ kind: "drop", server: "127.0.0.1" }, {}, true],
  // The names at and below a zone, by labels.
  [{ kind: "lame", zone: "example.org" }, {}, true],
  [{ kind: "lame", zone: "example.org" }, { name: "example.org" }, true],
  [{ kind: "lame", zone: "example.org" }, { name: "bexample.org" }, false],
  [{ kind: "lame", zone: "." }, {}, true],
  [{ kind: "truncate" }, { transport: "tcp" }, false],
  [{ kind: "stale" }, transfer, false],
  [{ kind: "drop" }, transfer, true],
  // NOTIFY and queries are kept apart.
  [{ kind: "lost_notify", zone: "example.org" }, notify, true],
  [{ kind: "lost_notify", zone: "example.net" }, notify, false],
  [{ kind: "lost_notify" }, {}, false],
  [{ kind: "drop" }, notify, false],
])("matchesQuestion() of %j and %j is %s", (fault, changes, expected) => {
  expect(matchesQuestion(readQueryFault(fault).target, { ...question, ...changes })).toBe(expected);
});

const ask = (name: string): FaultQuestion => ({
  name,
  type: "A",
  transport: "udp",
  server: null,
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
