/**
 * Which rows of a table differ between two databases. SQLite compares them in one connection, so the memory
 * does not grow with the tables.
 */
import type { DatabaseSync } from "node:sqlite";
import { loadSqlite } from "../base/loading.ts";
import { counted } from "../base/format.ts";

export type Row = Readonly<Record<string, string | number | bigint | Uint8Array | null>>;

/** Rows that are compared. */
export interface ComparedRows {
  readonly table: string;
  /** Expressions of SQL, by the names of their columns. The first `keyCount` identify the row. */
  readonly columns: Readonly<Record<string, string>>;
  readonly keyCount: number;
  /** A condition of SQL: other rows are left out. */
  readonly only?: string;
  /** The row in words, by its key: `key a/b`. */
  readonly what: (row: Row) => string;
  /** Whether rows with other values mean the same. */
  readonly isSame?: (before: Row, after: Row) => boolean;
  /** So many rows are named. The others are counted, by this noun, which follows the words of the place. */
  readonly namedMax: number;
  readonly noun: string;
  readonly place?: string;
}

export interface RowChange {
  readonly what: string;
  readonly change: "added" | "removed" | "changed";
}

type Side = "before" | "after";

/** Two databases as schemas of one connection. A database that does not exist is empty. */
export class DatabasePair {
  readonly #database: DatabaseSync;

  constructor(before: string | null, after: string | null) {
    this.#database = new (loadSqlite().DatabaseSync)(":memory:", { readOnly: true });
    for (const [side, file] of Object.entries({ before, after })) {
      this.#database.prepare(`ATTACH ? AS ${side}`).run(file ?? ":memory:");
    }
  }

  close(): void {
    this.#database.close();
  }

  all<Found>(sql: string, ...values: string[]): Found[] {
    return this.#database.prepare(sql).all(...values) as Found[];
  }

  *changes(...tables: readonly ComparedRows[]): Generator<RowChange> {
    for (const rows of tables) yield* this.#changes(rows);
  }

  /** The first text of a column, in the state after or before. */
  text(table: string, column: string, where = "1"): string | undefined {
    for (const side of ["after", "before"] as const) {
      if (!this.#has(side, table)) continue;
      const sql = `SELECT ${column} AS text FROM ${side}.${table} WHERE ${where}`;
      const [row] = this.all<{ text: string }>(sql);
      if (row !== undefined) return row.text;
    }
    return undefined;
  }

  *#changes(rows: ComparedRows): Generator<RowChange> {
    let named = 0;
    for (const change of ["removed", "added", "changed"] as const) {
      let others = 0;
      for (const row of this.#rows(rows, change)) {
        if (named < rows.namedMax) {
          named++;
          yield { what: rows.what(row), change };
        } else others++;
      }
      if (others > 0)
        yield { what: `${rows.place ?? ""}and ${counted(others, `more ${rows.noun}`)}`, change };
    }
  }

  *#rows(rows: ComparedRows, change: RowChange["change"]): Generator<Row> {
    const has = { before: this.#has("before", rows.table), after: this.#has("after", rows.table) };
    if (change === "changed") {
      if (has.before && has.after) yield* this.#changedRows(rows);
      return;
    }
    const [own, other]: [Side, Side] =
      change === "removed" ? ["before", "after"] : ["after", "before"];
    if (!has[own]) return;
    const absent = `WHERE NOT EXISTS (SELECT 1 FROM ${source(rows, other)} o WHERE ${sameKey(rows, "o")})`;
    yield* this.#query(`SELECT * FROM ${source(rows, own)} r
       ${has[other] ? absent : ""} ORDER BY ${keysOf(rows).join(", ")}`);
  }

  *#changedRows(rows: ComparedRows): Generator<Row> {
    const names = Object.keys(rows.columns);
    const values = names.slice(rows.keyCount).map(quoted);
    if (values.length === 0) return;
    const after = names.map((name) => `r.${quoted(name)}`);
    const before = values.map((name, index) => `o.${name} AS "before ${index}"`);
    const found = this.#query(
      `SELECT ${[...after, ...(rows.isSame === undefined ? [] : before)].join(", ")}
       FROM ${source(rows, "after")} r JOIN ${source(rows, "before")} o ON ${sameKey(rows, "o")}
       WHERE ${values.map((name) => `r.${name} IS NOT o.${name}`).join(" OR ")}
       ORDER BY ${keysOf(rows).join(", ")}`,
    );
    for (const row of found) {
      const earlier = names
        .slice(rows.keyCount)
        .map((name, index) => [name, row[`before ${index}`]]);
      if (rows.isSame?.(Object.fromEntries(earlier) as Row, row) !== true) yield row;
    }
  }

  #has(side: Side, table: string): boolean {
    if (table === "sqlite_schema") return true;
    return this.all(`SELECT 1 FROM ${side}.sqlite_schema WHERE name = ?`, table).length > 0;
  }

  *#query(sql: string): Generator<Row> {
    const statement = this.#database.prepare(sql);
    statement.setReadBigInts(true);
    yield* statement.iterate() as Iterable<Row>;
  }
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function source({ table, columns, only = "1" }: ComparedRows, side: Side): string {
  const selected = Object.entries(columns).map(([name, sql]) => `${sql} AS ${quoted(name)}`);
  return `(SELECT ${selected.join(", ")} FROM ${side}.${quoted(table)} WHERE ${only})`;
}

function sameKey(rows: ComparedRows, other: string): string {
  return keysOf(rows)
    .map((key) => `${key} IS ${key.replace("r.", `${other}.`)}`)
    .join(" AND ");
}

function keysOf({ columns, keyCount }: ComparedRows): string[] {
  return Object.keys(columns)
    .slice(0, keyCount)
    .map((name) => `r.${quoted(name)}`);
}
