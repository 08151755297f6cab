/**
 * Counts the queries of a server by name, type and RCODE. The number of different names is bounded:
 * a client can ask for any number of names that do not exist.
 */
import { keyOctets, nameKey, type NameKey } from "../wire/name-key.ts";
import { formatName } from "../wire/name.ts";
import { rcodeName } from "../wire/numbers.ts";
import { typeName } from "../record/presentation.ts";
import type { QueryCount } from "../rules/query-report.ts";

export type { QueryCount };

const entriesMax = 20_000;

export class QueryCounts {
  readonly #counts = new Map<string, number>();

  /** @param name as octets, in any case */
  add(name: Uint8Array, type: number, rcode: number, count: number): void {
    const key = `${type} ${rcode} ${nameKey(name)}`;
    const known = this.#counts.get(key);
    if (known !== undefined || this.#counts.size < entriesMax) {
      this.#counts.set(key, (known ?? 0) + count);
    }
  }

  list(): QueryCount[] {
    return Array.from(this.#counts, ([key, count]) => {
      const [type = "", rcode = ""] = key.split(" ", 2);
      const name: NameKey = key.slice(type.length + rcode.length + 2);
      return {
        name: formatName(keyOctets(name)),
        type: typeName(Number(type)),
        rcode: rcodeName(Number(rcode)),
        count,
      };
    });
  }
}
