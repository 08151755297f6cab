/**
 * The SQL of a database: its migrations, and the files of the seed.
 *
 * Migrations are those that `wrangler d1 migrations apply` finds, and its table gets their names, so wrangler does
 * not apply them again. A database without `migrations_dir` has the folder `migrations` only if it is the only
 * database of the project: which of several would the folder belong to?
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { BoundResource } from "./bound-resources.ts";
import { splitStatements, type SqlStatement } from "./sql-statements.ts";

/** A file of SQL, which a database runs as one transaction. */
export interface SqlFile {
  readonly target: BoundResource;
  readonly path: string;
  readonly statements: readonly SqlStatement[];
}

export function readSqlFile(target: BoundResource, path: string): SqlFile {
  return { target, path, statements: splitStatements(readFileSync(path, "utf8")) };
}

/** The migrations of a database, in the order in which wrangler applies them. */
export function readMigrations(target: BoundResource): SqlFile[] {
  const { entry } = target;
  const table = identifier(textOf(entry["migrations_table"]) ?? "d1_migrations");
  const create =
    `CREATE TABLE IF NOT EXISTS ${table} (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, ` +
    "applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";
  return migrationNames(target).map(({ name, path }) => {
    const { statements } = readSqlFile(target, path);
    const insert = `INSERT INTO ${table} (name) VALUES ('${name.replaceAll("'", "''")}')`;
    return {
      target,
      path,
      statements: [{ text: create, line: 1 }, ...statements, { text: insert, line: 1 }],
    };
  });
}

/** The names are relative to the folder of the migrations. */
export function migrationNames({ kind, entry, config }: BoundResource) {
  if (kind !== "d1") return [];
  const given = textOf(entry["migrations_dir"]);
  const { d1_databases: databases } = config.table;
  if (given === undefined && Array.isArray(databases) && databases.length > 1) return [];
  const folder = posix.normalize(given ?? "migrations").replace(/\/$/, "");
  const pattern = posix.normalize(textOf(entry["migrations_pattern"]) ?? `${folder}/*.sql`);
  const root = join(config.folder, folder);
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => matches(posix.join(folder, name), pattern))
    .toSorted((one, other) => one.localeCompare(other, "en", { numeric: true }))
    .map((name) => ({ name, path: join(root, name) }));
}

/** The pattern of a path, with `*` and `**`. */
function matches(path: string, pattern: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\?]/g, "\\$&")
    .replaceAll(/\*\*\/|\*/g, (stars) => (stars === "*" ? "[^/]*" : "(?:.*/)?"));
  return new RegExp(`^${source}$`).test(path);
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
