/**
 * Undoing what was written to an object's database, at a cost that depends on what was written.
 *
 * Writes happen in a *layer*: a test, or a `describe` block around it. While a layer is entered,
 * triggers keep the first image that it sees of every row it changes, in a table beside the row's
 * own (`undo_objects` for `objects`). Leaving the layer puts those rows back; the others are not
 * looked at, however many there are. Layers nest: the images of an outer layer stay untouched
 * while an inner one is entered, so leaving the inner one gives back what the outer one had made.
 *
 * Nothing of this exists in a database in which no layer was ever entered. The tables are found by
 * asking SQLite, so a table that is added to a schema is covered from its first day. A table needs
 * a primary key, and rows that `INSERT OR REPLACE` replaces must have it in common.
 *
 * Writing to one database is synchronous, and the journal's own writes go with those that they
 * guard: a crash finds both or neither. What a crash leaves is undone by `recover`.
 */

interface JournaledTable {
  readonly name: string;
  /** Names and types, as in the table itself: SQLite has no use for a key of another type. */
  readonly definitions: readonly string[];
  readonly columns: readonly string[];
  readonly keys: readonly [string, ...string[]];
}

/** The layer whose writes are kept. The triggers read it, so it has to be in the database. */
const stateTable = "undo_layer";

export class UndoJournal {
  readonly #sql: SqlStorage;
  #tables: readonly JournaledTable[] | undefined;
  /** As the database has it; `undefined` when that is not known. */
  #layer: number | null | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** From here on, writes belong to this layer; to none when it is `null`. */
  enter(layer: number | null, run: string): void {
    if (layer === this.#layer) return;
    if (!this.#exists()) {
      if (layer === null) return;
      this.#create();
    }
    this.#sql.exec(`UPDATE ${stateTable} SET layer = ?, run = ?`, layer, run);
    this.#layer = layer;
  }

  /** Puts back what this layer and those above it have changed. */
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

  /** Deletes all rows, in the layer that is entered. */
  empty(): void {
    for (const { name } of this.#journaled()) this.#sql.exec(`DELETE FROM ${quoted(name)}`);
  }

  /** Undoes what a run left that has ended in the middle. */
  recover(run: string | undefined): void {
    if (!this.#exists()) return;
    const [state] = this.#sql.exec<{ run: string }>(`SELECT run FROM ${stateTable}`);
    if (state === undefined || state.run === run) return;
    this.leave(0, run ?? "");
  }

  /** Which of these keys of a table some layer is going to bring back. */
  keeps(tableName: string, keys: readonly string[]): Set<string> {
    const table = this.#exists()
      ? this.#journaled().find(({ name }) => name === tableName)
      : undefined;
    if (table === undefined || keys.length === 0) return new Set();
    const [key] = table.keys;
    const rows = this.#sql
      .exec(
        `SELECT DISTINCT ${quoted(key)} FROM ${images(table)} WHERE _existed ` +
          `AND ${quoted(key)} IN (SELECT value FROM json_each(?))`,
        JSON.stringify(keys),
      )
      .raw<[string]>();
    return new Set(Array.from(rows, ([value]) => value));
  }

  /** Keys of rows that this layer, or one above it, has added to a table. */
  added(tableName: string, layer: number): string[] {
    const table = this.#exists()
      ? this.#journaled().find(({ name }) => name === tableName)
      : undefined;
    if (table === undefined) return [];
    const [key] = table.keys;
    const rows = this.#sql
      .exec(`SELECT ${quoted(key)} FROM ${images(table)} WHERE _layer >= ? AND NOT _existed`, layer)
      .raw<[string]>();
    return Array.from(rows, ([value]) => value);
  }

  #exists(): boolean {
    if (this.#tables !== undefined) return true;
    const [row] = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", stateTable);
    return row !== undefined;
  }

  #create(): void {
    this.#sql.exec(`CREATE TABLE ${stateTable} (layer INTEGER, run TEXT NOT NULL)`);
    this.#sql.exec(`INSERT INTO ${stateTable} (layer, run) VALUES (NULL, '')`);
    for (const table of this.#journaled()) {
      const keys = table.keys.map(quoted).join(", ");
      this.#sql.exec(
        `CREATE TABLE ${images(table)} (_layer INTEGER, _existed INTEGER, ` +
          `${table.definitions.join(", ")}, PRIMARY KEY (_layer, ${keys})) WITHOUT ROWID`,
      );
      for (const statement of triggers(table)) this.#sql.exec(statement);
    }
  }

  /** Of each table, the highest layer that has changed it; -1 for none. */
  #topLayers(): number[] {
    const tops = this.#journaled().map(
      (table, index) => `coalesce((SELECT max(_layer) FROM ${images(table)}), -1) AS t${index}`,
    );
    const [row] = this.#sql.exec(`SELECT ${tops.join(", ")}`).raw<number[]>();
    return row ?? [];
  }

  #restore(table: JournaledTable, layer: number): void {
    const columns = table.columns.map(quoted).join(", ");
    const keys = table.keys.map(quoted).join(", ");
    const from = `FROM ${images(table)} WHERE _layer = ?`;
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
   * In the order in which they are restored. A trigger of the schema itself may write to a table
   * that was made after its own, so a later table has the last word.
   */
  #journaled(): readonly JournaledTable[] {
    if (this.#tables !== undefined) return this.#tables;
    const names = this.#sql
      .exec<{ name: string }>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' " +
          "AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND name NOT LIKE 'undo\\_%' ESCAPE '\\' ORDER BY rowid",
      )
      .toArray();
    this.#tables = names.map(({ name }) => {
      const columns = this.#sql
        .exec<{ name: string; type: string; pk: number }>(`PRAGMA table_info(${quoted(name)})`)
        .toArray();
      const [key, ...keys] = columns.filter(({ pk }) => pk > 0).map((column) => column.name);
      if (key === undefined) throw new Error(`Cannot undo writes to "${name}": it has no key`);
      return {
        name,
        definitions: columns.map((column) => definition(column)),
        columns: columns.map((column) => column.name),
        keys: [key, ...keys],
      };
    });
    return this.#tables;
  }
}

