import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keysAt, rollStageAt, rollTimes, settledKeys } from "./key-roll.ts";
import type { KeyPair, KeyRoll, SigningKey, ZoneKeys } from "./zone-signing.ts";

const hour = 3600;
const day = 24 * hour;
const start = 1_800_000_000;

const key = (publicKey: string) => ({ publicKey }) as SigningKey;
function pair(zoneSigning: string, keySigning: string): KeyPair {
  return {
    zoneSigningKey: key(zoneSigning),
    keySigningKey: key(keySigning),
    digest: `digest of ${keySigning}`,
  };
}
const old = pair("old ZSK", "old KSK");

function rolling(part: Partial<KeyRoll> = {}, next = pair("new ZSK", "new KSK")): ZoneKeys {
  const roll = { next, startSeconds: start, dsSeconds: start, paceSeconds: null, ...part };
  return { ...old, roll };
}

const names = (keys: readonly SigningKey[]) => keys.map(({ publicKey }) => publicKey);

function describeAt(keys: ZoneKeys, nowSeconds: number) {
  const { published, keySigningKeys, zoneSigningKeys, announced } = keysAt(keys, nowSeconds);
  return {
    published: names(published),
    keysBy: names(keySigningKeys),
    setsBy: names(zoneSigningKeys),
    cds: announced.keySigningKey.publicKey,
  };
}

const onlyOld = {
  published: ["old ZSK", "old KSK"],
  keysBy: ["old KSK"],
  setsBy: ["old ZSK"],
  cds: "old KSK",
};
const onlyNew = {
  published: ["new ZSK", "new KSK"],
  keysBy: ["new KSK"],
  setsBy: ["new ZSK"],
  cds: "new KSK",
};
const both = {
  published: ["old ZSK", "new ZSK", "old KSK", "new KSK"],
  keysBy: ["old KSK", "new KSK"],
};

describe("keysAt()", () => {
  it("has one pair without a roll", () => {
    expect(describeAt(old, start)).toEqual(onlyOld);
    expect(keysAt(old, start)).toMatchObject({ fromSeconds: -Infinity, untilSeconds: Infinity });
  });

  it("publishes the new pair, then signs with it, then forgets the old pair", () => {
    const keys = rolling();
    const [replace, end] = [start + 2 * hour, start + 2 * hour + day + hour];
    expect(rollTimes(keys.roll!)).toEqual({ replaceSeconds: replace, endSeconds: end });
    const publishing = { ...both, setsBy: ["old ZSK"], cds: "old KSK" };
    const replacing = { ...both, setsBy: ["new ZSK"], cds: "new KSK" };
    expect(describeAt(keys, start)).toEqual(publishing);
    expect(describeAt(keys, replace - 1)).toEqual(publishing);
    expect(describeAt(keys, replace)).toEqual(replacing);
    expect(describeAt(keys, end - 1)).toEqual(replacing);
    expect(describeAt(keys, end)).toEqual(onlyNew);
  });

  it("keeps the key that is not rolled", () => {
    const keys = rolling({}, pair("new ZSK", "old KSK"));
    expect(describeAt(keys, start)).toEqual({
      ...onlyOld,
      published: ["old ZSK", "new ZSK", "old KSK"],
    });
    expect(describeAt(keys, start + day).setsBy).toEqual(["new ZSK"]);
  });

  it("waits for the DS record of the parent, and then as long as caches have the one before", () => {
    const waiting = rolling({ dsSeconds: null });
    expect(rollStageAt(waiting, start + 1000 * day)).toBe("replace");
    const seen = start + 500 * day;
    const [isSeen, end] = [rolling({ dsSeconds: seen }), seen + day + hour];
    expect(rollStageAt(isSeen, end - 1)).toBe("replace");
    expect(rollStageAt(isSeen, end)).toBe(null);
  });

  it("has waits of the given pace, with a TTL of the keys that is not longer", () => {
    const keys = rolling({ paceSeconds: 10 });
    expect(rollTimes(keys.roll!)).toEqual({ replaceSeconds: start + 10, endSeconds: start + 20 });
    expect(keysAt(keys, start + 15).keyTtlSeconds).toBe(10);
    expect(keysAt(keys, start + 20).keyTtlSeconds).toBe(hour);
  });

  it("has the times between which the keys stay", () => {
    fc.assert(
      fc.property(fc.integer({ min: -day, max: 3 * day }), fc.nat(3 * day), (offset, wait) => {
        const keys = rolling({ dsSeconds: start + wait });
        const now = start + offset;
        const { fromSeconds, untilSeconds } = keysAt(keys, now);
        expect(fromSeconds <= now && now < untilSeconds).toBe(true);
        for (const edge of [
          Math.max(fromSeconds, now - day),
          Math.min(untilSeconds - 1, now + day),
        ])
          expect(describeAt(keys, edge)).toEqual(describeAt(keys, now));
      }),
    );
  });
});

it("settledKeys() has the new pair after the roll, and the same keys before", () => {
  const keys = rolling();
  expect(settledKeys(keys, start + day)).toBe(keys);
  expect(settledKeys(keys, start + 2 * day)).toBe(keys.roll!.next);
  expect(settledKeys(old, start)).toBe(old);
});

/**
 * A validator with any cache: the DNSKEY set, the DS set and a signature are each as old as their TTL
 * allows. The parent here has both DS records from the start, and one elsewhere replaces the record when
 * the CDS record has said so.
 */
it("a validator accepts every answer of a roll, whatever its cache holds", () => {
  const ages = { keys: fc.nat(hour - 1), ds: fc.nat(day - 1), signature: fc.nat(day - 1) };
  fc.assert(
    fc.property(
      fc.record(ages),
      fc.integer({ min: 0, max: 6 * day }),
      fc.nat(3 * day),
      fc.boolean(),
      (age, offset, delay, isLocal) => {
        const replaced = start + 2 * hour + delay;
        const dsSeconds = isLocal ? start : replaced;
        const keys = rolling({ dsSeconds });
        const now = start + offset;
        const dsAt = (time: number) => {
          if (isLocal) return time < start ? ["old KSK"] : ["old KSK", "new KSK"];
          return [time < replaced ? "old KSK" : "new KSK"];
        };
        const at = (time: number) => (time < start ? onlyOld : describeAt(keys, time));
        const dnskey = at(now - age.keys);
        const anchors = dsAt(now - age.ds);
        expect(dnskey.keysBy.some((each) => anchors.includes(each))).toBe(true);
        expect(dnskey.published).toEqual(expect.arrayContaining(at(now - age.signature).setsBy));
      },
    ),
    { numRuns: 5000 },
  );
});
