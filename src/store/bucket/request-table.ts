/**
 * The outcomes of the requests that came from other processes.
 *
 * A process whose answer was lost does not know whether the bucket has executed its request, and
 * sends the request again with the same id. The outcomes of the writes are stored in the transaction
 * of the writes, so the bucket answers a repeated request with the first outcomes, also after the
 * owner was killed and another process is the owner. Reads are executed again.
 */
import type { Outcome } from "../core/operations.ts";
import { firstRow } from "./schema.ts";

/** Longer than any client repeats a request (`node/owner-connection.ts`, `owner-bucket.ts`). */
const keptMilliseconds = 10 * 60_000;
/** The most outcomes that one request forgets, so that no request waits for many. */
const forgottenMax = 100;

type RequestRow = [id: string, outcomes: string, time: number];

export class RequestTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The outcomes of a request, with `null` for each read; `null` for a request that is new. */
  find(id: string): (Outcome | null)[] | null {
    const row = firstRow<[string]>(
      this.#sql.exec("SELECT outcomes FROM requests WHERE id = ?", id),
    );
    return row === undefined ? null : (JSON.parse(row[0]) as (Outcome | null)[]);
  }

  /** All requests, to be stored in another database. */
  rows(): RequestRow[] {
    const rows = this.#sql.exec("SELECT id, outcomes, time FROM requests ORDER BY sequence");
    return Array.from(rows.raw<RequestRow>());
  }

  restore(rows: readonly RequestRow[]): void {
    for (const row of rows) this.#insert(row);
  }

  /** @param now by the machine's clock */
  add(id: string, outcomes: readonly (Outcome | null)[], now: number): void {
    this.#insert([id, JSON.stringify(outcomes), now]);
    this.#sql.exec(
      `DELETE FROM requests WHERE sequence IN (
        SELECT sequence FROM requests ORDER BY sequence LIMIT ${forgottenMax}
      ) AND time < ?`,
      now - keptMilliseconds,
    );
  }

  #insert(row: RequestRow): void {
    this.#sql.exec("INSERT INTO requests (id, outcomes, time) VALUES (?, ?, ?)", ...row);
  }
}
