import { describe, expect, it, vi } from "vitest";
import {
  composeQuery,
  plainEdns,
  respondFrom,
  tcp,
  tls,
  udp,
} from "../../../test/dns/support/query.ts";
import { serve } from "../../../test/dns/support/served.ts";
import type { QuerySource } from "../answer/query.ts";
import type { ServedZones } from "../answer/served-zones.ts";
import { decodeMessage, type Message } from "../wire/message.ts";
import { textKey } from "../wire/name.ts";
import { rcodes } from "../wire/numbers.ts";
import { ArmedQueryFaults } from "./armed-faults.ts";
import type { QueryFaultInput } from "./query-fault.ts";
import { readQueryFault } from "./read-fault.ts";
import { ObservedQueries, type LateReply, type Reply } from "./observed-queries.ts";

const www = composeQuery("www.example.org A", { edns: plainEdns });

async function collect(messages: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const collected: Uint8Array[] = [];
  for await (const message of messages) collected.push(message);
  return collected;
}

function answer(from: ServedZones, query: Uint8Array, source: QuerySource): Uint8Array {
  return respondFrom(from).responder.respond(query, source, 0) as Uint8Array;
}

/** A server with faults and a log, at a clock that only `wait` moves. */
function observe(...faults: readonly QueryFaultInput[]) {
  const zones = serve({ "example.org": "www 300 A 192.0.2.1" });
  const armed = new ArmedQueryFaults();
  for (const fault of faults) armed.arm(readQueryFault(fault), null);
  let now = 1000;
  const take = vi.fn(async (question: Parameters<ArmedQueryFaults["take"]>[0]) =>
    armed.take(question),
  );
  const observed = new ObservedQueries({
    take,
    wait: async (milliseconds) => (now += milliseconds),
    nowMilliseconds: () => now,
    tickMilliseconds: () => now,
  });
  observed.observe({ faults: armed.served(), log: 1, startsEmpty: true, history: [] }, zones);
  return {
    zones,
    observed,
    faults: armed.served(),
    take,
    handle: (query: Uint8Array, source = udp): Reply | LateReply =>
      observed.handle(query, source, {
        answer: () => answer(zones, query, source),
        answerFrom: async (from) => answer(from, query, source),
      }),
    async ask(query = www, source = udp): Promise<Message | null> {
      const reply = (await this.handle(query, source)) as Uint8Array | null;
      return reply === null ? null : decodeMessage(reply);
    },
  };
}

