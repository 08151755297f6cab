/** The bindings of the companion worker. */
import type { DnsVariables } from "../../src/config/dns-config.ts";
import type { IndexRpc } from "./index-rpc.ts";
import type { ZoneRpc } from "./zone-rpc.ts";

export interface ListenersEnv {
  /** The server in the listeners' process. Absent when DNS is served by HTTP only. */
  readonly LISTENERS?: Fetcher;
  readonly LISTENERS_SECRET?: string;
}

export interface Env extends DnsVariables, ListenersEnv {
  readonly ZONES: DurableObjectNamespace<ZoneRpc>;
  readonly ZONE_INDEX: DurableObjectNamespace<IndexRpc>;
}

/** One index object holds all zones. */
const indexName = "zones";

export function indexObject(env: Env): DurableObjectStub<IndexRpc> {
  return env.ZONE_INDEX.get(env.ZONE_INDEX.idFromName(indexName));
}

export function zoneObject(env: Env, zoneId: string): DurableObjectStub<ZoneRpc> {
  return env.ZONES.get(env.ZONES.idFromName(zoneId));
}
