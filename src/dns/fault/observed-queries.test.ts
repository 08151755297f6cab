import { describe, expect, it, vi } from "vitest";
import { composeQuery, plainEdns, respondFrom, tcp, udp } from "../../../test/dns/support/query.ts";
import { serve } from "../../../test/dns/support/served.ts";
import type { QuerySource } from "../answer/query.ts";
import type { ServedZones } from "../answer/served-zones.ts";
import { decodeMessage, type Message } from "../wire/message.ts";
import { textKey } from "../wire/name.ts";
import { rcodes } from "../wire/numbers.ts";
import { ArmedQueryFaults, readQueryFault, type QueryFaultInput } from "./query-fault.ts";
import {
  ObservedQueries,
  type LateReply,
  type Reply,
  mergeLogs,
  type LoggedQuery,
} from "./observed-queries.ts";
import { PastZones } from "./past-zones.ts";
import * as fc from "fast-check";
import type { ZoneChange } from "../rules/zone.ts";

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
  observed.observe({ faults: armed.served(), log: 1, startsEmpty: true }, zones);
  return {
    zones,
    observed,
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
      observed.observe({ faults: [], log, startsEmpty }, zones);
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
    expect(start(null)).toBe(0);
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
    observed.observe({ faults: [], log: 1, startsEmpty: false }, serve({}));
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
    observed.observe({ faults: [], log: 1, startsEmpty: true }, zones);
    expect((await server.ask())?.rcode).toBe(rcodes.NXDOMAIN);
  });

  it("a transfer is a stream, also when a fault answers in its place", async () => {
    const transfer = composeQuery("example.org AXFR");
    const reply = observe({ kind: "servfail" }).handle(transfer, tcp) as AsyncIterable<Uint8Array>;
    const messages = await collect(reply);
    expect(messages.map((message) => decodeMessage(message).rcode)).toEqual([rcodes.SERVFAIL]);
    const dropped = observe({ kind: "drop" }).handle(transfer, tcp) as AsyncIterable<Uint8Array>;
    expect(await collect(dropped)).toEqual([]);
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
    expect(observed.logged()).toMatchObject([{ transport: "notify", server: "127.0.0.9" }]);
  });

  it("a new number of the log starts an empty log", async () => {
    const { observed, zones } = observe();
    observed.observe({ faults: [], log: 1, startsEmpty: true }, zones);
    void observed.handle(www, udp, { answer: () => null, answerFrom: async () => null });
    expect(observed.logged()).toHaveLength(1);
    observed.observe({ faults: [], log: 2, startsEmpty: true }, zones);
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

const zones = () => serve({ "example.org": "www 300 A 192.0.2.1" });
const serialOf = (served: ServedZones) => served.at(textKey("example.org"))?.serial;
const idOf = (served: ServedZones) => served.at(textKey("example.org"))!.id;

function nextSerial(served: ServedZones): ZoneChange {
  return { serial: serialOf(served)! + 1, removed: [], added: [] };
}

it("at() has each change after the delay, and never before", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 20 }),
      fc.array(fc.integer({ min: 0, max: 10 }), { maxLength: 12 }),
      (delay, gaps) => {
        const served = zones();
        const id = idOf(served);
        const first = serialOf(served)!;
        const past = new PastZones(served, delay);
        const changedAt: number[] = [];
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          const change = nextSerial(served);
          served.apply(id, change);
          past.follow(served, { zoneId: id, change }, now);
          changedAt.push(now);
          const visible = changedAt.filter((time) => time + delay <= now).length;
          expect(serialOf(past.at(now))).toBe(first + visible);
        }
        expect(serialOf(past.at(now + delay))).toBe(serialOf(served));
      },
    ),
  );
});

it("an infinite delay keeps the zones as they were", () => {
  const served = zones();
  const past = new PastZones(served, Infinity);
  const before = serialOf(served);
  const change = nextSerial(served);
  served.apply(idOf(served), change);
  past.follow(served, { zoneId: idOf(served), change }, 0);
  expect(serialOf(past.at(Number.MAX_VALUE))).toBe(before);
});

it("zones that are replaced and removed follow too", () => {
  const served = zones();
  const id = idOf(served);
  const past = new PastZones(served, 10);
  const { data } = served.get(id)!;
  served.put({ ...data, serial: data.serial + 5 });
  past.follow(served, { zoneId: id, change: null }, 0);
  served.remove(id);
  past.follow(served, { zoneId: id, change: null }, 5);
  expect([9, 10, 14, 15].map((now) => serialOf(past.at(now)))).toEqual([
    data.serial,
    data.serial + 5,
    data.serial + 5,
    undefined,
  ]);
});

const logged = (milliseconds: number) => ({ milliseconds }) as LoggedQuery;

it("mergeLogs() orders by time, and keeps the order of each log", () => {
  const merged = mergeLogs([[logged(1), logged(4)], [], [logged(2), logged(4)]]);
  expect(merged.map(({ milliseconds }) => milliseconds)).toEqual([1, 2, 4, 4]);
});
