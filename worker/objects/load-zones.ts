import type { ServedZones } from "../../src/dns/answer/served-zones.ts";
import { isolateZones } from "../replication/isolate-zones.ts";
import type { Env } from "./environment.ts";
import { indexObject } from "./index-object.ts";
import { zoneObject } from "./zone-object.ts";

/** The zones in the memory of this isolate. */
export function loadZones(env: Env): Promise<ServedZones> {
  return isolateZones.load(env, async () => {
    const index = indexObject(env);
    await index.declareZones();
    const ids = await index.ids();
    await Promise.all(ids.map((id) => zoneObject(env, id).remember()));
  });
}
