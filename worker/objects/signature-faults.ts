/**
 * The signatures that tests have broken, in the memory of this isolate: the end of the process ends
 * them. A zone object publishes those of its zone with the zone (`ZoneHead.signing`).
 */
import type { SignatureFault } from "../../src/dns/dnssec/zone-signing.ts";

class SignatureFaults {
  readonly #byZone = new Map<string, readonly SignatureFault[]>();

  of(zoneId: string): readonly SignatureFault[] {
    return this.#byZone.get(zoneId) ?? [];
  }

  /** Replaces all faults. Returns the ids of the zones whose faults differ. */
  replace(faults: ReadonlyMap<string, readonly SignatureFault[]>): string[] {
    const zones = new Set([...this.#byZone.keys(), ...faults.keys()]);
    this.#byZone.clear();
    for (const [zoneId, ofZone] of faults) this.#byZone.set(zoneId, ofZone);
    return [...zones];
  }
}

export const signatureFaults = new SignatureFaults();
