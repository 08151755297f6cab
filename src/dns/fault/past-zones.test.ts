import * as fc from "fast-check";
import { expect, it } from "vitest";
import { serve } from "../../../test/dns/support/served.ts";
import type { ServedZones } from "../answer/served-zones.ts";
import type { ZoneChange } from "../answer/zone-data.ts";
import { textKey } from "../wire/name.ts";
import { PastZones } from "./past-zones.ts";

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
