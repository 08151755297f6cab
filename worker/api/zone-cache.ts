import type { Env } from "../objects/environment.ts";
import { indexObject } from "../objects/index-object.ts";
import { zoneObject } from "../objects/zone-object.ts";
import type { Zone } from "../../src/dns/rules/zone.ts";

/** At this number the cache is emptied. */
const zonesMax = 10_000;

/**
 * The zones that this isolate has found in the index. The cache saves the call to the index for
 * every request. When a zone is deleted later, its object reports that, and the cache forgets it.
 */
export class ZoneCache {
  readonly #seen = new Map<string, Pick<Zone, "id" | "name">>();

  async find(env: Env, id: string): Promise<Pick<Zone, "id" | "name"> | null> {
    const seen = this.#seen.get(id);
    if (seen !== undefined) return seen;
    const zone = await indexObject(env).get(id);
    if (zone === null) return null;
    // Completes a zone whose creation was interrupted after its entry in the index.
    await zoneObject(env, id).open(zone);
    if (this.#seen.size >= zonesMax) this.#seen.clear();
    this.#seen.set(id, { id: zone.id, name: zone.name });
    return zone;
  }

  forget(id: string): void {
    this.#seen.delete(id);
  }
}
