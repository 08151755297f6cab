/**
 * Tells new queries from those of the last answer. Several servers log queries, each at its own pace, so a
 * query can appear after a query that was answered later. So each question overlaps the last one,
 * and what the last answer had already is left out.
 */
import type { LoggedQuery } from "../../dns/fault/observed-queries.ts";

/** Longer than a server takes from the answer of a query to its log. */
const overlapMilliseconds = 2000;

export class QueryWindow {
  #sinceMilliseconds = 0;
  /** How often the last answer had each query of the overlap. */
  #seen: ReadonlyMap<string, number> = new Map();

  /** What the next question asks for. The first asks for everything, also from before the page opened. */
  get sinceMilliseconds(): number {
    return this.#sinceMilliseconds;
  }

  /** @param queries all queries since `sinceMilliseconds`, by their time */
  take(queries: readonly LoggedQuery[]): LoggedQuery[] {
    const counts = new Map<string, number>();
    const added = queries.filter((query) => {
      const key = JSON.stringify(query);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count > (this.#seen.get(key) ?? 0);
    });
    const latest = queries.at(-1)?.milliseconds ?? 0;
    this.#sinceMilliseconds = Math.max(this.#sinceMilliseconds, latest - overlapMilliseconds);
    this.#seen = counts;
    return added;
  }
}
