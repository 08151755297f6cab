/**
 * What is on disk, read without a runtime: the databases of the buckets and their files.
 *
 * The database is copied before SQLite opens it, because opening can write (the recovery of the
 * write-ahead log). No writer may be active meanwhile; a copy that changed is made again.
 */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export interface StoreState {
  /** Results of `PRAGMA integrity_check` other than `ok`, with the database. */
  readonly corrupt: string[];
  /** Rows whose file does not exist. */
  readonly missing: string[];
  /** Files without a row. */
  readonly orphans: string[];
  /** Uploads in progress. */
  readonly uploads: number;
}

const bucketFolder = "photos";

export function readStoreState(persistPath: string): StoreState {
  const corrupt: string[] = [];
  const named = new Set<string>();
  let uploads = 0;
  for (const database of databases(join(persistPath, "store/databases"))) {
    withCopy(database, (sqlite) => {
      corrupt.push(...integrityProblems(sqlite, database));
      if (!hasTable(sqlite, "blobs")) return;
      for (const { name } of sqlite.prepare("SELECT name FROM blobs").all()) {
        named.add(name as string);
      }
      const query = "SELECT count(*) AS uploads FROM uploads WHERE state = 'in progress'";
      uploads += Number(sqlite.prepare(query).get()?.["uploads"]);
    });
  }
  const folder = join(persistPath, "store/blobs", bucketFolder);
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return {
    corrupt,
    missing: Array.from(named).filter((name) => !files.includes(name)),
    orphans: files.filter((name) => !named.has(name)),
    uploads,
  };
}

/** Results of `PRAGMA integrity_check` for the zones. */
export function readZonesProblems(persistPath: string): string[] {
  return databases(join(persistPath, "dns/do")).flatMap((database) => {
    let problems: string[] = [];
    withCopy(database, (sqlite) => (problems = integrityProblems(sqlite, database)));
    return problems;
  });
}

function databases(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".sqlite"))
    .map((name) => join(folder, name));
}

function integrityProblems(sqlite: DatabaseSync, database: string): string[] {
  const lines = sqlite.prepare("PRAGMA integrity_check").all();
  return lines
    .map(({ integrity_check: line }) => String(line))
    .filter((line) => line !== "ok")
    .map((line) => `${basename(database)}: ${line}`);
}

function hasTable(sqlite: DatabaseSync, name: string): boolean {
  const query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?";
  return sqlite.prepare(query).get(name) !== undefined;
}

function withCopy(database: string, work: (sqlite: DatabaseSync) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "ledge-copy-"));
  try {
    const copy = join(folder, "copy.sqlite");
    while (!tryCopy(database, copy));
    const sqlite = new DatabaseSync(copy);
    work(sqlite);
    sqlite.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns whether the database did not change meanwhile */
function tryCopy(database: string, copy: string): boolean {
  const before = stamp(database);
  rmSync(`${copy}-wal`, { force: true });
  if (existsSync(`${database}-wal`)) copyFileSync(`${database}-wal`, `${copy}-wal`);
  copyFileSync(database, copy);
  return stamp(database) === before;
}

/** Changes with every write to the database. */
function stamp(database: string): string {
  return [database, `${database}-wal`]
    .map((path) => statSync(path, { throwIfNoEntry: false }))
    .map((entry) => `${entry?.mtimeMs} ${entry?.size}`)
    .join();
}
