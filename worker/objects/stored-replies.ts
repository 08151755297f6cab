/**
 * The replies to the writes that came from other processes.
 *
 * A client whose answer was lost does not know whether the object has executed its request, and
 * sends the request again with the same id. The reply to a write is stored in the transaction of the
 * write, so the object answers a repeated request with the first reply, also after its process was
 * killed and another process owns the zones. A write that failed has changed nothing, and is
 * executed again.
 */
import { replyTables } from "./zone-sql.ts";

/** Longer than any client repeats a request (`api-proxy.ts`, `src/dns/server/zones-connection.ts`). */
const keptMilliseconds = 10 * 60_000;
/** The most rows that one request deletes, so that no request waits for many. */
const deletedMax = 100;
/** workerd limits a row to 2 MB; a character of JSON takes at most three octets. */
const partCharactersMax = 500_000;

export class StoredReplies {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  createTables(): void {
    for (const statement of replyTables) this.#sql.exec(statement);
  }

  /** The JSON of the first reply; `null` for a request that is new or that has no id. */
  find(requestId: string | null): string | null {
    if (requestId === null) return null;
    const select = "SELECT json FROM replies WHERE request = ? ORDER BY part";
    const parts = this.#sql.exec<{ json: string }>(select, requestId).toArray();
    return parts.length === 0 ? null : parts.map(({ json }) => json).join("");
  }

  /** To be called in the transaction of the write. */
  add(requestId: string | null, json: string): void {
    if (requestId === null) return;
    const now = Date.now();
    for (let part = 0; part * partCharactersMax < json.length; part++) {
      const start = part * partCharactersMax;
      const text = json.slice(start, start + partCharactersMax);
      this.#sql.exec("INSERT INTO replies VALUES (?, ?, ?, ?)", requestId, part, text, now);
    }
    this.#sql.exec(
      `DELETE FROM replies WHERE rowid IN (SELECT rowid FROM replies WHERE time < ? LIMIT ?)`,
      now - keptMilliseconds,
      deletedMax,
    );
  }
}
