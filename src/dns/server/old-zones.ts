/**
 * The zones of earlier versions: a binding to DNS under stock tools had zones of its own in the same
 * folder, which no other tool saw.
 *
 *     ledge-dns-IndexObject/, ledge-dns-ZoneObject/   the databases of such bindings
 *     do/dns-IndexObject/, do/dns-ZoneObject/         the databases of the companion worker
 *
 * The new owner moves the zones that the companion worker does not have. Of a zone that both have,
 * the companion worker's stays, and the records that only the binding had are written to a zone
 * file. Nothing is removed: old databases without a use are in `old-zones/`. A crash at any point
 * leaves the rest to the next owner.
 */
import { createHash, createHmac } from "node:crypto";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { loadSqlite } from "../../state/lock.ts";
import type { RecordDraft, RecordSettings } from "../record/zone-record.ts";
import { composeLine } from "../zone-file/compose.ts";

interface ZoneRow {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly zone: string;
}

interface Layout {
  readonly folder: (className: string) => string;
  /** Makes the ids of the objects, which are the names of the databases. */
  readonly uniqueKey: (className: string) => string;
}

const oldLayout: Layout = {
  folder: (className) => `ledge-dns-${className}`,
  uniqueKey: (className) => `ledge-dns-${className}`,
};
const newLayout: Layout = {
  folder: (className) => join("do", `dns-${className}`),
  uniqueKey: (className) => `dns-${className}`,
};
/** The name of the one index object. */
const indexName = "zones";
const asideFolder = "old-zones";

/**
 * Only the owner of the zones may call this, before the companion worker starts.
 *
 * @returns messages for the user
 */
export function moveOldZones(folder: string): string[] {
  const oldIndex = databasePath(folder, oldLayout, "IndexObject", indexName);
  if (!existsSync(oldIndex)) return [];
  const newIndex = databasePath(folder, newLayout, "IndexObject", indexName);
  const oldZones = withDatabase(oldIndex, readZones);
  const known = new Set(withDatabase(newIndex, readZones).map(({ name }) => name));
  const messages: string[] = [];
  for (const zone of oldZones.filter(({ name }) => known.has(name))) {
    const path = writeMissingRecords(folder, zone, withDatabase(newIndex, readZones));
    if (path === null) continue;
    messages.push(
      `Zone ${zone.name} existed twice in ${folder}: a binding under stock tools had records that ` +
        "ledge dev and ledge dns did not see. All tools now have the zone of ledge dev. To add the " +
        `records of the binding: ledge dns import ${zone.name} ${path}`,
    );
  }
  const moved = oldZones.filter(({ name }) => !known.has(name));
  for (const { id } of moved) {
    move(
      databasePath(folder, oldLayout, "ZoneObject", id),
      databasePath(folder, newLayout, "ZoneObject", id),
    );
  }
  if (moved.length > 0) {
    const names = moved.map(({ name }) => name).join(", ");
    messages.push(`The zones of bindings under stock tools are zones of all tools now: ${names}.`);
  }
  if (existsSync(newIndex)) withDatabase(newIndex, (database) => addZones(database, moved));
  else move(oldIndex, newIndex);
  setAside(folder);
  return messages;
}

/** Writes the records that only the old zone has. Returns the path, or `null` without records. */
function writeMissingRecords(
  folder: string,
  { id, name }: ZoneRow,
  newZones: readonly ZoneRow[],
): string | null {
  const newId = newZones.find((zone) => zone.name === name)?.id ?? id;
  const old = withDatabase(databasePath(folder, oldLayout, "ZoneObject", id), readRecords);
  const present = new Set(
    withDatabase(databasePath(folder, newLayout, "ZoneObject", newId), readRecords).map(identity),
  );
  const missing = old.filter((record) => !present.has(identity(record)));
  if (missing.length === 0) return null;
  const path = asidePath(folder, `${name}.zone`);
  writeFileSync(path, `${missing.map(composeLine).join("\n")}\n`, { mode: 0o600 });
  return path;
}

function identity({ name, type, content, priority }: RecordDraft): string {
  return JSON.stringify([name, type, content, priority]);
}

function readZones(database: DatabaseSync): ZoneRow[] {
  return database.prepare("SELECT id, name, type, zone FROM zones").all() as unknown as ZoneRow[];
}

function addZones(database: DatabaseSync, zones: readonly ZoneRow[]): void {
  const insert = database.prepare(
    "INSERT OR IGNORE INTO zones (id, name, type, zone) VALUES (?, ?, ?, ?)",
  );
  for (const { id, name, type, zone } of zones) insert.run(id, name, type, zone);
}

type RecordRow = Omit<RecordDraft, "proxied" | "tags" | "settings"> & {
  readonly proxied: number;
  readonly tags: string;
  readonly settings: string;
};

function readRecords(database: DatabaseSync): RecordDraft[] {
  const select =
    "SELECT name, type, content, priority, ttl, proxied, comment, tags, settings FROM records";
  const rows = database.prepare(`${select} ORDER BY type, name, seq`).all();
  return (rows as unknown as RecordRow[]).map(({ proxied, tags, settings, ...record }) => ({
    ...record,
    proxied: proxied === 1,
    tags: JSON.parse(tags) as string[],
    settings: JSON.parse(settings) as RecordSettings,
  }));
}

/** An absent or empty database has no rows. */
function withDatabase<Row>(path: string, work: (database: DatabaseSync) => Row[]): Row[];
function withDatabase(path: string, work: (database: DatabaseSync) => void): void;
function withDatabase<Row>(path: string, work: (database: DatabaseSync) => Row[] | void): unknown {
  if (!existsSync(path)) return [];
  const database = new (loadSqlite().DatabaseSync)(path);
  try {
    const [table] = database.prepare("SELECT 1 FROM sqlite_master LIMIT 1").all();
    return table === undefined ? [] : work(database);
  } finally {
    // Writes what is in the log into the file.
    database.close();
  }
}

/** A database that was closed last by this process is one file. */
function move(path: string, newPath: string): void {
  if (!existsSync(path)) return;
  withDatabase(path, (database) => database.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
  mkdirSync(dirname(newPath), { recursive: true, mode: 0o700 });
  renameSync(path, newPath);
}

function setAside(folder: string): void {
  for (const className of ["ZoneObject", "IndexObject"]) {
    const path = join(folder, oldLayout.folder(className));
    if (existsSync(path)) renameSync(path, asidePath(folder, basename(path)));
  }
}

/** A new path: an earlier version may have made zones again. */
function asidePath(folder: string, name: string): string {
  mkdirSync(join(folder, asideFolder), { recursive: true, mode: 0o700 });
  for (let count = 1; ; count++) {
    const path = join(folder, asideFolder, count === 1 ? name : `${name}.${count}`);
    if (!existsSync(path)) return path;
  }
}

function databasePath(folder: string, layout: Layout, className: string, name: string): string {
  const file = `${objectId(layout.uniqueKey(className), name)}.sqlite`;
  return join(folder, layout.folder(className), file);
}

/** The id that workerd gives the object with a name. */
function objectId(uniqueKey: string, name: string): string {
  const key = createHash("sha256").update(uniqueKey).digest();
  const hmac = (data: string | Buffer): Buffer =>
    createHmac("sha256", key).update(data).digest().subarray(0, 16);
  const nameHmac = hmac(name);
  return Buffer.concat([nameHmac, hmac(nameHmac)]).toString("hex");
}
