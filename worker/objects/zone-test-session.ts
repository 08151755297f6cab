/**
 * What tests set in the memory of this isolate, in which all objects of a runtime live: layers, the
 * clock and broken signatures. The end of the process ends them.
 *
 * Closing a layer undoes what was written to zones while the layer was open
 * (`src/base/undo-journal.ts`).
 */
import type { SignatureFault } from "../../src/dns/dnssec/zone-signing.ts";

class ZoneTestSession {
  /** The id of this test run; empty until a test opens a layer. */
  run = "";
  readonly #layers: {
    readonly layer: number;
    readonly isSnapshot: boolean;
    readonly clockOffsetMilliseconds: number;
  }[] = [];
  readonly #zones = new Set<string>();
  /** By how much a test has moved the clock: keys roll and signatures are made by this time. */
  clockOffsetMilliseconds = 0;
  /** A zone object publishes the broken signatures of its zone with the zone (`ZoneHead.signing`). */
  #signatureFaults: ReadonlyMap<string, readonly SignatureFault[]> = new Map();

  nowSeconds(): number {
    return Math.floor((Date.now() + this.clockOffsetMilliseconds) / 1000);
  }

  get layer(): number | null {
    return this.#layers.at(-1)?.layer ?? null;
  }

  /** The innermost layer of a test or a suite. */
  get testLayer(): number | null {
    return this.#layers.findLast(({ isSnapshot }) => !isSnapshot)?.layer ?? null;
  }

  open(layer: number, isSnapshot: boolean): void {
    this.run ||= crypto.randomUUID();
    const { clockOffsetMilliseconds } = this;
    this.#layers.push({ layer, isSnapshot, clockOffsetMilliseconds });
  }

  touch(zoneId: string | null): void {
    if (zoneId !== null && this.layer !== null) this.#zones.add(zoneId);
  }

  /** Returns the zones whose objects, like the index, must leave this layer. */
  close(layer: number): string[] {
    const lowest = this.#layers.findIndex((open) => open.layer >= layer);
    if (lowest === -1) return [];
    this.clockOffsetMilliseconds = this.#layers[lowest]!.clockOffsetMilliseconds;
    this.#layers.splice(lowest);
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
