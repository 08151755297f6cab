/**
 * What tests set in the memory of this isolate, in which all objects of a runtime live: layers and
 * broken signatures. The end of the process ends both.
 *
 * Closing a layer undoes what was written to zones while the layer was open
 * (`src/base/undo-journal.ts`).
 */
import type { SignatureFault } from "../../src/dns/dnssec/zone-signing.ts";

class ZoneTestSession {
  /** The id of this test run; empty until a test opens a layer. */
  run = "";
  readonly #layers: number[] = [];
  /** Layers that are snapshots inside a test */
  readonly #snapshots = new Set<number>();
  readonly #zones = new Set<string>();
  /** A zone object publishes the broken signatures of its zone with the zone (`ZoneHead.signing`). */
  #signatureFaults: ReadonlyMap<string, readonly SignatureFault[]> = new Map();

  get layer(): number | null {
    return this.#layers.at(-1) ?? null;
  }

  /** The innermost layer of a test or a suite. */
  get testLayer(): number | null {
    return this.#layers.findLast((layer) => !this.#snapshots.has(layer)) ?? null;
  }

  open(layer: number, isSnapshot: boolean): void {
    this.run ||= crypto.randomUUID();
    if (isSnapshot) this.#snapshots.add(layer);
    this.#layers.push(layer);
  }

  touch(zoneId: string | null): void {
    if (zoneId !== null && this.layer !== null) this.#zones.add(zoneId);
  }

  /** Returns the zones whose objects, like the index, must leave this layer. */
  close(layer: number): string[] {
    const lowest = this.#layers.findIndex((open) => open >= layer);
    if (lowest === -1) return [];
    for (const closed of this.#layers.splice(lowest)) this.#snapshots.delete(closed);
    const zones = [...this.#zones];
    if (this.#layers.length === 0) this.#zones.clear();
    return zones;
  }

  signatureFaultsOf(zoneId: string): readonly SignatureFault[] {
    return this.#signatureFaults.get(zoneId) ?? [];
  }

  /** Returns the ids of the zones that have to be published again. */
  replaceSignatureFaults(byZone: ReadonlyMap<string, readonly SignatureFault[]>): string[] {
    const zones = new Set([...this.#signatureFaults.keys(), ...byZone.keys()]);
    this.#signatureFaults = byZone;
    return [...zones];
  }
}

export const zoneTestSession = new ZoneTestSession();
