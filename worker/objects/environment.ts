/** The bindings of the companion worker. */
import type { DnsVariables } from "../../src/config/dns-config.ts";
import type { Zone } from "../../src/dns/rules/zone.ts";

export interface ListenersEnv {
  /** The server in the listeners' process. Absent when DNS is served by HTTP only. */
  readonly LISTENERS?: Fetcher;
  readonly LISTENERS_SECRET?: string;
}

/** The part of `IndexObject` that zone objects call: the class depends on theirs. */
export interface ZoneFinder extends Rpc.DurableObjectBranded {
  /** The zone that a name belongs to: the longest zone name that encloses it. */
  findFor(name: string): Zone | null;
}

export interface Env extends DnsVariables, ListenersEnv {
  readonly ZONES: DurableObjectNamespace;
  readonly ZONE_INDEX: DurableObjectNamespace<ZoneFinder>;
}

/** The name of the one index object, which holds all zones. */
export const indexName = "zones";
