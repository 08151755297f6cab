/**
 * The records that each serial removed and added, in order, as an incremental transfer (RFC 1995)
 * would send them. No transfer reads this log yet: the listeners keep a journal in memory, which a
 * restart loses. `changesSince` of the zone object is the only reader.
 */
import { nextSerial } from "../../src/dns/record/soa.ts";
import type { ZoneRecord } from "../../src/dns/record/zone-record.ts";

/** Enough for a replica that was away for a while. One that was away longer needs the whole zone. */
const changesKeptMax = 10_000;

export interface Change {
  readonly serial: number;
  /** "settings": the zone's own SOA or NS records changed, and no stored record did. */
  readonly action: "remove" | "add" | "settings";
  readonly record: ZoneRecord | null;
}

export class ChangeLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  append(changes: readonly Change[]): void {
    for (const { serial, action, record } of changes) {
      this.#sql.exec(
        "INSERT INTO changes (serial, action, record) VALUES (?, ?, ?)",
        serial,
        action,
        JSON.stringify(record),
      );
    }
    this.#sql.exec(
      "DELETE FROM changes WHERE position <= (SELECT max(position) FROM changes) - ?",
      changesKeptMax,
    );
  }

  /** The changes after a serial; `null` when the log does not reach back to that serial. */
  since(serial: number, current: number): Change[] | null {
    if (serial === current) return [];
    const rows = this.#sql
      .exec<{ position: number; serial: number; action: Change["action"]; record: string }>(
        "SELECT position, serial, action, record FROM changes ORDER BY position",
      )
      .toArray();
    const from = rows.findIndex((row) => row.serial === nextSerial(serial));
    // The oldest row may be the rest of a change whose first rows were deleted.
    if (from < 0 || (from === 0 && rows[0]!.position > 1)) return null;
    return rows.slice(from).map((row) => ({
      serial: row.serial,
      action: row.action,
      record: JSON.parse(row.record) as ZoneRecord | null,
    }));
  }
}
