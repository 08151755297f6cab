/**
 * The writes of tests that have ended, for the report of a test that fails because isolation undid them.
 *
 * A call touches places: a key of a bucket, of KV, R2 or a cache, a table of D1, a Durable Object. A test that
 * uses a place before it writes there itself, after an earlier test wrote there, may depend on that test; so may a test
 * that lists keys or selects all rows of a table, whatever it wrote there itself. The report says so, and does not claim
 * that this is the reason of the failure.
 */
import { describePlannedCall } from "./binding-call.ts";
import type { AnyCall } from "./call-details.ts";

/** More places than a report could help with: the memory of a long test file stays small. */
const placesMax = 1_000;
const linesMax = 3;
const sqlLengthMax = 60;

interface Write {
  readonly call: string;
  readonly test: string;
}

export class UndoneWrites {
  /** The last write to each place, the latest last */
  readonly #writes = new Map<string, Write>();

  /** A test has ended: its writes are undone. */
  add(test: string, calls: readonly AnyCall[]): void {
    for (const call of calls) {
      const { writes } = placesOf(call);
      for (const place of writes) {
        this.#writes.delete(place);
        this.#writes.set(place, { call: describe(call), test });
        if (this.#writes.size > placesMax) this.#writes.delete(this.#writes.keys().next().value!);
      }
    }
  }

  /** @returns an empty text for a test that uses nothing that an earlier test wrote */
  describe(calls: readonly AnyCall[]): string {
    const own = new Set<string>();
    const lines = new Set<string>();
    for (const call of calls) {
      const { reads, writes } = placesOf(call);
      for (const read of reads) {
        const write = own.has(read.place) && !read.isWhole ? undefined : this.#find(read);
        if (write === undefined) continue;
        lines.add(`  ${describe(call)}, after ${write.call} by "${write.test}"`);
      }
      for (const place of [...writes, ...reads.map((read) => read.place)]) own.add(place);
    }
    if (lines.size === 0) return "";
    const more = lines.size > linesMax ? [`  and ${lines.size - linesMax} more`] : [];
    return [
      "This test uses what earlier tests wrote, and Ledge undid these writes:",
      ...[...lines].slice(0, linesMax),
      ...more,
      "If the test needs them, write them in the test or in a hook, or keep the writes of all tests with ledge({ isolate: false }).",
    ].join("\n");
  }

  #find({ place, isWhole }: Read): Write | undefined {
    if (!isWhole) return this.#writes.get(place);
    return [...this.#writes].findLast(([written]) => written.startsWith(place))?.[1];
  }
}

interface Read {
  readonly place: string;
  /** The call reads all places that begin with this text. */
  readonly isWhole: boolean;
}

interface Places {
  readonly reads: readonly Read[];
  readonly writes: readonly string[];
}

const readMethods = new Set(["get", "getWithMetadata", "head", "match"]);
const tablePattern =
  /\b(?:from|into|join|update|table(?:\s+if(?:\s+not)?\s+exists)?)\s+["`[]?([\w.]+)/gi;

function placesOf(call: AnyCall): Places {
  const { kind = "store", method } = call;
  const name = `${kind} ${call.bucket ?? call.binding} `;
  if (kind === "d1") return placesOfSql(name, call.statements ?? []);
  const writes = call.keys.map((key) => name + key);
  if (method === "list") return { reads: [{ place: name + call.key, isWhole: true }], writes: [] };
  const reads = writes.map((place) => ({ place, isWhole: false }));
  // Any call of an object may read and write its state.
  if (kind === "durable_objects") return { reads, writes };
  return readMethods.has(method) ? { reads, writes: [] } : { reads: [], writes };
}

function placesOfSql(name: string, statements: readonly string[]): Places {
  const reads: Read[] = [];
  const writes: string[] = [];
  for (const sql of statements.flatMap((text) => text.split(";"))) {
    const places = [...sql.matchAll(tablePattern)].map(
      ([, table = ""]) => `${name}"${table.toLowerCase()}"`,
    );
    const isSelect = /^\s*(?:select|with|pragma|explain)\b/i.test(sql);
    const isInsert = /^\s*(?:insert|replace|create)\b/i.test(sql);
    const isWhole = isSelect && !/\bwhere\b/i.test(sql);
    // The first table of an insert is only written.
    reads.push(...places.slice(isInsert ? 1 : 0).map((place) => ({ place, isWhole })));
    if (!isSelect) writes.push(...places.slice(0, 1));
  }
  return { reads, writes };
}

function describe(call: AnyCall): string {
  if (call.kind === undefined) return `${call.method} of "${call.key}" in "${call.bucket}"`;
  const sql = call.sql?.trim().replaceAll(/\s+/g, " ");
  const short =
    sql !== undefined && sql.length > sqlLengthMax ? `${sql.slice(0, sqlLengthMax)}…` : sql;
  return describePlannedCall({ ...call, ...(short !== undefined && { sql: short }) });
}