/**
 * Images are taken before a row changes, for that is when `INSERT OR REPLACE` still shows what it
 * is about to replace. A new row is noted afterwards, when SQLite has chosen its key. An inner `OR
 * IGNORE` would not do to take only the first: the outer statement's clause overrides it.
 */
function triggers(table: JournaledTable): string[] {
  const { name, columns, keys } = table;
  const layer = `(SELECT layer FROM ${stateTable})`;
  const seen = (row: "old" | "new"): string =>
    `SELECT 1 FROM ${images(table)} WHERE _layer = ${layer} AND ` +
    keys.map((key) => `${quoted(key)} = ${row}.${quoted(key)}`).join(" AND ");
  const keep = (row: "old" | "new"): string =>
    `INSERT INTO ${images(table)} (_layer, _existed, ${columns.map(quoted).join(", ")}) ` +
    `SELECT ${layer}, 1, ${columns.map(quoted).join(", ")} FROM ${quoted(name)} WHERE ` +
    keys.map((key) => `${quoted(key)} = ${row}.${quoted(key)}`).join(" AND ") +
    ` AND NOT EXISTS (${seen(row)});`;
  const note =
    `INSERT INTO ${images(table)} (_layer, _existed, ${keys.map(quoted).join(", ")}) ` +
    `SELECT ${layer}, 0, ${keys.map((key) => `new.${quoted(key)}`).join(", ")} ` +
    `WHERE NOT EXISTS (${seen("new")});`;
  const when = `WHEN ${layer} IS NOT NULL`;
  const trigger = (event: string, body: string): string =>
    `CREATE TRIGGER ${quoted(`undo_${name}_${event.toLowerCase().replace(" ", "_")}`)} ` +
    `${event} ON ${quoted(name)} ${when} BEGIN ${body} END`;
  return [
    trigger("BEFORE INSERT", keep("new")),
    trigger("AFTER INSERT", note),
    trigger("BEFORE UPDATE", keep("old") + note),
    trigger("BEFORE DELETE", keep("old")),
  ];
}

/** `ANY` means any only in a strict table; elsewhere a column without a type takes things as they are. */
function definition({ name, type }: { name: string; type: string }): string {
  return type === "ANY" ? quoted(name) : `${quoted(name)} ${type}`;
}

function images({ name }: JournaledTable): string {
  return quoted(`undo_${name}`);
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
