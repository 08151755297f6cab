/**
 * The records that each serial removed and added, in order. After a restart, the listeners make the
 * differences for incremental transfers (RFC 1995) from this log.
 */
import type { ZoneHead } from "../../src/dns/answer/zone-data.ts";
import { nextSerial } from "../../src/dns/wire/numbers.ts";
import type { ZoneRecord } from "../../src/dns/record/zone-record.ts";
import {
  groupSteps,
  type ChangeStep,
  type LoggedChange,
} from "../../src/dns/replication/logged-change.ts";

/** Enough for a replica that was away for a while. One that was away longer needs the whole zone. */
const changesKeptMax = 10_000;

export class ChangeLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  append(steps: readonly ChangeStep[]): void {
    for (const { serial, action, record, headBefore } of steps) {
      this.#sql.exec(
        "INSERT INTO changes (serial, action, record) VALUES (?, ?, ?)",
        serial,
        action,
        // A change of the head has no record.
        JSON.stringify(record ?? headBefore),
      );
    }
    this.#sql.exec(
      "DELETE FROM changes WHERE position <= (SELECT max(position) FROM changes) - ?",
      changesKeptMax,
    );
  }

  /** The changes after a serial; `null` when the log does not reach back to that serial. */
  since(serial: number, current: number): LoggedChange[] | null {
    if (serial === current) return [];
    const [first] = this.#sql.exec<{ position: number }>(
      "SELECT min(position) AS position FROM changes WHERE serial = ?",
      nextSerial(serial),
    );
    const position = first?.position ?? null;
    const [oldest] = this.#sql.exec<{ position: number }>(
      "SELECT min(position) AS position FROM changes",
    );
    // The oldest row may be the rest of a change whose first rows were deleted.
    if (position === null || (position === oldest?.position && position > 1)) return null;
    const rows = this.#sql
      .exec<{ serial: number; action: ChangeStep["action"]; record: string }>(
        "SELECT serial, action, record FROM changes WHERE position >= ? ORDER BY position",
        position,
      )
      .toArray();
    return groupSteps(rows.map(toStep), { from: serial, to: current });
  }
}

function toStep(row: { serial: number; action: ChangeStep["action"]; record: string }): ChangeStep {
  const { serial, action } = row;
  const value = JSON.parse(row.record) as unknown;
  return action === "settings"
    ? { serial, action, record: null, headBefore: value as ZoneHead | null }
    : { serial, action, record: value as ZoneRecord, headBefore: null };
}
