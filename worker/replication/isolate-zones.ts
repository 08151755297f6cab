/**
 * The zones in this isolate's memory, for DNS over HTTPS. The zone objects run in the same isolate
 * as the worker that answers: they change this memory in the turn of their commit, so it is never
 * behind. It is empty, and costs nothing, until DoH is asked for the first time.
 */
import { readDnsConfig } from "../../src/config/dns-config.ts";
import { indexObject, zoneObject, type Env } from "../objects/environment.ts";
import type { ZoneData } from "../../src/dns/answer/served-zone.ts";
import { ServedZones } from "../../src/dns/answer/served-zones.ts";
import { takePublication } from "../../src/dns/replication/follow.ts";
import type { Publication } from "../../src/dns/replication/publication.ts";

class IsolateZones {
  #zones: ServedZones | null = null;
  #loaded = false;

  async load(env: Env): Promise<ServedZones> {
    this.#zones ??= new ServedZones(readDnsConfig(env));
    if (this.#loaded) return this.#zones;
    const index = indexObject(env);
    await index.declareZones();
    // Two requests at once both do this; no request may wait for another's promise.
    const ids = await index.ids();
    await Promise.all(ids.map((id) => zoneObject(env, id).remember()));
    this.#loaded = true;
    return this.#zones;
  }

  /** For zone objects. `state` is asked for when the memory has missed something. */
  take(publication: Publication, state: () => ZoneData): void {
    if (this.#zones === null) return;
    if (takePublication(this.#zones, publication) === "reload") this.#zones.put(state());
  }

  /** A zone object begins, perhaps again after a commit that failed: then the memory is ahead. */
  check(id: string, serial: number, state: () => ZoneData): void {
    const zone = this.#zones?.get(id);
    if (zone !== undefined && zone.serial !== serial) this.#zones?.put(state());
  }
}

export const isolateZones = new IsolateZones();
