import { parentKey, rootKey, type NameKey } from "../wire/name-key.ts";
import { typeCodes } from "../wire/numbers.ts";
import { PlatformAddresses } from "./proxied-answer.ts";
import { ServedZone } from "./served-zone.ts";
import type { ZoneChange, ZoneData } from "./zone-data.ts";

/** The zones of a server. Every change passes here and increases the revision. */
export class ServedZones {
  readonly #options: { readonly platformAddresses: readonly string[] };
  readonly #platform: PlatformAddresses;
  readonly #byId = new Map<string, ServedZone>();
  readonly #byApex = new Map<NameKey, ServedZone>();
  /** The length of the longest apex: longer suffixes of a name are no apex. */
  #apexLengthMax = rootKey.length;
  #revision = 0;
  /** The number of signed zones. */
  #signed = 0;
  /** Zones that a fork has too. They are copied before they change. */
  readonly #shared = new WeakSet<ServedZone>();

  constructor(options: { readonly platformAddresses: readonly string[] }) {
    this.#options = options;
    this.#platform = new PlatformAddresses(options.platformAddresses);
  }

  /** Increases with every change; answers prepared at an earlier revision are stale. */
  get revision(): number {
    return this.#revision;
  }

  /** Whether any zone is signed: otherwise DO changes no answer. */
  get hasSigned(): boolean {
    return this.#signed > 0;
  }

  get(zoneId: string): ServedZone | undefined {
    return this.#byId.get(zoneId);
  }

  /** Adds a zone, or replaces the zone with the same id. */
  put(data: ZoneData): void {
    this.remove(data.id);
    this.#add(new ServedZone(data, this.#platform));
  }

  /** The zones as they are now. Later changes here do not reach the fork, and vice versa. */
  fork(): ServedZones {
    const fork = new ServedZones(this.#options);
    for (const zone of this.#byId.values()) {
      this.#shared.add(zone);
      fork.#shared.add(zone);
      fork.#add(zone);
    }
    return fork;
  }

  #add(zone: ServedZone): void {
    this.#byId.set(zone.id, zone);
    this.#byApex.set(zone.apexKey, zone);
    this.#apexLengthMax = Math.max(this.#apexLengthMax, zone.apexKey.length);
    this.#signed += signedCount(zone);
    this.#revision += 1;
  }

  /** Returns false when the zone is unknown; the caller then puts the whole zone. */
  apply(zoneId: string, change: ZoneChange): boolean {
    const shared = this.#byId.get(zoneId);
    if (shared !== undefined && this.#shared.has(shared)) this.put(shared.data);
    const zone = this.#byId.get(zoneId);
    this.#signed -= signedCount(zone);
    zone?.apply(change);
    this.#signed += signedCount(zone);
    this.#revision += 1;
    return zone !== undefined;
  }

  remove(zoneId: string): void {
    const zone = this.#byId.get(zoneId);
    if (zone === undefined) return;
    this.#byId.delete(zoneId);
    // Another zone may have been created with the same name meanwhile.
    if (this.#byApex.get(zone.apexKey) === zone) this.#byApex.delete(zone.apexKey);
    this.#signed -= signedCount(zone);
    this.#revision += 1;
  }

  /** The zone with exactly this apex. */
  at(apex: NameKey): ServedZone | undefined {
    return this.#byApex.get(apex);
  }

  /**
   * Finds the zone that answers for a name: the zone with the longest apex that encloses it. At the
   * apex, DS is the parent zone's when that zone is here and has the cut (RFC 4035 section 3.1.4.1).
   */
  findFor(key: NameKey, type: number): ServedZone | undefined {
    const own = this.#enclosing(key);
    if (type !== typeCodes.DS || own?.apexKey !== key || key === rootKey) return own;
    const parent = this.#enclosing(parentKey(key));
    return parent?.find(key) === undefined ? own : parent;
  }

  #enclosing(key: NameKey): ServedZone | undefined {
    let at = 0;
    while (key.length - at > this.#apexLengthMax) at += key.charCodeAt(at) + 1;
    for (; at < key.length; at += key.charCodeAt(at) + 1) {
      const zone = this.#byApex.get(key.slice(at));
      if (zone !== undefined) return zone;
    }
    return undefined;
  }
}

function signedCount(zone: ServedZone | undefined): number {
  return zone === undefined || zone.signing === null ? 0 : 1;
}
