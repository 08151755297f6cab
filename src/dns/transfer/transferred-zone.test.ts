import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ResourceRecord } from "../wire/resource-record.ts";
import { typeCodes } from "../wire/numbers.ts";
import { ExternalAddressCache, lastAddresses } from "../answer/external-addresses.ts";
import type { ServedRecord, ZoneChange, ZoneHead } from "../rules/zone.ts";
import { ServedZones } from "../answer/served-zones.ts";
import { recordType } from "../record/types.ts";
import { defaultSettings } from "../rules/zone-settings.ts";
import { externalQuestions, replayZone, TransferredZone } from "./transferred-zone.ts";
import { groupSteps, rewind, type ChangeStep } from "../replication/publication.ts";
import type { ZoneRecord } from "../record/zone-record.ts";
import { typeName } from "../record/presentation.ts";

const head: ZoneHead = {
  nameServers: ["ns1.example.net"],
  settings: defaultSettings(["ns1.example.net"]),
  http2: true,
  http3: false,
  paused: false,
};

function record(id: number, part: Partial<ServedRecord> = {}): ServedRecord {
  return {
    id: String(id),
    name: "a.example.org",
    type: "A",
    content: `192.0.2.${id % 256}`,
    priority: null,
    ttl: 300,
    proxied: false,
    settings: {},
    ...part,
  };
}

/** A CNAME that is answered with the addresses of its target. */
function flat(id: number, content: string): ServedRecord {
  const settings = { flatten_cname: true };
  return record(id, { name: "flat.example.org", type: "CNAME", content, settings });
}

const platformAddresses = ["198.18.0.1", "2001:2::1"];

/** A zone with its copy, and with the log of the zone object. */
function start(records: readonly ServedRecord[]) {
  const zones = new ServedZones({ platformAddresses });
  const external = new ExternalAddressCache();
  zones.put({ id: "zone", name: "example.org", serial: 1, records, ...head });
  const context = () => ({ zones, external, nowSeconds: 1000 });
  const zone = () => zones.get("zone")!;
  const copy = new TransferredZone(zone(), context());
  const fresh = () => new TransferredZone(zone(), context());
  const steps: ChangeStep[] = [];
  let headBefore = head;
  return {
    copy,
    external,
    context,
    zone,
    fresh,
    typesAtFlat: () =>
      [...fresh().records()]
        .filter(({ name }) => name === "flat.example.org")
        .map(({ type }) => type),
    change(
      part: Pick<Partial<ZoneChange>, "head"> &
        Partial<Record<"removed" | "added", ServedRecord[]>>,
    ) {
      const serial = zone().serial + 1;
      const { removed = [], added = [] } = part;
      const log = (action: "remove" | "add", list: readonly ServedRecord[]) =>
        list.map((each) => ({ serial, action, record: each as ZoneRecord }));
      steps.push(...log("remove", removed), ...log("add", added));
      if (part.head !== undefined) {
        steps.push({ serial, action: "settings", headBefore });
        headBefore = part.head;
      }
      const change = { serial, removed, added, head: part.head };
      zones.apply("zone", change);
      copy.follow(zone(), change, context());
    },
    /** The copy and its journal after a restart. */
    replay(from: number): TransferredZone | null {
      const after = steps.filter(({ serial }) => serial > from);
      const logged = groupSteps(after, { from, to: zone().serial })!;
      const { data, changes } = rewind(zone().data, from, logged);
      return replayZone(data, changes, { ...context(), platformAddresses, current: copy });
    },
  };
}

/** The records as sorted text. */
function texts(records: Iterable<ResourceRecord>): string[] {
  return [...records]
    .map(({ name, type, ttlSeconds, data }) => `${name} ${ttlSeconds} ${type} ${data.join(".")}`)
    .sort();
}

const deltasOf = (copy: TransferredZone, serial: number) =>
  copy.since(serial)?.map(({ from, to, removed, added }) => {
    return { from, to, removed: texts(removed), added: texts(added) };
  });

