import type { ServedZones } from "../answer/served-zones.ts";
import { rewind } from "../replication/publication.ts";
import type { ZoneChange } from "../rules/zone.ts";
import type { TimedChange, ZoneHistory } from "./change-history.ts";

/**
 * Zones that follow the served zones later, or never: a fork of the served zones, with the changes of
 * the time before undone, and a queue of the changes since then, in their order, each with the time
 * from which on the change is visible here.
 */
export class PastZones {
  readonly #zones: ServedZones;
  readonly #delayMilliseconds: number;
  readonly #pending: { readonly dueMilliseconds: number; readonly apply: () => void }[] = [];

  /** @param delayMilliseconds `Infinity`: the zones stay as they are */
  constructor(
    served: ServedZones,
    delayMilliseconds: number,
    {
      history = [],
      nowMilliseconds = 0,
    }: { readonly history?: readonly ZoneHistory[]; readonly nowMilliseconds?: number } = {},
  ) {
    this.#zones = served.fork();
    this.#delayMilliseconds = delayMilliseconds;
    if (delayMilliseconds === Infinity) return;
    for (const zone of history) this.#undo(zone, nowMilliseconds);
    this.#pending.sort((one, other) => one.dueMilliseconds - other.dueMilliseconds);
  }

  /** Undoes the changes that are not visible yet. */
  #undo({ zoneId, from, changes }: ZoneHistory, nowMilliseconds: number): void {
    const zones = this.#zones;
    const zone = zones.get(zoneId);
    const isDue = ({ milliseconds }: TimedChange): boolean =>
      milliseconds + this.#delayMilliseconds <= nowMilliseconds;
    const hidden = changes.slice(changes.findLastIndex(isDue) + 1);
    // The zone may have changed after the history was read.
    if (hidden.length === 0 || zone?.serial !== changes.at(-1)!.serial) return;
    const before = changes.at(-hidden.length - 1)?.serial ?? from;
    const past = rewind(zone.data, before, hidden);
    zones.put(past.data);
    for (const [index, change] of past.changes.entries()) {
      const dueMilliseconds = hidden[index]!.milliseconds + this.#delayMilliseconds;
      this.#pending.push({ dueMilliseconds, apply: () => zones.apply(zoneId, change) });
    }
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
