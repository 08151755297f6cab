/** Random zones, built by random changes, against an independent reference implementation. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { referenceAnswer, type PlainRecord } from "../../../test/dns/support/reference-answer.ts";
import { ask, zoneData } from "../../../test/dns/support/served.ts";
import { findConflict } from "../rules/record-conflict.ts";
import type { ServedRecord } from "../rules/zone.ts";
import { ServedZones } from "./served-zones.ts";

/** A round compares some thirty answers, so a tenth of the usual rounds is enough. */
const rounds = Math.ceil(Number(process.env["LEDGE_ROUNDS"] ?? 1000) / 10);
const apex = "example.org";
const below = fc
  .array(fc.constantFrom("a", "b", "c"), { minLength: 0, maxLength: 3 })
  .map((labels) => [...labels, apex].join("."));
const owner = fc.tuple(fc.boolean(), below).map(([wild, name]) => (wild ? `*.${name}` : name));
const target = fc.oneof({ weight: 6, arbitrary: below }, fc.constant("far.example.com"));
const ttl = fc.constantFrom(1, 60, 300, 3600);

const plain = (values: fc.Arbitrary<string>) =>
  values.map((value) => ({ content: value, priority: null }));

function content(type: string): fc.Arbitrary<Pick<PlainRecord, "content" | "priority">> {
  switch (type) {
    case "A":
      return plain(fc.nat(9).map((last) => `192.0.2.${last}`));
    case "AAAA":
      return plain(fc.constantFrom("2001:db8::1", "2001:db8::2"));
    case "TXT":
      return plain(fc.constantFrom('"one"', '"two"'));
    case "DS":
      return plain(fc.constant(`1 8 2 ${"ab".repeat(32)}`));
    case "MX":
      return fc.record({ content: target, priority: fc.nat(9) });
    default:
      return plain(target);
  }
}

const record: fc.Arbitrary<ServedRecord> = fc
  .tuple(
    owner,
    fc.constantFrom("A", "A", "AAAA", "TXT", "MX", "CNAME", "CNAME", "NS", "DS"),
    ttl,
    fc.boolean(),
    fc.boolean(),
    fc.nat(0xffff_ffff),
  )
  .chain(([name, type, seconds, isProxied, isFlat, id]) =>
    content(type).map((data) => {
      const proxied = isProxied && ["A", "AAAA", "CNAME"].includes(type);
      const settings = isFlat && type === "CNAME" ? { flatten_cname: true } : {};
      return { ...data, id: String(id), name, type, ttl: proxied ? 1 : seconds, proxied, settings };
    }),
  )
  .filter(
    (made) =>
      !(made.type === "CNAME" && made.content === made.name) &&
      !(made.name === apex && (made.type === "DS" || made.type === "NS")) &&
      // NS records at a wildcard are undefined (RFC 4592 section 4.2).
      !(made.name.startsWith("*.") && made.type === "NS"),
  );

/** Steps that the API would accept: each adds a record if the rules allow it, or removes one. */
const steps = fc.array(fc.tuple(record, fc.option(fc.nat(), { freq: 3 })), { maxLength: 25 });

function isAllowed(made: ServedRecord, records: readonly ServedRecord[]): boolean {
  const draft = { ...made, comment: null, tags: [], privateRouting: false };
  const neighbours = records.filter(({ name }) => name === made.name);
  return findConflict(draft, neighbours, { zoneName: apex, nameServers: [] }) === null;
}

const questionTypes = ["A", "AAAA", "TXT", "MX", "CNAME", "DS", "HTTPS", "ANY"];
const questions = fc.array(
  fc.record({
    name: fc.oneof(
      owner,
      below,
      below.map((name) => `x.${name}`),
      below.map((name) => `x.y.${name}`),
    ),
    type: fc.constantFrom(...questionTypes),
  }),
  { minLength: 20, maxLength: 40 },
);

test("answer() agrees with a reference implementation after many changes", () => {
  fc.assert(
    fc.property(steps, questions, (made, asked) => {
      const zones = new ServedZones({ platformAddresses: ["198.18.0.1", "2001:2::1"] });
      zones.put(zoneData(apex, []));
      let records: ServedRecord[] = [];
      let serial = 1;
      for (const [added, removal] of made) {
        const removed = removal === null ? undefined : records[removal % (records.length || 1)];
        records = records.filter((other) => other !== removed);
        const isNew = isAllowed(added, records) && records.every(({ id }) => id !== added.id);
        if (isNew) records.push(added);
        zones.apply(apex, {
          serial: (serial += 1),
          removed: removed === undefined ? [] : [removed],
          added: isNew ? [added] : [],
        });
        // The view that this answer makes must not survive the next change.
        ask(zones, `${added.name} A`);
      }
      const rebuilt = new ServedZones({ platformAddresses: ["198.18.0.1", "2001:2::1"] });
      rebuilt.put(zoneData(apex, records));
      for (const { name, type } of asked) {
        const expected = referenceAnswer(records, { name, type });
        expect(ask(zones, `${name} ${type}`)).toEqual(expected);
        expect(ask(rebuilt, `${name} ${type}`)).toEqual(expected);
      }
      const count = (served: ServedZones) => [...served.get(apex)!.nodes()].length;
      expect(count(zones)).toBe(count(rebuilt));
    }),
    { numRuns: rounds },
  );
});
