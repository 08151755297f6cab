/**
 * The zones in the memory of this isolate, for DNS over HTTPS. The zone objects run in the same
 * isolate as the worker that answers, and change this memory in the turn of their commit: it is
 * never behind. It stays empty, and costs nothing, until the first DoH query.
 */
import { readDnsConfig, type DnsVariables } from "../../src/dns/config/dns-config.ts";
import { ServedZones } from "../../src/dns/answer/served-zones.ts";
import type { ZoneChange, ZoneData } from "../../src/dns/answer/zone-data.ts";
import {
  applyPublication,
  zoneIdOf,
  type Publication,
} from "../../src/dns/replication/publication.ts";

class IsolateZones {
  #zones: ServedZones | null = null;
  #loaded = false;
  /** Called after a zone was changed (with the change), replaced or removed (with `null`). */
  onChange: (zones: ServedZones, zoneId: string, change: ZoneChange | null) => void = () => {};

  /** @param fill makes every zone object `take` its state */
  async load(env: DnsVariables, fill: () => Promise<unknown>): Promise<ServedZones> {
    this.#zones ??= new ServedZones(readDnsConfig(env));
    // Concurrent first requests each load the zones: in workerd a request cannot await a promise
    // of another request.
    if (!this.#loaded) await fill();
    this.#loaded = true;
    return this.#zones;
  }

  /** Called by zone objects. `state` is called when the memory has missed a change. */
  take(publication: Publication, state: () => ZoneData): void {
    const zones = this.#zones;
    if (zones === null) return;
    const zoneId = zoneIdOf(publication);
    const before = zones.get(zoneId)?.serial;
    const isReloaded = applyPublication(zones, publication) === "reload";
    if (isReloaded) zones.put(state());
    if (zones.get(zoneId)?.serial === before) return;
    const isChange = !isReloaded && publication.kind === "change";
    this.onChange(zones, zoneId, isChange ? publication.change : null);
  }

  /** Called when a zone object starts. After a commit that failed, the memory is ahead of it. */
  check(id: string, serial: number, state: () => ZoneData): void {
    const zone = this.#zones?.get(id);
    if (this.#zones === null || zone === undefined || zone.serial === serial) return;
    this.#zones.put(state());
    this.onChange(this.#zones, id, null);
  }
}

export const isolateZones = new IsolateZones();
