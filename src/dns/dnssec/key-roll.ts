/**
 * The keys of a zone by time. A roll replaces the keys without an answer that a validator refuses, whatever
 * its cache holds (RFC 6781 section 4.1, RFC 7583): the ZSK is published before it signs, and the KSK
 * signs beside the KSK before it.
 *
 *                    publish                    replace                    after
 *     DNSKEY set     old and new keys           old and new keys           new keys
 *     signed by      old and new KSK            old and new KSK            new KSK
 *     other sets     signed by the old ZSK      signed by the new ZSK      signed by the new ZSK
 *     CDS, CDNSKEY   old KSK                    new KSK                    new KSK
 *     ends when      no cache has the DNSKEY    no cache has a signature
 *                    set without the new keys   of the old ZSK, or the DS
 *                                               set without the new KSK
 *
 * The second stage also waits for the parent's DS record (`dsSeconds`). All of this follows from the
 * keys and the time, so servers need no message at the end of a stage; a server that was not running has
 * missed nothing.
 */
import {
  keyTtlSeconds,
  type KeyPair,
  type KeyRoll,
  type KeysInUse,
  type ZoneKeys,
} from "./zone-signing.ts";

const hourSeconds = 3600;
/** For clocks and slow transports, as in BIND's default policy (publish-safety, retire-safety). */
const safetySeconds = hourSeconds;
/** The largest TTL of a record here (`ttlSecondsMax`), and that of DS records in most parents. */
const dayTtlSeconds = 24 * hourSeconds;

type RollStage = "publish" | "replace";

/** When the stages end. The end is Infinity while the parent's DS record is awaited. */
export function rollTimes({ startSeconds, dsSeconds, paceSeconds }: KeyRoll): {
  readonly replaceSeconds: number;
  readonly endSeconds: number;
} {
  const cached = (ttlSeconds: number) => paceSeconds ?? ttlSeconds + safetySeconds;
  const replaceSeconds = startSeconds + cached(keyTtlSeconds);
  const fromSeconds = dsSeconds === null ? Infinity : Math.max(replaceSeconds, dsSeconds);
  return { replaceSeconds, endSeconds: fromSeconds + cached(dayTtlSeconds) };
}

/** `null` when no roll is in progress. */
export function rollStageAt({ roll }: ZoneKeys, nowSeconds: number): RollStage | null {
  if (roll === undefined) return null;
  const { replaceSeconds, endSeconds } = rollTimes(roll);
  if (nowSeconds >= endSeconds) return null;
  return nowSeconds < replaceSeconds ? "publish" : "replace";
}

/** The keys without a roll that has ended. */
export function settledKeys(keys: ZoneKeys, nowSeconds: number): ZoneKeys {
  const isOver = keys.roll !== undefined && rollStageAt(keys, nowSeconds) === null;
  return isOver ? keys.roll.next : keys;
}

export function keysAt(keys: ZoneKeys, nowSeconds: number): KeysInUse {
  const settled = settledKeys(keys, nowSeconds);
  const { roll } = settled;
  if (roll === undefined) {
    const fromSeconds = keys.roll === undefined ? -Infinity : rollTimes(keys.roll).endSeconds;
    return { ...pairInUse(settled, [settled]), fromSeconds, untilSeconds: Infinity };
  }
  const { replaceSeconds, endSeconds } = rollTimes(roll);
  const isPublishing = nowSeconds < replaceSeconds;
  return {
    ...pairInUse(isPublishing ? settled : roll.next, [settled, roll.next]),
    // Validators that start during a quick roll ask for the keys as often as its stages need.
    keyTtlSeconds: Math.min(keyTtlSeconds, roll.paceSeconds ?? keyTtlSeconds),
    fromSeconds: isPublishing ? -Infinity : replaceSeconds,
    untilSeconds: isPublishing ? replaceSeconds : endSeconds,
  };
}

function pairInUse(active: KeyPair, published: readonly KeyPair[]) {
  // A roll of one key has the other in both pairs.
  const keySigningKeys = [
    ...new Map(published.map((pair) => [pair.digest, pair.keySigningKey])).values(),
  ];
  const zoneSigningKeys = new Map(
    published.map(({ zoneSigningKey: key }) => [key.publicKey, key] as const),
  );
  return {
    published: [...zoneSigningKeys.values(), ...keySigningKeys],
    keySigningKeys,
    zoneSigningKeys: [active.zoneSigningKey],
    announced: active,
    keyTtlSeconds,
  };
}
