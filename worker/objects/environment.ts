/** The bindings of the companion worker. */
import type { DnsVariables } from "../../src/dns/config/dns-config.ts";
import type { ListenersEnv } from "../replication/listeners.ts";
import type { ZonesDiskEnv } from "./zones-disk.ts";
import type { Zone } from "../../src/dns/rules/zone.ts";

/** The part of `IndexObject` that zone objects call: the class depends on theirs. */
export interface ZoneFinder extends Rpc.DurableObjectBranded {
  /** The zone that a name belongs to: the longest zone name that encloses it. */
  findFor(name: string): Zone | null;
}

export interface Env extends DnsVariables, ListenersEnv, ZonesDiskEnv {
  readonly ZONES: DurableObjectNamespace;
  readonly ZONE_INDEX: DurableObjectNamespace<ZoneFinder>;
}

/** The name of the one index object, which holds all zones. */
export const indexName = "zones";
