import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ResourceRecord } from "../wire/resource-record.ts";
import { typeCodes } from "../wire/numbers.ts";
import { ExternalAddressCache, lastAddresses } from "../answer/external-addresses.ts";
import type { ServedRecord, ZoneChange, ZoneHead } from "../rules/zone.ts";
import { ServedZones } from "../answer/served-zones.ts";
import { recordType } from "../record/types.ts";
import { defaultSettings } from "../rules/zone-settings.ts";
import { externalQuestions, TransferredZone } from "./transferred-zone.ts";

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

function start(records: readonly ServedRecord[]) {
  const zones = new ServedZones({ platformAddresses: ["198.18.0.1", "2001:2::1"] });
  const external = new ExternalAddressCache();
  zones.put({ id: "zone", name: "example.org", serial: 1, records, ...head });
  const context = () => ({ zones, external, nowSeconds: 1000 });
  const copy = new TransferredZone(zones.get("zone")!, context());
  return {
    copy,
    external,
    context,
    zone: () => zones.get("zone")!,
    fresh: () => new TransferredZone(zones.get("zone")!, context()),
    change(part: Partial<ZoneChange>) {
      const { serial } = zones.get("zone")!;
      const change = { serial: serial + 1, removed: [], added: [], ...part };
      zones.apply("zone", change);
      copy.follow(zones.get("zone")!, change, context());
    },
  };
}

/** The records as sorted text. */
function texts(records: Iterable<ResourceRecord>): string[] {
  return [...records]
    .map(({ name, type, ttlSeconds, data }) => `${name} ${ttlSeconds} ${type} ${data.join(".")}`)
    .sort();
}

