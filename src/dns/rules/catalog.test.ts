import * as fc from "fast-check";
import { expect, test } from "vitest";
import { plainEdns, composeQuery, respondFrom, tcp, udp } from "../../../test/dns/support/query.ts";
import { serve } from "../../../test/dns/support/served.ts";
import { ExternalAddressCache } from "../answer/external-addresses.ts";
import { ServedZones } from "../answer/served-zones.ts";
import { formatData, typeName } from "../record/presentation.ts";
import { TransferredZone } from "../transfer/transferred-zone.ts";
import { textKey } from "../wire/name.ts";
import { rcodes, typeCodes } from "../wire/numbers.ts";
import { catalogId, catalogZone, memberRecord, type CatalogMember } from "./catalog.ts";

const name = "catalog.example.net";

function serveCatalog(members: readonly CatalogMember[], serial = 5): ServedZones {
  const zones = new ServedZones({ platformAddresses: [] });
  zones.put(catalogZone(name, serial, members));
  return zones;
}

/** As secondaries get them, in presentation format. */
function transferred(zones: ServedZones): string[] {
  const context = { zones, external: new ExternalAddressCache(), nowSeconds: 0 };
  const copy = new TransferredZone(zones.get(catalogId)!, context);
  return [copy.soa, ...copy.records()].map(
    ({ name: owner, type, data }) => `${owner} ${typeName(type)} ${formatData(type, data)}`,
  );
}

const member = { id: "00000000000000000000000000000001", name: "example.org", firstSerial: 7 };

test("catalogZone() has the records of RFC 9432", () => {
  expect(transferred(serveCatalog([member]))).toEqual([
    `${name} SOA invalid. invalid. 5 3600 600 2147483646 0`,
    `${name} NS invalid.`,
    `version.${name} TXT "2"`,
    `00000000000000000000000000000001-7.zones.${name} PTR example.org.`,
  ]);
});

test("memberRecord() gives a zone of the same id another identifier when it was created again", () => {
  const again = { ...member, firstSerial: 8 };
  expect(memberRecord(name, again).name).not.toBe(memberRecord(name, member).name);
  expect(memberRecord(name, { ...member }).name).toBe(memberRecord(name, member).name);
});

const members = fc.uniqueArray(
  fc.record({
    id: fc.stringMatching(/^[0-9a-f]{32}$/),
    name: fc.stringMatching(/^[a-z0-9]{1,20}(\.[a-z0-9]{1,20}){1,3}$/),
    firstSerial: fc.nat(2 ** 32 - 1),
  }),
  { selector: ({ id }) => id, maxLength: 30 },
);

test("memberRecord() as a change leads to the same zone as catalogZone(), one PTR record a member", () => {
  fc.assert(
    fc.property(members, fc.array(fc.nat(29), { maxLength: 60 }), (known, steps) => {
      const zones = serveCatalog([], 1);
      const present = new Set<CatalogMember>();
      for (const [index, step] of steps.entries()) {
        const chosen = known[step];
        if (chosen === undefined) continue;
        const isAdded = !present.delete(chosen);
        if (isAdded) present.add(chosen);
        const records = [memberRecord(name, chosen)];
        const [removed, added] = isAdded ? [[], records] : [records, []];
        zones.apply(catalogId, { serial: index + 2, removed, added });
      }
      const { serial } = zones.get(catalogId)!;
      const whole = transferred(serveCatalog([...present], serial));
      expect(transferred(zones).toSorted()).toEqual(whole.toSorted());
      const pointers = whole.filter((text) => text.includes(" PTR "));
      expect(pointers.map((text) => text.split(" ").at(-1)!).toSorted()).toEqual(
        [...present].map((each) => `${each.name}.`).toSorted(),
      );
    }),
  );
});

test("a catalog answers only clients that may transfer zones, in full", () => {
  const zones = serve({ "example.net": "www 300 CNAME version.catalog.example.net." });
  zones.put(catalogZone(name, 5, [member]));
  const allowed = respondFrom(zones, { transfers: true, mayTransfer: () => true });
  const other = respondFrom(zones, { transfers: true, mayTransfer: () => false });
  const withoutRule = respondFrom(zones);
  const own = memberRecord(name, member).name;
  const signed = { edns: { ...plainEdns, dnssecOk: true } };
  for (const question of [`${name} SOA`, `${own} PTR`, `version.${name} TXT`, `${name} ANY`]) {
    const query = composeQuery(question);
    expect([question, allowed.ask(query).answers.length]).toEqual([question, 1]);
    // After an answer to the allowed client, too: no answer is kept for others.
    for (const { ask } of [other, withoutRule]) {
      expect(ask(query)).toMatchObject({ rcode: rcodes.REFUSED, answers: [], authorities: [] });
      expect(ask(composeQuery(question, signed)).rcode).toBe(rcodes.REFUSED);
    }
  }
  expect(allowed.ask(composeQuery(`gone.${name} A`)).rcode).toBe(rcodes.NXDOMAIN);
  expect(other.ask(composeQuery(`gone.${name} A`)).rcode).toBe(rcodes.REFUSED);
  for (const source of [udp, tcp]) {
    expect(other.ask(composeQuery(`${name} IXFR`), source).rcode).toBe(rcodes.REFUSED);
  }
  // An alias in a zone does not lead into the catalog.
  const alias = allowed.ask(composeQuery("www.example.net TXT"));
  expect(alias.answers.map(({ type }) => type)).toEqual([typeCodes.CNAME]);
});

test("a zone below the name of the catalog has its own answers, and is gone after remove()", () => {
  const zones = serve({ [`below.${name}`]: "www 300 A 192.0.2.1" });
  zones.put(catalogZone(name, 5, []));
  const { ask } = respondFrom(zones, { mayTransfer: () => false });
  expect(ask(composeQuery(`www.below.${name} A`)).answers).toHaveLength(1);
  expect(zones.at(textKey(name))?.id).toBe(catalogId);
  expect(zones.fork().at(textKey(name))?.id).toBe(catalogId);
  zones.remove(catalogId);
  expect(zones.at(textKey(name))).toBeUndefined();
});
