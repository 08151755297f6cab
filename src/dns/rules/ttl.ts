/** The limits of TTLs, in seconds. */
import { problem, type ReportProblem } from "../record/problem.ts";
import { readInteger } from "../record/field/integer.ts";

/** The TTL "Auto" in requests and responses. */
export const ttlAuto = 1;
/** The specification: the TTL of a record with "Auto" in DNS answers. */
export const ttlAutoSeconds = 300;

/** The deployed service's limits for records. */
const ttlSecondsMin = 60;
const ttlSecondsMax = 86_400;

/** The deployed service's ranges for the TTLs of a zone's apex: NS, SOA, and negative answers. */
export const nsTtlSecondsRange = [30, ttlSecondsMax] as const;
export const soaTtlSecondsRange = [300, ttlSecondsMax] as const;
export const negativeTtlSecondsRange = [ttlSecondsMin, ttlSecondsMax] as const;

/** A proxied record always has "Auto"; the given TTL must be valid all the same. */
export function acceptTtl(input: unknown, proxied: boolean, report: ReportProblem): number {
  if (input === undefined || input === null) return ttlAuto;
  const ttl = readInteger(input);
  if (ttl === ttlAuto) return ttl;
  if (ttl === null || ttl < ttlSecondsMin || ttl > ttlSecondsMax) {
    report(problem.ttlRange(ttlSecondsMin, ttlSecondsMax));
    return ttlAuto;
  }
  return proxied ? ttlAuto : ttl;
}

/** The TTL of a zone file or a transfer, which may have any, as a TTL that records can have. */
export function nearestTtl(ttlSeconds: number): number {
  return Math.min(Math.max(ttlSeconds, ttlSecondsMin), ttlSecondsMax);
}

/** The TTL of a record in DNS answers. */
export function servedTtlSeconds(ttl: number): number {
  return ttl === ttlAuto ? ttlAutoSeconds : ttl;
}
