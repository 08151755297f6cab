import type { ServedZones } from "../answer/served-zones.ts";
import type { ZoneChange } from "../rules/zone.ts";

/**
 * Zones that follow the served zones later, or never. A fork of the served zones at the start of the
 * fault, and a queue of the changes since then, in their order, each with the time from which on the
 * change is visible here.
 */
export class PastZones {
  readonly #zones: ServedZones;
  readonly #delayMilliseconds: number;
  readonly #pending: { readonly dueMilliseconds: number; readonly apply: () => void }[] = [];

  /** @param delayMilliseconds `Infinity`: the zones stay as they are */
  constructor(served: ServedZones, delayMilliseconds: number) {
    this.#zones = served.fork();
    this.#delayMilliseconds = delayMilliseconds;
  }

  /**
   * To be called after each change of the served zones.
   *
   * @param change `null` when the zone was replaced or removed
   */
  follow(
    served: ServedZones,
    { zoneId, change }: { readonly zoneId: string; readonly change: ZoneChange | null },
    nowMilliseconds: number,
  ): void {
    if (this.#delayMilliseconds === Infinity) return;
    const zones = this.#zones;
    const data = change === null ? served.get(zoneId)?.data : undefined;
    const apply = (): void => {
      if (change !== null) zones.apply(zoneId, change);
      else if (data === undefined) zones.remove(zoneId);
      else zones.put(data);
    };
    this.#pending.push({ dueMilliseconds: nowMilliseconds + this.#delayMilliseconds, apply });
    this.at(nowMilliseconds);
  }

  /** The zones with the changes that are visible at this time. */
  at(nowMilliseconds: number): ServedZones {
    const due = this.#pending.findIndex(({ dueMilliseconds }) => dueMilliseconds > nowMilliseconds);
    const visible = this.#pending.splice(0, due === -1 ? this.#pending.length : due);
    for (const { apply } of visible) apply();
    return this.#zones;
  }
}
