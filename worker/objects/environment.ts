import type { DnsVariables } from "../../src/config/dns-config.ts";
import type { Listeners } from "../replication/publisher.ts";
import type { IndexObject } from "./index-object.ts";
import type { ZoneObject } from "./zone-object.ts";

export interface Env extends DnsVariables, Listeners {
  readonly ZONES: DurableObjectNamespace<ZoneObject>;
  readonly ZONE_INDEX: DurableObjectNamespace<IndexObject>;
}

/** There is one index of zones. */
const indexName = "zones";

export function indexObject(env: Env): DurableObjectStub<IndexObject> {
  return env.ZONE_INDEX.get(env.ZONE_INDEX.idFromName(indexName));
}

export function zoneObject(env: Env, zoneId: string): DurableObjectStub<ZoneObject> {
  return env.ZONES.get(env.ZONES.idFromName(zoneId));
}
