/**
 * The outcomes of the requests that came from other processes, in the database of a Durable Object.
 *
 * A process whose answer was lost does not know whether the object has executed its request, and
 * sends the request again with the same id (`repeat.ts`). The outcome of a write is stored in the
 * transaction of the write, so the object answers a repeated request with the first outcome, also
 * after its process was killed and another process owns the folder. A request that failed has
 * changed nothing, and is executed again; so is a request that only reads.
 */

export const outcomeTable = `CREATE TABLE IF NOT EXISTS requests (
  sequence INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  part INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  time INTEGER NOT NULL,
  UNIQUE (id, part)
) STRICT`;

/** Longer than any client repeats a request. */
const keptMilliseconds = 10 * 60_000;
/** The most rows that one request deletes, so that no request waits for many. */
const forgottenMax = 100;
/** Rows are deleted after so many new ones, because each look at old rows reads up to a hundred. */
const rowsBetween = forgottenMax / 2;
/** workerd limits a row to 2 MB; a character of JSON takes at most three octets. */
const partCharactersMax = 500_000;

type OutcomeRow = [id: string, part: number, outcome: string, time: number];

/** The part of workerd's `SqlStorage` that is used here. */
interface SqlDatabase {
  exec(
    query: string,
    ...values: (string | number)[]
  ): { raw<Row extends (string | number)[]>(): Iterable<Row> };
}

export class RequestOutcomes {
  readonly #sql: SqlDatabase;
  /** Since rows were deleted. The first request deletes, because a runtime may live for few. */
  #rowsAdded = rowsBetween;

  constructor(sql: SqlDatabase) {
    this.#sql = sql;
  }

  /** The JSON of the first outcome; `null` for a request that is new or that has no id. */
  find(id: string | null): string | null {
    if (id === null) return null;
    const rows = this.#sql.exec("SELECT outcome FROM requests WHERE id = ? ORDER BY part", id);
    const parts = Array.from(rows.raw<[string]>(), ([part]) => part);
    return parts.length === 0 ? null : parts.join("");
  }

  /** To be called in the transaction of the write. */
  add(id: string | null, json: string): void {
    if (id === null) return;
    const now = Date.now();
    for (let part = 0; part * partCharactersMax < json.length; part++) {
      const start = part * partCharactersMax;
      this.#insert([id, part, json.slice(start, start + partCharactersMax), now]);
    }
    if (this.#rowsAdded < rowsBetween) return;
    this.#rowsAdded = 0;
    this.#sql.exec(
      `DELETE FROM requests WHERE sequence IN (
        SELECT sequence FROM requests ORDER BY sequence LIMIT ${forgottenMax}
      ) AND time < ?`,
      now - keptMilliseconds,
    );
  }

  /** All outcomes, to be stored in another database. */
  rows(): OutcomeRow[] {
    const rows = this.#sql.exec("SELECT id, part, outcome, time FROM requests ORDER BY sequence");
    return Array.from(rows.raw<OutcomeRow>());
  }

  restore(rows: readonly OutcomeRow[]): void {
    for (const row of rows) this.#insert(row);
  }

  #insert(row: OutcomeRow): void {
    this.#rowsAdded++;
    this.#sql.exec("INSERT INTO requests (id, part, outcome, time) VALUES (?, ?, ?, ?)", ...row);
  }
}
