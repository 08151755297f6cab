/**
 * Undoes writes to the SQLite database of a Durable Object, at a cost that depends on the number
 * of rows that were written.
 *
 * Writes belong to a *layer*: a test, or a `describe` block around the test. While a layer is
 * entered, triggers copy each row before the layer first changes it, into a table beside the row's
 * own (`undo_objects` for `objects`). To leave the layer restores the copies and reads no other
 * row. Layers nest: each has its own copies.
 *
 * A database in which no layer was ever entered has none of these tables and triggers. The journal
 * asks SQLite for the tables, so it covers tables that a schema gets later. A table needs a primary
 * key, and `INSERT OR REPLACE` must replace rows with the same primary key.
 *
 * A write and its copy are in one transaction: after a crash the database has both or neither.
 * `recover` undoes what a crash has left.
 */

type SqlValue = ArrayBuffer | string | number | null;

/** The part of workerd's `SqlStorage` that the journal uses. */
interface SqlDatabase {
  exec<Row extends Record<string, SqlValue>>(
    statement: string,
    ...values: SqlValue[]
  ): Iterable<Row> & { toArray(): Row[]; raw<Values extends SqlValue[]>(): Iterable<Values> };
}

interface JournaledTable {
  readonly name: string;
  /** Names and types of the columns. SQLite uses an index only for keys of the same type. */
  readonly definitions: readonly string[];
  readonly columns: readonly string[];
  readonly keys: readonly [string, ...string[]];
}

/** In the database, because the triggers read the entered layer. */
const stateTable = "undo_layer";

export class UndoJournal {
  readonly #sql: SqlDatabase;
  #tables: readonly JournaledTable[] | undefined;
  /** The entered layer; `undefined` before the first `enter()`. */
  #layer: number | null | undefined;

  constructor(sql: SqlDatabase) {
    this.#sql = sql;
  }

  /** Makes the writes from now on belong to a layer; for `null`, to none. */
  enter(layer: number | null, run: string): void {
    if (layer === this.#layer) return;
    if (!this.#exists()) {
      if (layer === null) return;
      this.#create();
    } else if (layer !== null) this.#journaled();
    this.#sql.exec(`UPDATE ${stateTable} SET layer = ?, run = ?`, layer, run);
    this.#layer = layer;
  }

  /** Undoes the writes of this layer and of the layers above it. */
  leave(layer: number, run: string): void {
    if (!this.#exists()) return;
    this.enter(null, run);
    for (;;) {
      const tops = this.#topLayers();
      const top = Math.max(...tops);
      if (top < layer) return;
      this.#journaled().forEach((table, index) => {
        if (tops[index] === top) this.#restore(table, top);
      });
    }
  }

  empty(): void {
    for (const { name } of this.#journaled()) this.#sql.exec(`DELETE FROM ${quoted(name)}`);
  }

  /** Undoes the writes of a run that has crashed. */
  recover(run: string | undefined): void {
    if (!this.#exists()) return;
    const [state] = this.#sql.exec<{ run: string }>(`SELECT run FROM ${stateTable}`);
    if (state === undefined || state.run === run) return;
    this.leave(0, run ?? "");
  }

  /** The keys among these whose rows a layer would restore. */
  keeps(tableName: string, keys: readonly string[]): Set<string> {
    if (keys.length === 0) return new Set();
    const kept = this.#copiedKeys(
      tableName,
      (key) => `_existed AND ${key} IN (SELECT value FROM json_each(?))`,
      JSON.stringify(keys),
    );
    return new Set(kept);
  }

  /** The keys of rows that this layer and the layers above it have added to a table. */
  added(tableName: string, layer: number): string[] {
    return this.#copiedKeys(tableName, () => "_layer >= ? AND NOT _existed", layer);
  }

  #copiedKeys(
    tableName: string,
    condition: (key: string) => string,
    value: string | number,
  ): string[] {
    if (!this.#exists()) return [];
    const table = this.#journaled().find(({ name }) => name === tableName);
    if (table === undefined) return [];
    const key = quoted(table.keys[0]);
    const rows = this.#sql
      .exec(`SELECT ${key} FROM ${copiesOf(table)} WHERE ${condition(key)}`, value)
      .raw<[string]>();
    return Array.from(rows, ([copied]) => copied);
  }

  #exists(): boolean {
    if (this.#tables !== undefined) return true;
    const [row] = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", stateTable);
    return row !== undefined;
  }

  #create(): void {
    this.#sql.exec(`CREATE TABLE ${stateTable} (layer INTEGER, run TEXT NOT NULL)`);
    this.#sql.exec(`INSERT INTO ${stateTable} (layer, run) VALUES (NULL, '')`);
    this.#journaled();
  }