describe("TransferredZone", () => {
  it("writes out the records that are made while answering", () => {
    const { copy } = start([
      record(1, { name: "example.org", proxied: true }),
      record(2, {
        name: "flat.example.org",
        type: "CNAME",
        content: "a.example.org",
        settings: { flatten_cname: true },
      }),
      record(3),
    ]);
    const shown = [...copy.records()].map(({ name, type, data }) => {
      const address = type === typeCodes.A ? data.join(".") : "";
      return `${name} ${type} ${address}`.trim();
    });
    expect(shown.sort()).toEqual(
      [
        `a.example.org ${typeCodes.A} 192.0.2.3`,
        `example.org ${typeCodes.A} 198.18.0.1`,
        `example.org ${typeCodes.NS}`,
        `example.org ${typeCodes.AAAA}`,
        `example.org ${typeCodes.HTTPS}`,
        `flat.example.org ${typeCodes.A} 192.0.2.3`,
      ].sort(),
    );
  });

  it("changes a flattened name with its target", () => {
    const zone = start([
      record(1),
      record(2, {
        name: "flat.example.org",
        type: "CNAME",
        content: "a.example.org",
        settings: { flatten_cname: true },
      }),
    ]);
    zone.change({ removed: [record(1)], added: [record(9)] });
    const [delta] = zone.copy.since(1)!;
    expect(delta?.removed.map(({ name }) => name).sort()).toEqual([
      "a.example.org",
      "flat.example.org",
    ]);
    expect(delta?.added.map(({ data }) => data[3])).toEqual([9, 9]);
  });

  it("needs external targets, and keeps the CNAME while they are unknown", () => {
    const flat = record(2, {
      name: "flat.example.org",
      type: "CNAME",
      content: "host.example.net",
      settings: { flatten_cname: true },
    });
    const { zone, context, external, fresh } = start([flat]);
    expect(externalQuestions(zone(), context())).toEqual([
      { name: "host.example.net", type: "A" },
      { name: "host.example.net", type: "AAAA" },
    ]);
    const typesAt = (name: string) =>
      [...fresh().records()].filter((each) => each.name === name).map(({ type }) => type);
    expect(typesAt("flat.example.org")).toEqual([typeCodes.CNAME]);
    external.put(
      { name: "host.example.net", type: "A" },
      { addresses: ["192.0.2.7"], ttlSeconds: 60 },
      1000,
    );
    expect(typesAt("flat.example.org")).toEqual([typeCodes.A]);
  });

  it("follows the target of a flattened name through other zones to an external name", () => {
    const { zone, context, external, fresh } = start([
      record(1, { name: "hop.example.org", type: "CNAME", content: "host.example.net" }),
      record(2, { name: "flat.example.org", type: "CNAME", content: "hop.example.org" }),
      record(3, { name: "flat.example.org", type: "TXT", content: '"beside"' }),
    ]);
    expect(externalQuestions(zone(), context())).toEqual([
      { name: "host.example.net", type: "A" },
      { name: "host.example.net", type: "AAAA" },
    ]);
    for (const [type, addresses] of [
      ["A", ["192.0.2.7"]],
      ["AAAA", []],
    ] as const) {
      external.put({ name: "host.example.net", type }, { addresses, ttlSeconds: 60 }, 1000);
    }
    const types = [...fresh().records()]
      .filter(({ name }) => name === "flat.example.org")
      .map(({ type }) => type);
    expect(new Set(types)).toEqual(new Set([typeCodes.A, recordType("TXT").code]));
  });

  it("keeps addresses that have expired or that the resolver cannot give any more", () => {
    const settings = { flatten_cname: true };
    const { zone, context, external } = start([
      record(1, { name: "flat.example.org", type: "CNAME", content: "host.example.net", settings }),
    ]);
    const question = { name: "host.example.net", type: "A" as const };
    external.put(question, { addresses: ["192.0.2.7"], ttlSeconds: 60 }, 0);
    external.put(question, "failed", 900);
    const last = { ...context(), external: lastAddresses(external) };
    const flat = [...new TransferredZone(zone(), last).records()].filter(
      ({ name }) => name === "flat.example.org",
    );
    expect(flat.map(({ type, ttlSeconds }) => [type, ttlSeconds])).toEqual([[typeCodes.A, 60]]);
  });

  it("has a flattened name without addresses, and no CNAME, when the target has none", () => {
    const settings = { flatten_cname: true };
    const { fresh } = start([
      record(1, { name: "flat.example.org", type: "CNAME", content: "no.example.org", settings }),
      record(2, { name: "*.example.org" }),
      record(3, { name: "no.example.org", type: "TXT", content: '"no address"' }),
    ]);
    const types = [...fresh().records()]
      .filter(({ name }) => name === "flat.example.org")
      .map(({ type }) => type);
    // The name must exist: a secondary would answer from the wildcard.
    expect(types).toEqual([typeCodes.HINFO]);
  });

  it("leads by the journal to the same zone as a whole transfer, from every serial", () => {
    const names = [
      "example.org",
      "a.example.org",
      "b.example.org",
      "c.b.example.org",
      "*.example.org",
    ];
    const made = fc.record({
      name: fc.constantFrom(...names),
      kind: fc.constantFrom("A", "proxied", "TXT", "flat"),
      ttl: fc.constantFrom(1, 300, 600),
    });
    const step = fc.oneof(
      fc.record({
        add: fc.array(made, { maxLength: 3 }),
        remove: fc.array(fc.nat(), { maxLength: 2 }),
      }),
      fc.constantFrom("http3", "flatten" as const),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const zone = start([]);
        const copies = [{ serial: 1, records: texts(zone.copy.records()) }];
        let id = 0;
        let now = head;
        const there: ServedRecord[] = [];
        for (const each of steps) {
          if (typeof each === "string") {
            now =
              each === "http3"
                ? { ...now, http3: !now.http3 }
                : {
                    ...now,
                    settings: {
                      ...now.settings,
                      flatten_all_cnames: !now.settings.flatten_all_cnames,
                    },
                  };
            zone.change({ head: now });
          } else {
            const removed = each.remove.flatMap((index) =>
              there.splice(index % (there.length + 1), 1),
            );
            const added = each.add.map(({ name, kind, ttl }) => {
              const base = record(++id, { name, ttl });
              if (kind === "TXT") return { ...base, type: "TXT", content: `"${id}"` };
              if (kind === "flat")
                return {
                  ...base,
                  type: "CNAME",
                  content: "b.example.org",
                  settings: { flatten_cname: true },
                };
              return { ...base, proxied: kind === "proxied" };
            });
            there.push(...added);
            zone.change({ removed, added });
          }
          copies.push({ serial: zone.zone().serial, records: texts(zone.copy.records()) });
        }
        const whole = texts(zone.fresh().records());
        expect(texts(zone.copy.records())).toEqual(whole);
        for (const { serial, records } of copies.slice(0, -1)) {
          let following = records;
          for (const { removed, added } of zone.copy.since(serial)!) {
            const gone = texts(removed);
            expect(following).toEqual(expect.arrayContaining(gone));
            following = [
              ...following.filter((text) => !gone.includes(text)),
              ...texts(added),
            ].sort();
          }
          expect(following).toEqual(whole);
        }
      }),
    );
  });
});
