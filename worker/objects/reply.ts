/**
 * What an object answers across isolates. Expected failures are values, because an error that
 * crosses keeps neither its class nor its fields; results are JSON text, ready for the envelope.
 */
import { ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import type { ResultInfo } from "../../src/dns/rules/list/page.ts";

export type Reply =
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

export function replyWith(result: unknown, resultInfo?: ResultInfo): Reply {
  const json = JSON.stringify(result);
  return resultInfo === undefined ? { ok: true, json } : { ok: true, json, resultInfo };
}

/** A ZoneError becomes a reply; anything else is a fault of the program and goes on up. */
export function replyToError(error: unknown): Reply {
  if (error instanceof ZoneError) return { ok: false, problems: error.problems };
  throw error;
}
