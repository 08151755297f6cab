import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../test/support/error-of.ts";
import { QueryFaultError, queryFaultKinds } from "./query-fault.ts";
import { readQueryFault } from "./read-fault.ts";

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
        ttlSeconds: null,
        data: [],
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

  it("reads the records of an answer as a zone file has them", () => {
    const fault = { kind: "answer", type: "mx", content: ["10 a.test.", "5 b"], ttl: 0 };
    expect(readQueryFault(fault).target).toMatchObject({
      types: ["MX"],
      ttlSeconds: 0,
      data: ["000a0161047465737400", "0005016200"],
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
    [{ kind: "drop", transport: "quic" }, '"quic" is no transport.'],
    [{ kind: "drop", by: "1s" }, '"by" is a field of delay and propagation_delay, not of drop.'],
    [{ kind: "delay" }, '"delay" needs "by": give a length of time'],
    [{ kind: "delay", by: "2 hours" }, '"by" is "2 hours": give a length of time'],
    [{ kind: "delay", by: "2m" }, "at most 60 seconds."],
    [{ kind: "delay", by: -1 }, '"by" is -1'],
    [{ kind: "propagation_delay", by: "31d" }, "at most 30 days."],
    [{ kind: "drop", times: 0 }, '"times" is 0: give a whole number from 1.'],
    [{ kind: "drop", nth: 1.5 }, '"nth" is 1.5: give a whole number from 1.'],
    [{ kind: "drop", probability: 2 }, '"probability" is 2: give a number above 0, up to 1.'],
    [{ kind: "drop", probability: 0 }, '"probability" is 0: give a number above 0, up to 1.'],
    [{ kind: "drop", seed: 3 }, '"seed" has an effect together with "probability" only.'],
    [{ kind: "drop", server: "foo" }, '"server" is "foo", which is no IP address.'],
    [{ kind: "drop", probability: 1, seed: "x" }, '"seed" is "x": give a whole number.'],
    [{ kind: "truncate", transport: "tcp" }, '"truncate" has an effect over udp only: give no'],
    [{ kind: "wrong_id", transport: "https" }, '"wrong_id" has an effect over udp, tcp, tls only'],
    [{ kind: "tcp_reset", transport: "udp" }, '"tcp_reset" has an effect over tcp, tls only'],
    [{ kind: "other_port", transport: "tls" }, '"other_port" has an effect over udp only'],
    [{ kind: "drop", ttl: 5 }, '"ttl" is a field of ttl and answer, not of drop.'],
    [{ kind: "ttl" }, '"ttl" needs "ttl", in seconds.'],
    [{ kind: "ttl", ttl: -1 }, '"ttl" is -1: give a whole number of seconds from 0 to 2147483647.'],
    [{ kind: "ttl", ttl: 5, type: "AXFR" }, '"ttl" has no effect on transfers'],
    [{ kind: "drop", content: "x" }, '"content" is a field of answer, not of drop.'],
    [{ kind: "answer", content: "192.0.2.1" }, '"answer" needs one "type"'],
    [{ kind: "answer", type: ["A", "MX"], content: "192.0.2.1" }, '"answer" needs one "type"'],
    [{ kind: "answer", type: "ANY", content: "192.0.2.1" }, '"answer" needs one "type"'],
    [{ kind: "answer", type: "A" }, '"answer" needs "content": give one or more texts such as "'],
    [{ kind: "answer", type: "A", content: [] }, '"answer" needs "content"'],
    [{ kind: "answer", type: "A", content: [7] }, '"content" is 7: give text.'],
    [{ kind: "answer", type: "A", content: "192.0.2" }, '"content" is "192.0.2": give one or more'],
    [{ kind: "answer", type: "MX", content: "mail.test" }, ", as in a zone file."],
    [{ kind: "answer", type: "TXT", content: '"a' }, ", as in a zone file."],
    [{ kind: "stale", type: "AXFR" }, '"stale" has no effect on transfers'],
    [{ kind: "lost_notify", type: "A" }, '"lost_notify" has a "zone" and a "server"'],
  ])("refuses %j with a sentence", (input, sentence) => {
    expect(() => readQueryFault(input)).toThrow(QueryFaultError);
    expect(() => readQueryFault(input)).toThrow(sentence);
  });

  it("returns a fault or throws QueryFaultError, for any input", () => {
    const word = fc.oneof(fc.constantFrom(...queryFaultKinds, "udp", "A", "1s"), fc.jsonValue());
    const keys = [
      "kind",
      "name",
      "zone",
      "type",
      "transport",
      "server",
      "by",
      "nth",
      "times",
      "ttl",
      "content",
    ];
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
