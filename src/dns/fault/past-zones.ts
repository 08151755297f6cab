/**
 * Zones that follow the served zones later, or never. A fork of the served zones at the start of the
 * fault, and a queue of the changes since then, in their order, each with the time from which on the
 * change is visible here.
 */
import type { ServedZones } from "../answer/served-zones.ts";
import type { ZoneChange, ZoneData } from "../answer/zone-data.ts";

type Step =
  | { readonly kind: "change"; readonly zoneId: string; readonly change: ZoneChange }
  | { readonly kind: "replaced"; readonly data: ZoneData }
  | { readonly kind: "removed"; readonly zoneId: string };

export class PastZones {
  readonly #zones: ServedZones;
  readonly #delayMilliseconds: number;
  readonly #pending: { readonly dueMilliseconds: number; readonly step: Step }[] = [];

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
    const data = change === null ? served.get(zoneId)?.data : undefined;
    const step: Step =
      change !== null
        ? { kind: "change", zoneId, change }
        : data === undefined
          ? { kind: "removed", zoneId }
          : { kind: "replaced", data };
    this.#pending.push({ dueMilliseconds: nowMilliseconds + this.#delayMilliseconds, step });
    this.at(nowMilliseconds);
  }

  /** The zones with the changes that are visible at this time. */
  at(nowMilliseconds: number): ServedZones {
    const due = this.#pending.findIndex(({ dueMilliseconds }) => dueMilliseconds > nowMilliseconds);
    const visible = this.#pending.splice(0, due === -1 ? this.#pending.length : due);
    for (const { step } of visible) this.#apply(step);
    return this.#zones;
  }

  #apply(step: Step): void {
    if (step.kind === "change") this.#zones.apply(step.zoneId, step.change);
    else if (step.kind === "replaced") this.#zones.put(step.data);
    else this.#zones.remove(step.zoneId);
  }
}
