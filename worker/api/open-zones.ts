import { indexObject, zoneObject, type Env } from "../objects/environment.ts";
import type { Zone } from "../../src/dns/rules/zone.ts";

/** More zones than this are looked up anew. */
const zonesKeptMax = 10_000;

/**
 * Zones that this isolate has seen in the index. It saves the hop to the index on every call; a
 * zone that is deleted later answers for itself that it is gone, and is then forgotten here.
 */
export class OpenZones {
  readonly #seen = new Map<string, Pick<Zone, "id" | "name">>();

  async find(env: Env, id: string): Promise<Pick<Zone, "id" | "name"> | null> {
    const seen = this.#seen.get(id);
    if (seen !== undefined) return seen;
    const zone = await indexObject(env).get(id);
    if (zone === null) return null;
    // Also completes a zone whose making was cut short after it got into the index.
    await zoneObject(env, id).open(zone);
    if (this.#seen.size >= zonesKeptMax) this.#seen.clear();
    this.#seen.set(id, { id: zone.id, name: zone.name });
    return zone;
  }

  forget(id: string): void {
    this.#seen.delete(id);
  }
}
