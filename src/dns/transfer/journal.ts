/**
 * What each serial of a zone removed and added, as the records that are transferred (RFC 1995).
 * It begins with the process; a secondary that is older takes the whole zone once.
 */
import type { ResourceRecord } from "../wire/resource-record.ts";

export interface ZoneDelta {
  readonly from: number;
  readonly to: number;
  /** The SOA of `from` and the one of `to`; neither stands in the lists. */
  readonly soaBefore: ResourceRecord;
  readonly soaAfter: ResourceRecord;
  readonly removed: readonly ResourceRecord[];
  readonly added: readonly ResourceRecord[];
}

export class ZoneJournal {
  readonly #recordsMax: number;
  readonly #deltas: ZoneDelta[] = [];
  #records = 0;

  /** @param recordsMax records that are kept, over all deltas; the oldest go first */
  constructor({ recordsMax }: { recordsMax: number }) {
    this.#recordsMax = recordsMax;
  }

  append(delta: ZoneDelta): void {
    // A delta that does not join the last one makes what is before it useless.
    if (this.#deltas.length > 0 && this.#deltas.at(-1)!.to !== delta.from) this.clear();
    this.#deltas.push(delta);
    this.#records += weight(delta);
    while (this.#records > this.#recordsMax) this.#records -= weight(this.#deltas.shift()!);
  }

  clear(): void {
    this.#deltas.length = 0;
    this.#records = 0;
  }

  /** The deltas that lead from a serial to the last; `null` when the journal does not have it. */
  since(serial: number): readonly ZoneDelta[] | null {
    const start = this.#deltas.findIndex(({ from }) => from === serial);
    return start < 0 ? null : this.#deltas.slice(start);
  }
}

/** Two for its SOAs: a delta is never free. */
function weight({ removed, added }: ZoneDelta): number {
  return removed.length + added.length + 2;
}
