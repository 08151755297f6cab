import * as fc from "fast-check";
import { expect, it } from "vitest";
import { serve } from "../../../test/dns/support/served.ts";
import type { ServedZones } from "../answer/served-zones.ts";
import type { LoggedChange } from "../replication/publication.ts";
import type { ZoneChange } from "../rules/zone.ts";
import { textKey } from "../wire/name.ts";
import type { TimedChange } from "./change-history.ts";
import { PastZones } from "./past-zones.ts";

const zones = () => serve({ "example.org": "www 300 A 192.0.2.1" });
const serialOf = (served: ServedZones) => served.at(textKey("example.org"))?.serial;
const contentOf = (served: ServedZones) =>
  served.at(textKey("example.org"))!.data.records[0]!.content;
const idOf = (served: ServedZones) => served.at(textKey("example.org"))!.id;

function nextSerial(served: ServedZones): ZoneChange {
  return { serial: serialOf(served)! + 1, removed: [], added: [] };
}

/** Replaces the address of www. */
function nextAddress(served: ServedZones): LoggedChange {
  const { records, serial } = served.at(textKey("example.org"))!.data;
  const [www] = records;
  const added = [{ ...www!, id: `r${serial}`, content: `192.0.2.${serial % 250}` }];
  return { serial: serial + 1, removed: [www!], added, headBefore: null };
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

it("at() hides the changes of the time before the fault, until each is as old as the delay", () => {
  const gap = fc.array(fc.integer({ min: 0, max: 10 }), { maxLength: 8 });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 20 }), gap, gap, (delay, before, after) => {
      const served = zones();
      const id = idOf(served);
      const contents = [contentOf(served)];
      const changedAt: number[] = [];
      const changes: TimedChange[] = [];
      const from = serialOf(served)!;
      let now = 100;
      let past: PastZones | null = null;
      const change = (gapMilliseconds: number): void => {
        now += gapMilliseconds;
        const next = nextAddress(served);
        served.apply(id, next);
        past?.follow(served, { zoneId: id, change: next }, now);
        changes.push({ ...next, milliseconds: now });
        contents.push(contentOf(served));
        changedAt.push(now);
      };
      const check = (): void => {
        const visible = changedAt.filter((time) => time + delay <= now).length;
        const seen = past!.at(now);
        expect([serialOf(seen), contentOf(seen)]).toEqual([from + visible, contents[visible]]);
      };
      for (const each of before) change(each);
      const history = changes.length === 0 ? [] : [{ zoneId: id, from, changes: [...changes] }];
      past = new PastZones(served, delay, { history, nowMilliseconds: now });
      check();
      for (const each of after) {
        change(each);
        check();
      }
      now += delay;
      check();
      expect(contentOf(served)).toBe(contents.at(-1));
    }),
  );
});

it("a history that does not end at the zone's serial hides nothing", () => {
  const served = zones();
  const id = idOf(served);
  const from = serialOf(served)!;
  const change = nextAddress(served);
  served.apply(id, change);
  served.apply(id, nextSerial(served));
  const history = [{ zoneId: id, from, changes: [{ ...change, milliseconds: 5 }] }];
  const past = new PastZones(served, 100, { history, nowMilliseconds: 6 });
  expect(contentOf(past.at(6))).toBe(contentOf(served));
});
