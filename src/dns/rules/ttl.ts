import { problem, type Report } from "../record/problem.ts";
import { readInteger } from "../record/field/integer.ts";

/** What a request and a response write for Auto; it is served as 300 seconds. */
const ttlAuto = 1;
export const ttlSecondsMin = 60;
export const ttlSecondsMax = 86_400;

/** A proxied record is always Auto; what was asked for is still checked. */
export function acceptTtl(input: unknown, proxied: boolean, report: Report): number {
  if (input === undefined || input === null) return ttlAuto;
  const ttl = readInteger(input);
  if (ttl === ttlAuto) return ttl;
  if (ttl === null || ttl < ttlSecondsMin || ttl > ttlSecondsMax) {
    report(problem.ttlRange());
    return ttlAuto;
  }
  return proxied ? ttlAuto : ttl;
}

/** The TTL in answers of records with the TTL Auto, and of proxied names. */
export const ttlAutoSeconds = 300;

export function servedTtlSeconds(ttl: number): number {
  return ttl === ttlAuto ? ttlAutoSeconds : ttl;
}
