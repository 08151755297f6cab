/**
 * The result of a call to an object. Expected failures are values, because an error loses its class
 * and its fields between isolates. Results are JSON text, ready for the envelope.
 */
import { ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import type { ResultInfo } from "../../src/dns/rules/list/page.ts";

export type ObjectReply =
  | {
      readonly ok: true;
      readonly json: string;
      readonly resultInfo?: ResultInfo;
      readonly timing?: Timing;
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

interface Timing {
  readonly start_time: string;
  readonly end_time: string;
  readonly process_time: number;
}

export function replyWith(result: unknown, resultInfo?: ResultInfo): ObjectReply {
  const json = JSON.stringify(result);
  return resultInfo === undefined ? { ok: true, json } : { ok: true, json, resultInfo };
}

/** A ZoneError becomes a reply. Any other error is a bug and is thrown again. */
export function replyToError(error: unknown): ObjectReply {
  if (error instanceof ZoneError) return { ok: false, problems: error.problems };
  throw error;
}
