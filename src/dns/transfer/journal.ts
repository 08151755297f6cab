/**
 * The journal of a zone: the records that each serial removed and added, as they are transferred
 * (RFC 1995). It is in memory; `replayed-zone.ts` makes it again after a restart.
 */
import type { ResourceRecord } from "../wire/resource-record.ts";
import { textKey } from "../wire/name.ts";

export interface RecordDifference {
  readonly removed: readonly ResourceRecord[];
  readonly added: readonly ResourceRecord[];
}

/** The lists have the changed records without SOA. */
export interface ZoneDelta extends RecordDifference {
  readonly from: number;
  readonly to: number;
  readonly soaBefore: ResourceRecord;
  readonly soaAfter: ResourceRecord;
}

export class ZoneJournal {
  readonly #recordsMax: number;
  readonly #deltas: ZoneDelta[] = [];
  #records = 0;

  /** @param recordsMax the number of records of all deltas; the oldest deltas are dropped first */
  constructor({ recordsMax }: { recordsMax: number }) {
    this.#recordsMax = recordsMax;
  }

  append(delta: ZoneDelta): void {
    // Deltas before a gap in the serials cannot be applied.
    if (this.#deltas.length > 0 && this.#deltas.at(-1)!.to !== delta.from) {
      this.#deltas.length = 0;
      this.#records = 0;
    }
    this.#deltas.push(delta);
    this.#records += recordCount(delta);
    while (this.#records > this.#recordsMax) this.#records -= recordCount(this.#deltas.shift()!);
  }

  /** The deltas from a serial to the last; `null` when the journal does not have the serial. */
  since(serial: number): readonly ZoneDelta[] | null {
    const start = this.#deltas.findIndex(({ from }) => from === serial);
    return start < 0 ? null : this.#deltas.slice(start);
  }
}

/** With the two SOAs, so that an empty delta counts too. */
function recordCount({ removed, added }: ZoneDelta): number {
  return removed.length + added.length + 2;
}

/** Compares lists in any order. A zone holds no record twice (RFC 2181 section 5). */
export function compareRecords(
  before: readonly ResourceRecord[],
  after: readonly ResourceRecord[],
): RecordDifference {
  const removed = new Map(before.map((record) => [recordKey(record), record]));
  const added = new Map<string, ResourceRecord>();
  for (const record of after) {
    const key = recordKey(record);
    if (!removed.delete(key)) added.set(key, record);
  }
  return { removed: [...removed.values()], added: [...added.values()] };
}

/** The key has the TTL: IXFR can change a TTL only by removing and adding the record. */
function recordKey({ name, type, class: recordClass, ttlSeconds, data }: ResourceRecord): string {
  return `${textKey(name)} ${type} ${recordClass} ${ttlSeconds} ${String.fromCharCode(...data)}`;
}