describe("TransferredZone", () => {
  it("writes out the records that are made while answering", () => {
    const { copy } = start([
      record(1, { name: "example.org", proxied: true }),
      flat(2, "a.example.org"),
      record(3),
    ]);
    const shown = [...copy.records()].map(({ name, type, data }) => {
      const address = type === typeCodes.A ? data.join(".") : "";
      return `${name} ${typeName(type)} ${address}`.trim();
    });
    expect(shown.sort()).toEqual([
      "a.example.org A 192.0.2.3",
      "example.org A 198.18.0.1",
      "example.org AAAA",
      "example.org HTTPS",
      "example.org NS",
      "flat.example.org A 192.0.2.3",
    ]);
  });

  it("changes a flattened name with its target", () => {
    const zone = start([record(1), flat(2, "a.example.org")]);
    zone.change({ removed: [record(1)], added: [record(9)] });
    const [delta] = zone.copy.since(1)!;
    expect(delta?.removed.map(({ name }) => name).sort()).toEqual([
      "a.example.org",
      "flat.example.org",
    ]);
    expect(delta?.added.map(({ data }) => data[3])).toEqual([9, 9]);
  });

  it("needs external targets, and keeps the CNAME while they are unknown", () => {
    const { zone, context, external, typesAtFlat } = start([flat(2, "host.example.net")]);
    expect(externalQuestions(zone(), context())).toEqual([
      { name: "host.example.net", type: "A" },
      { name: "host.example.net", type: "AAAA" },
    ]);
    expect(typesAtFlat()).toEqual([typeCodes.CNAME]);
    const found = { addresses: ["192.0.2.7"], ttlSeconds: 60 };
    external.put({ name: "host.example.net", type: "A" }, found, 1000);
    expect(typesAtFlat()).toEqual([typeCodes.A]);
  });

  it("follows the target of a flattened name through other zones to an external name", () => {
    const { zone, context, external, typesAtFlat } = start([
      record(1, { name: "hop.example.org", type: "CNAME", content: "host.example.net" }),
      record(2, { name: "flat.example.org", type: "CNAME", content: "hop.example.org" }),
      record(3, { name: "flat.example.org", type: "TXT", content: '"beside"' }),
    ]);
    const questions = externalQuestions(zone(), context());
    expect(questions).toEqual([
      { name: "host.example.net", type: "A" },
      { name: "host.example.net", type: "AAAA" },
    ]);
    for (const question of questions) {
      const addresses = question.type === "A" ? ["192.0.2.7"] : [];
      external.put(question, { addresses, ttlSeconds: 60 }, 1000);
    }
    expect(new Set(typesAtFlat())).toEqual(new Set([typeCodes.A, recordType("TXT").code]));
  });

  it("keeps addresses that have expired or that the resolver cannot give any more", () => {
    const { zone, context, external } = start([flat(1, "host.example.net")]);
    const question = { name: "host.example.net", type: "A" as const };
    external.put(question, { addresses: ["192.0.2.7"], ttlSeconds: 60 }, 0);
    external.put(question, "failed", 900);
    const last = { ...context(), external: lastAddresses(external) };
    const copy = new TransferredZone(zone(), last);
    expect(texts(copy.records())).toContain("flat.example.org 60 1 192.0.2.7");
  });

  it("has a flattened name without addresses, and no CNAME, when the target has none", () => {
    const { typesAtFlat } = start([
      flat(1, "no.example.org"),
      record(2, { name: "*.example.org" }),
      record(3, { name: "no.example.org", type: "TXT", content: '"no address"' }),
    ]);
    // The name must exist: a secondary would answer from the wildcard.
    expect(typesAtFlat()).toEqual([typeCodes.HINFO]);
  });
});

describe("the journal", () => {
  const made = fc.record({
    name: fc.constantFrom("", "a.", "b.", "c.b.", "*.").map((labels) => `${labels}example.org`),
    kind: fc.constantFrom("A", "proxied", "TXT", "flat"),
    ttl: fc.constantFrom(1, 300, 600),
  });
  const step = fc.oneof(
    fc.record({
      add: fc.array(made, { minLength: 1, maxLength: 3 }),
      remove: fc.array(fc.nat(), { maxLength: 2 }),
    }),
    fc.constantFrom("http3", "flatten" as const),
  );

  it("leads to the same zone as a whole transfer, from every serial, also after a restart", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const zone = start([]);
        const copies = [texts(zone.copy.records())];
        let id = 0;
        const isOn = { http3: false, flatten: false };
        const there: ServedRecord[] = [];
        for (const each of steps) {
          if (typeof each === "string") {
            isOn[each] = !isOn[each];
            const settings = { ...head.settings, flatten_all_cnames: isOn.flatten };
            zone.change({ head: { ...head, http3: isOn.http3, settings } });
          } else {
            const removed = each.remove.flatMap((at) => there.splice(at % (there.length + 1), 1));
            const added = each.add.map(({ name, kind, ttl }) => {
              const base = record(++id, { name, ttl, proxied: kind === "proxied" });
              const alias = { ...flat(id, "b.example.org"), name, ttl };
              // The API refuses a second CNAME at a name.
              const isTaken = there.some((other) => other.name === name && other.type === "CNAME");
              if (kind === "TXT") there.push({ ...base, type: "TXT", content: `"${id}"` });
              else there.push(kind === "flat" && !isTaken ? alias : base);
              return there.at(-1)!;
            });
            zone.change({ removed, added });
          }
          copies.push(texts(zone.copy.records()));
        }
        const hasFlattened = JSON.stringify(steps).includes('"flat"');
        const whole = texts(zone.fresh().records());
        expect(copies.at(-1)).toEqual(whole);
        for (const [index, records] of copies.slice(0, -1).entries()) {
          let following = records;
          for (const { removed, added } of deltasOf(zone.copy, index + 1)!) {
            expect(following).toEqual(expect.arrayContaining(removed));
            const kept = following.filter((text) => !removed.includes(text));
            following = [...kept, ...added].sort();
          }
          expect(following).toEqual(whole);
          // A flattened name can have its addresses from elsewhere, and then there is no replay.
          const replayed = zone.replay(index + 1);
          expect(replayed !== null || hasFlattened).toBe(true);
          const same = replayed ?? zone.copy;
          expect(deltasOf(same, index + 1)).toEqual(deltasOf(zone.copy, index + 1));
        }
      }),
    );
  });

  it("is not made after a restart when a flattened name has its addresses from elsewhere", () => {
    for (const [content, isReplayed] of [
      ["a.example.org", true],
      ["host.example.net", false],
      ["gone.example.org", false],
    ] as const) {
      const zone = start([]);
      zone.change({ added: [record(1)] });
      zone.change({ added: [flat(2, content)] });
      expect(zone.replay(1) !== null).toBe(isReplayed);
    }
  });
});
