/** A state folder as runtimes leave it, made without one: databases with logs, values, a bucket. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { readStateFiles } from "../../../src/saved/layout.ts";
import { openPrivately } from "../../../src/saved/private-database.ts";
import { persistPath, savedFolder } from "../../../src/state/folder.ts";
import { temporaryFolder } from "../../support/store.ts";

export const kvDatabase = "kv/miniflare-KVNamespaceObject/k.sqlite";
export const d1Database = "d1/miniflare-D1DatabaseObject/d.sqlite";
const bucketDatabase = "store/databases/ledge-store-bucket/b.sqlite";

export class MadeState {
  readonly folder = temporaryFolder();

  path(path: string): string {
    return join(persistPath(this.folder), path);
  }

  /** A value of KV: the row and the file. */
  putValue(id: string): void {
    this.write(kvDatabase, [
      "CREATE TABLE IF NOT EXISTS entries (id TEXT PRIMARY KEY)",
      `INSERT INTO entries VALUES ('${id}')`,
    ]);
    this.putFile(`kv/names/blobs/${id}`, `value ${id}`);
  }

  removeValue(id: string): void {
    this.write(kvDatabase, [`DELETE FROM entries WHERE id = '${id}'`]);
    rmSync(this.path(`kv/names/blobs/${id}`));
  }

  /** A content file of a bucket, and the row that names it. */
  putObject(name: string): void {
    this.write(bucketDatabase, [
      "CREATE TABLE IF NOT EXISTS blobs (name TEXT PRIMARY KEY)",
      `INSERT INTO blobs VALUES ('${name}')`,
    ]);
    this.putFile(`store/blobs/photos/${name}`, `object ${name}`);
  }

  putFile(path: string, text: string): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), text);
  }

  /** Leaves the log and its index, as a runtime that was killed. */
  write(path: string, statements: readonly string[]): void {
    const work = temporaryFolder();
    const names = ["", "-wal", "-shm"].map((ending) => `d.sqlite${ending}`);
    const target = (name: string): string => this.path(path) + name.slice("d.sqlite".length);
    for (const name of names) {
      cpSync(target(name), join(work, name), { force: true, ...ignoreMissing(target(name)) });
    }
    const database = new DatabaseSync(join(work, "d.sqlite"));
    database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
    for (const statement of statements) database.exec(statement);
    mkdirSync(dirname(this.path(path)), { recursive: true });
    const main = readFileSync(join(work, "d.sqlite"));
    // A database file that has not changed keeps its time.
    if (!isSame(target("d.sqlite"), main)) writeFileSync(target("d.sqlite"), main);
    for (const name of names.slice(1)) {
      writeFileSync(target(name), readFileSync(join(work, name)));
    }
    database.close();
  }

  /** Moves the log into the database file. */
  checkpoint(path: string): void {
    const database = new DatabaseSync(this.path(path));
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
  }

  /** Everything that is state, as text. */
  content(): Record<string, string> {
    return contentOf(this.folder);
  }

  /** The paths of the values that saved states keep. */
  pool(): string[] {
    const pool = join(savedFolder(this.folder), ".values");
    return readdirSync(pool, { recursive: true, encoding: "utf8", withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .toSorted();
  }
}

function ignoreMissing(path: string) {
  return { filter: () => isThere(path) };
}

function isThere(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

function isSame(path: string, bytes: Buffer): boolean {
  return isThere(path) && readFileSync(path).equals(bytes);
}

function contentOf(stateFolder: string): Record<string, string> {
  const persist = persistPath(stateFolder);
  const { databases, values } = readStateFiles(persist);
  const content: Record<string, string> = {};
  for (const path of values) content[path] = readFileSync(join(persist, path), "utf8");
  for (const path of databases) {
    const file = join(persist, path);
    content[path] = path.endsWith(".sqlite")
      ? dump(file, savedFolder(stateFolder))
      : readFileSync(file, "utf8");
  }
  return content;
}

function dump(path: string, parent: string): string {
  const { database, close } = openPrivately(path, parent);
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const rows = tables.map(({ name }) =>
      database.prepare(`SELECT * FROM "${String(name)}"`).all(),
    );
    return JSON.stringify(rows);
  } finally {
    close();
  }
}
