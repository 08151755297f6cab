import { parentKey, rootKey, type NameKey } from "../wire/name-key.ts";
import { typeCodes } from "../wire/numbers.ts";
import { Platform } from "./proxied-answer.ts";
import { ServedZone, type ZoneChange, type ZoneData } from "./served-zone.ts";

/** The zones of a server. Every change goes through here, so that prepared answers are dropped. */
export class ServedZones {
  readonly #platform: Platform;
  readonly #byId = new Map<string, ServedZone>();
  readonly #byApex = new Map<NameKey, ServedZone>();
  /** No zone's name is longer, so that no longer suffix has to be looked for. */
  #apexLengthMax = rootKey.length;
  #revision = 0;

  constructor(options: { readonly platformAddresses: readonly string[] }) {
    this.#platform = new Platform(options.platformAddresses);
  }

  /** Grows with every change. */
  get revision(): number {
    return this.#revision;
  }

  get(zoneId: string): ServedZone | undefined {
    return this.#byId.get(zoneId);
  }

  all(): IterableIterator<ServedZone> {
    return this.#byId.values();
  }

  /** Adds a zone, or replaces the one with its id. */
  put(data: ZoneData): void {
    this.remove(data.id);
    const zone = ServedZone.build(data, this.#platform);
    this.#byId.set(zone.id, zone);
    this.#byApex.set(zone.apexKey, zone);
    this.#apexLengthMax = Math.max(this.#apexLengthMax, zone.apexKey.length);
    this.#revision += 1;
  }

  /** False when the zone is not here: put it. */
  apply(zoneId: string, change: ZoneChange): boolean {
    const zone = this.#byId.get(zoneId);
    zone?.apply(change);
    this.#revision += 1;
    return zone !== undefined;
  }

  remove(zoneId: string): void {
    const zone = this.#byId.get(zoneId);
    if (zone === undefined) return;
    this.#byId.delete(zoneId);
    // A zone that was made again under another id may have the name by now.
    if (this.#byApex.get(zone.apexKey) === zone) this.#byApex.delete(zone.apexKey);
    this.#revision += 1;
  }

  /** The zone with exactly this apex. */
  at(apex: NameKey): ServedZone | undefined {
    return this.#byApex.get(apex);
  }

  /**
   * The zone that answers for a name: the longest that encloses it. A DS record belongs to the
   * parent's side of a cut (RFC 4035 section 3.1.4.1), when the parent is here and has the cut.
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
