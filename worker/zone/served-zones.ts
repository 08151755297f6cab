import type { ServedZone, ZoneChange, ZoneData } from "./served-zone.ts";

/** The zones of a server. Every change goes through here, so that prepared answers are dropped. */
export declare class ServedZones {
  constructor(options: { readonly platformAddresses: readonly string[] });
  /** Grows with every change. */
  readonly revision: number;
  /** Adds a zone, or replaces the one with its id. */
  put(data: ZoneData): void;
  /** False when the zone is not here: put it. */
  apply(zoneId: string, change: ZoneChange): boolean;
  remove(zoneId: string): void;
  get(zoneId: string): ServedZone | undefined;
}
