/**
 * When zones have changed, for answers from earlier zones. The log of a zone has its last changes, and
 * this history has their times, in the memory of the process: what was changed before the process began
 * counts as old.
 *
 * A test makes a zone and its first records a moment before it sets a fault, and wants to see these
 * records. So the creation of a zone and the first change after it count as old, too.
 */
import { zoneIdOf, type LoggedChange, type Publication } from "../replication/publication.ts";

/** The last changes of a zone, up to its current serial. */
export interface ZoneHistory {
  readonly zoneId: string;
  /** The serial before the first change */
  readonly from: number;
  readonly changes: readonly TimedChange[];
}

export interface TimedChange extends LoggedChange {
  readonly milliseconds: number;
}

interface ZoneTimes {
  isNew: boolean;
  changes: { readonly from: number; readonly serial: number; readonly milliseconds: number }[];
}

/** Of each zone. The log of a zone has no more changes than this. */
const changesMax = 10_000;

export class ChangeHistory {
  readonly #zones = new Map<string, ZoneTimes>();

  /** To be called with each commit of a zone. */
  note(publication: Publication, milliseconds: number): void {
    const zoneId = zoneIdOf(publication);
    const known = this.#zones.get(zoneId);
    if (publication.kind === "removed") this.#zones.delete(zoneId);
    else if (publication.kind === "state") {
      // The state of a zone that is known: a test ends, and its changes were never made.
      this.#zones.set(zoneId, { isNew: known === undefined, changes: [] });
    } else {
      const { from, change } = publication;
      const times = known ?? { isNew: false, changes: [] };
      if (times.isNew) times.isNew = false;
      else times.changes.push({ from, serial: change.serial, milliseconds });
      // Twice the limit, so that the array moves rarely.
      if (times.changes.length > 2 * changesMax) times.changes = times.changes.slice(-changesMax);
      this.#zones.set(zoneId, times);
    }
  }

  /**
   * The zones that have changed after a time.
   *
   * @param read the changes of a zone after a serial; `null` when the zone's log does not reach back
   */
  async since(
    milliseconds: number,
    read: (zoneId: string, serial: number) => Promise<readonly LoggedChange[] | null>,
  ): Promise<ZoneHistory[]> {
    const zones = Array.from(this.#zones, async ([zoneId, { changes }]) => {
      const first = changes.find((change) => change.milliseconds > milliseconds);
      const logged = first === undefined ? null : await read(zoneId, first.from);
      if (first === undefined || logged === null) return [];
      const times = new Map(changes.map((change) => [change.serial, change.milliseconds]));
      const timed = logged.map((change) => ({
        ...change,
        milliseconds: times.get(change.serial) ?? 0,
      }));
      return [{ zoneId, from: first.from, changes: timed }];
    });
    return (await Promise.all(zones)).flat();
  }
}