describe("ObservedQueries", () => {
  it("keeps the last 200 queries without a log, and starts a log with them", () => {
    const { observed, zones, handle } = observe();
    const start = (log: number | null, startsEmpty = false): number => {
      observed.observe({ faults: [], log, startsEmpty, history: [] }, zones);
      return observed.logged().length;
    };
    start(null);
    for (let count = 0; count < 1000; count++) void handle(www);
    void handle(composeQuery("other.example.org A"));
    expect(start(2)).toBe(200);
    expect(
      observed
        .logged()
        .map(({ name }) => name)
        .slice(-2),
    ).toEqual(["www.example.org", "other.example.org"]);
    expect(observed.logged().at(-1)).toMatchObject({ rcode: "NXDOMAIN", truncated: false });
    void handle(www);
    expect(observed.logged()).toHaveLength(201);
    expect(start(3, true)).toBe(0);
    void handle(www);
    expect(start(null)).toBe(1);
  });

  it("keeps queries without a log beside faults, too", async () => {
    const server = observe({ kind: "servfail", type: "A" });
    const { observed, faults, zones } = server;
    observed.observe({ faults, log: null, startsEmpty: false, history: [] }, zones);
    await server.ask(www);
    await server.ask(composeQuery("www.example.org MX"));
    expect(observed.logged()).toMatchObject([
      { rcode: "SERVFAIL", fault: "servfail" },
      { type: "MX", rcode: "NOERROR", fault: null },
    ]);
  });

  it("logs durations with fractions of milliseconds", () => {
    let tick = 0;
    const observed = new ObservedQueries({
      take: async () => null,
      wait: async () => {},
      nowMilliseconds: () => 5000,
      tickMilliseconds: () => (tick += 0.25),
    });
    const ask = () =>
      observed.handle(www, udp, { answer: () => null, answerFrom: async () => null });
    void ask();
    observed.observe({ faults: [], log: 1, startsEmpty: false, history: [] }, serve({}));
    void ask();
    expect(observed.logged()).toMatchObject([
      { startedMilliseconds: 4999.75, milliseconds: 5000 },
      { startedMilliseconds: 5000, milliseconds: 5000.25 },
    ]);
  });

  it("answers queries that no fault matches at once, and logs them", () => {
    const { handle, take, observed } = observe({ kind: "drop", name: "other.example.org" });
    expect(handle(www)).toBeInstanceOf(Uint8Array);
    expect(take).not.toHaveBeenCalled();
    expect(observed.logged()).toEqual([
      {
        name: "www.example.org",
        type: "A",
        transport: "udp",
        server: null,
        askedName: "www.example.org",
        clientAddress: null,
        flags: [],
        ednsSize: 1232,
        clientSubnet: null,
        queryBytes: www.length,
        answerBytes: www.length + 16,
        milliseconds: 1000,
        startedMilliseconds: 1000,
        rcode: "NOERROR",
        truncated: false,
        fault: null,
      },
    ]);
  });

  it("answers as ever when the fault matches and does not hit", async () => {
    const server = observe({ kind: "drop", nth: 2 });
    expect((await server.ask())?.answers).toHaveLength(1);
    expect(await server.ask()).toBeNull();
    expect((await server.ask())?.answers).toHaveLength(1);
    expect(server.observed.logged().map(({ fault, rcode }) => [fault, rcode])).toEqual([
      [null, "NOERROR"],
      ["drop", null],
      [null, "NOERROR"],
    ]);
  });

  it.each([
    ["servfail", { rcode: rcodes.SERVFAIL, authoritative: false, answers: [] }],
    ["refused", { rcode: rcodes.REFUSED, authoritative: false, answers: [] }],
    ["lame", { rcode: rcodes.NOERROR, authoritative: false, answers: [], authorities: [] }],
    ["formerr", { rcode: rcodes.FORMERR, authoritative: false, answers: [] }],
    ["notimp", { rcode: rcodes.NOTIMP, authoritative: false, answers: [] }],
    ["nxdomain", { rcode: rcodes.NXDOMAIN, authoritative: true, answers: [] }],
    ["nodata", { rcode: rcodes.NOERROR, authoritative: true, answers: [] }],
    ["truncate", { rcode: rcodes.NOERROR, authoritative: true, truncated: true, answers: [] }],
    ["wrong_id", { id: 0xbeef ^ 0xffff, authoritative: true }],
  ] as const)("%s changes the response", async (kind, expected) => {
    const query = composeQuery("wWw.example.org A", { edns: plainEdns });
    const response = await observe({ kind }).ask(query);
    expect(response).toMatchObject(expected);
    expect(response?.questions).toMatchObject([{ name: "wWw.example.org", type: 1, class: 1 }]);
    expect(response?.edns).not.toBeNull();
    expect(response?.response).toBe(true);
  });

  it.each(["nxdomain", "nodata"] as const)(
    "%s has the SOA of a true negative answer",
    async (kind) => {
      const [missing] = (await observe().ask(composeQuery("missing.example.org A")))!.authorities;
      expect((await observe({ kind }).ask())?.authorities).toEqual([missing]);
      expect(missing).toMatchObject({ name: "example.org", type: 6 });
      const elsewhere = await observe({ kind }).ask(composeQuery("example.net A"));
      expect(elsewhere?.authorities).toEqual([]);
    },
  );

  it("no_edns answers queries with OPT like a server that does not know it", async () => {
    const server = observe({ kind: "no_edns" });
    expect(await server.ask()).toMatchObject({ rcode: rcodes.FORMERR, edns: null, answers: [] });
    const plain = await server.ask(composeQuery("www.example.org A"));
    expect(plain).toMatchObject({ rcode: rcodes.NOERROR, answers: [{ type: 1 }] });
  });

  it("answer has other records, and names that no zone has get them too", async () => {
    const fault = { kind: "answer", type: "A", content: ["192.0.2.66", "192.0.2.67"] } as const;
    const server = observe({ ...fault, ttl: 5 });
    for (const name of ["wWw.example.org", "www.example.net"]) {
      expect(await server.ask(composeQuery(`${name} A`))).toMatchObject({
        rcode: rcodes.NOERROR,
        authoritative: true,
        answers: [
          { name, type: 1, ttlSeconds: 5, data: Uint8Array.of(192, 0, 2, 66) },
          { name, type: 1, ttlSeconds: 5, data: Uint8Array.of(192, 0, 2, 67) },
        ],
      });
    }
    expect((await observe(fault).ask())?.answers[0]).toMatchObject({ ttlSeconds: 300 });
    expect((await server.ask(composeQuery("www.example.org AAAA")))?.answers).toEqual([]);
  });

  it("answer is truncated where it does not fit", async () => {
    const content = Array.from({ length: 60 }, (_, index) => `192.0.2.${index}`);
    const server = observe({ kind: "answer", type: "A", content });
    const plain = composeQuery("www.example.org A");
    expect(await server.ask(plain)).toMatchObject({ truncated: true, answers: [] });
    expect(await server.ask(plain, tcp)).toMatchObject({ truncated: false });
    expect((await server.ask(www))?.answers).toHaveLength(60);
  });

  it("ttl changes every TTL and nothing else", async () => {
    const server = observe({ kind: "ttl", ttl: 7 });
    const usual = await observe().ask();
    const answers = usual!.answers.map((record) => ({ ...record, ttlSeconds: 7 }));
    expect(await server.ask()).toEqual({ ...usual, answers });
    const missing = await server.ask(composeQuery("missing.example.org A"));
    expect(missing).toMatchObject({ rcode: rcodes.NXDOMAIN, authorities: [{ ttlSeconds: 7 }] });
  });

  it("malformed octets have the header and the question of a response, and cannot be parsed", async () => {
    const server = observe({ kind: "malformed" });
    const octets = (await server.handle(www)) as Uint8Array;
    expect(() => decodeMessage(octets)).toThrow("A compression pointer goes forward");
    expect(octets.slice(0, 8)).toEqual(Uint8Array.of(0xbe, 0xef, 0x84, 0, 0, 1, 0, 1));
    expect(await server.handle(www)).toEqual(octets);
    expect(server.observed.logged()).toMatchObject([{ rcode: "NOERROR" }, { fault: "malformed" }]);
  });

  it("tcp_reset resets the connection, and other_port sends the response elsewhere", async () => {
    const server = observe({ kind: "tcp_reset" }, { kind: "other_port" });
    const calls: unknown[] = [];
    const source = {
      reset: () => void calls.push("reset"),
      sendFromOtherPort: (response: Uint8Array) => void calls.push(decodeMessage(response).id),
    };
    expect(await server.ask(www, { ...tcp, ...source })).toBeNull();
    expect(await server.ask(www, { ...udp, ...source })).toBeNull();
    expect(calls).toEqual(["reset", 0xbeef]);
    expect(server.observed.logged().map(({ fault, rcode }) => [fault, rcode])).toEqual([
      ["tcp_reset", null],
      ["other_port", "NOERROR"],
    ]);
  });

  it("a response to a query without EDNS has none", async () => {
    expect((await observe({ kind: "servfail" }).ask(composeQuery("a.test A")))?.edns).toBeNull();
  });

  it("delay answers later", async () => {
    const server = observe({ kind: "delay", by: "2s" });
    expect((await server.ask())?.answers).toHaveLength(1);
    expect(server.observed.logged()).toMatchObject([
      { startedMilliseconds: 1000, milliseconds: 3000, fault: "delay" },
    ]);
  });

  it("stale answers from the zones at the start of the fault", async () => {
    const server = observe({ kind: "stale", type: "A" });
    const { zones, observed } = server;
    const zone = zones.at(textKey("example.org"))!;
    const { id, name } = zone.data.records[0]!;
    const change = { serial: zone.serial + 1, removed: [{ id, name }], added: [] };
    zones.apply(zone.id, change);
    observed.onZoneChange(zones, zone.id, change);
    expect((await server.ask())?.answers).toHaveLength(1);
    observed.observe({ faults: [], log: 1, startsEmpty: true, history: [] }, zones);
    expect((await server.ask())?.rcode).toBe(rcodes.NXDOMAIN);
  });

  it.each([tcp, tls])("a transfer over $transport is a stream, also by a fault", async (source) => {
    const transfer = composeQuery("example.org AXFR");
    const by = (kind: QueryFaultInput["kind"]) =>
      observe({ kind }).handle(transfer, source) as AsyncIterable<Uint8Array>;
    const messages = await collect(by("servfail"));
    expect(messages.map((message) => decodeMessage(message).rcode)).toEqual([rcodes.SERVFAIL]);
    expect(await collect(by("drop"))).toEqual([]);
  });

  it("leaves octets that are no query to the server", () => {
    const { handle, take, observed } = observe({ kind: "drop" });
    expect(handle(new Uint8Array(3))).toBeNull();
    const malformed = www.slice();
    malformed[5] = 2;
    expect(handle(malformed)).toBeInstanceOf(Uint8Array);
    expect(take).not.toHaveBeenCalled();
    expect(observed.logged()).toEqual([]);
  });

  it("losesNotify() asks for faults of the zone and the secondary", async () => {
    const { observed } = observe({ kind: "lost_notify", zone: "example.org", times: 1 });
    expect(await observed.losesNotify("example.net", "127.0.0.9")).toBe(false);
    expect(await observed.losesNotify("Example.org", "127.0.0.9")).toBe(true);
    expect(await observed.losesNotify("example.org", "127.0.0.9")).toBe(false);
    expect(observed.logged()).toMatchObject([
      { askedName: "example.org", transport: "notify", server: "127.0.0.9", queryBytes: null },
    ]);
  });

  it("a new number of the log starts an empty log", async () => {
    const { observed, zones } = observe();
    observed.observe({ faults: [], log: 1, startsEmpty: true, history: [] }, zones);
    void observed.handle(www, udp, { answer: () => null, answerFrom: async () => null });
    expect(observed.logged()).toHaveLength(1);
    observed.observe({ faults: [], log: 2, startsEmpty: true, history: [] }, zones);
    expect(observed.logged()).toEqual([]);
  });

  it("logged() has the last 5000 queries, or those since a time", async () => {
    const server = observe({ kind: "delay", by: 1, nth: 10_002, times: 2 });
    for (let count = 0; count < 10_003; count++) await server.handle(www);
    const times = server.observed.logged().map(({ milliseconds }) => milliseconds);
    expect([times.length, ...times.slice(-3)]).toEqual([5000, 1000, 1001, 1002]);
    expect(server.observed.logged(1001)).toHaveLength(2);
  });
});