  #createCopies(table: JournaledTable): void {
    const keys = table.keys.map(quoted).join(", ");
    this.#sql.exec(
      `CREATE TABLE ${copiesOf(table)} (_layer INTEGER, _existed INTEGER, ` +
        `${table.definitions.join(", ")}, PRIMARY KEY (_layer, ${keys})) WITHOUT ROWID`,
    );
    for (const statement of triggers(table)) this.#sql.exec(statement);
  }

  #topLayers(): number[] {
    const tops = this.#journaled().map(
      (table, index) => `coalesce((SELECT max(_layer) FROM ${copiesOf(table)}), -1) AS t${index}`,
    );
    const [row] = this.#sql.exec(`SELECT ${tops.join(", ")}`).raw<number[]>();
    return row ?? [];
  }

  #restore(table: JournaledTable, layer: number): void {
    const columns = table.columns.map(quoted).join(", ");
    const keys = table.keys.map(quoted).join(", ");
    const from = `FROM ${copiesOf(table)} WHERE _layer = ?`;
    this.#sql.exec(
      `DELETE FROM ${quoted(table.name)} WHERE (${keys}) IN (SELECT ${keys} ${from})`,
      layer,
    );
    this.#sql.exec(
      `INSERT INTO ${quoted(table.name)} (${columns}) SELECT ${columns} ${from} AND _existed`,
      layer,
    );
    this.#sql.exec(`DELETE ${from}`, layer);
  }

  /**
   * The tables in the order of their restoration. A trigger of the schema may write to a table that
   * was created after the trigger's own table, so the later table is restored last.
   */
  #journaled(): readonly JournaledTable[] {
    if (this.#tables !== undefined) return this.#tables;
    const names = this.#sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
      .toArray()
      .map(({ name }) => name);
    const own = names.filter((name) => !/^(?:sqlite_|_cf_|undo_)/.test(name));
    const tables = own.map((name): JournaledTable => {
      const columns = this.#sql
        .exec<{ name: string; type: string; pk: number }>(`PRAGMA table_info(${quoted(name)})`)
        .toArray();
      const [key, ...keys] = columns.filter(({ pk }) => pk > 0).map((column) => column.name);
      if (key === undefined) throw new Error(`Cannot undo writes to "${name}": no primary key`);
      return {
        name,
        definitions: columns.map((column) => columnDefinition(column)),
        columns: columns.map((column) => column.name),
        keys: [key, ...keys],
      };
    });
    if (names.includes(stateTable)) {
      // The schema may have got a table since the journal was made.
      for (const table of tables) {
        if (!names.includes(`undo_${table.name}`)) this.#createCopies(table);
      }
    }
    return (this.#tables = tables);
  }
}

/**
 * A row is copied before it changes, because then the row that `INSERT OR REPLACE` replaces still
 * exists. The key of a new row is recorded after the insert, when SQLite has chosen the key. The
 * triggers check for an earlier copy themselves: the conflict clause of the statement that fires a
 * trigger overrides an `OR IGNORE` in the trigger.
 */
function triggers(table: JournaledTable): string[] {
  const { name } = table;
  const keys = table.keys.map(quoted);
  const columns = table.columns.map(quoted).join(", ");
  const layer = `(SELECT layer FROM ${stateTable})`;
  const hasKey = (row: "old" | "new"): string =>
    keys.map((key) => `${key} = ${row}.${key}`).join(" AND ");
  const isCopied = (row: "old" | "new"): string =>
    `SELECT 1 FROM ${copiesOf(table)} WHERE _layer = ${layer} AND ${hasKey(row)}`;
  const copy = (row: "old" | "new"): string =>
    `INSERT INTO ${copiesOf(table)} (_layer, _existed, ${columns}) ` +
    `SELECT ${layer}, 1, ${columns} FROM ${quoted(name)} ` +
    `WHERE ${hasKey(row)} AND NOT EXISTS (${isCopied(row)});`;
  const recordNew =
    `INSERT INTO ${copiesOf(table)} (_layer, _existed, ${keys.join(", ")}) ` +
    `SELECT ${layer}, 0, ${keys.map((key) => `new.${key}`).join(", ")} ` +
    `WHERE NOT EXISTS (${isCopied("new")});`;
  const when = `WHEN ${layer} IS NOT NULL`;
  const trigger = (event: string, body: string): string =>
    `CREATE TRIGGER ${quoted(`undo_${name}_${event.toLowerCase().replace(" ", "_")}`)} ` +
    `${event} ON ${quoted(name)} ${when} BEGIN ${body} END`;
  return [
    trigger("BEFORE INSERT", copy("new")),
    trigger("AFTER INSERT", recordNew),
    trigger("BEFORE UPDATE", copy("old") + recordNew),
    trigger("BEFORE DELETE", copy("old")),
  ];
}

/** In a table that is not STRICT, a column without a type is what `ANY` is in a STRICT table. */
function columnDefinition({ name, type }: { name: string; type: string }): string {
  return type === "ANY" ? quoted(name) : `${quoted(name)} ${type}`;
}

function copiesOf({ name }: JournaledTable): string {
  return quoted(`undo_${name}`);
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
