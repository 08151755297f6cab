import { problem, type Report } from "../record/problem.ts";
import { readInteger } from "../record/field/integer.ts";

/** What a request and a response write for Auto; it is served as 300 seconds. */
const TTL_AUTO = 1;
export const TTL_SECONDS_MIN = 60;
export const TTL_SECONDS_MAX = 86_400;

/** A proxied record is always Auto; what was asked for is still checked. */
export function acceptTtl(input: unknown, proxied: boolean, report: Report): number {
  if (input === undefined || input === null) return TTL_AUTO;
  const ttl = readInteger(input);
  if (ttl === TTL_AUTO) return ttl;
  if (ttl === null || ttl < TTL_SECONDS_MIN || ttl > TTL_SECONDS_MAX) {
    report(problem.ttlRange());
    return TTL_AUTO;
  }
  return proxied ? TTL_AUTO : ttl;
}
