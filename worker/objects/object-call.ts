/**
 * Calls of the objects: the bindings of the companion worker, and the results. Expected failures are
 * values, because an error loses its class and its fields between isolates. Results are JSON text,
 * ready for the envelope.
 */
import type { DnsVariables } from "../../src/dns/config/dns-config.ts";
import { ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import type { ResultInfo } from "../../src/dns/rules/list-query.ts";
import type { Zone } from "../../src/dns/rules/zone.ts";
import type { ListenersEnv } from "../replication/replicas.ts";
import type { ZonesDiskEnv } from "./object-database.ts";

export interface Env extends DnsVariables, ListenersEnv, ZonesDiskEnv {
  readonly ZONES: DurableObjectNamespace;
  readonly ZONE_INDEX: DurableObjectNamespace<ZoneFinder>;
}

/** The part of `IndexObject` that zone objects call: the class depends on theirs. */
export interface ZoneFinder extends Rpc.DurableObjectBranded {
  /** The zone that a name belongs to: the longest zone name that encloses it. */
  findFor(name: string): Zone | null;
}

/** The name of the one index object, which holds all zones. */
export const indexName = "zones";

/** Of `messages` in the envelope: what a client should know of a call that succeeded. */
export interface Message {
  readonly code: number;
  readonly message: string;
}

export type ObjectReply =
  | {
      readonly ok: true;
      readonly json: string;
      readonly resultInfo?: ResultInfo | undefined;
      readonly messages?: readonly Message[];
      readonly timing?: { start_time: string; end_time: string; process_time: number };
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function replyWith(result: unknown, resultInfo?: ResultInfo): ObjectReply {
  return { ...replyWithJson(JSON.stringify(result)), resultInfo };
}

export function replyWithJson(json: string): Extract<ObjectReply, { ok: true }> {
  return { ok: true, json };
}

/** A ZoneError becomes a reply. Any other error is a bug and is thrown again. */
export function replyToError(error: unknown): ObjectReply {
  if (error instanceof ZoneError) return { ok: false, problems: error.problems };
  throw error;
}
