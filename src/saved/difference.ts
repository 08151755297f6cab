/**
 * What differs between two states, in words.
 *
 * Only databases whose files differ are opened. The runtime names the database of an object by a hash of the
 * object's name, so the name of a namespace is found among candidates: the folders of values, and the names
 * that the configuration has.
 */
import { createHash, createHmac } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { bucketOfFolder } from "../store/core/content.ts";
import {
  alarmTable,
  bucketTables,
  entryTable,
  r2Tables,
  scriptChanges,
  zoneTables,
  type CompareValues,
} from "./compared-tables.ts";
import type { ReadableState } from "./readable-state.ts";
import { DatabasePair, type RowChange } from "./table-difference.ts";

export interface StateDifference {
  readonly changes: readonly StateChange[];
}

interface StateChange {
  readonly kind: "bucket" | "zone" | "KV" | "D1" | "R2" | "cache" | "Durable Object" | "other";
  /** A bucket, a zone, a namespace, a database. */
  readonly place: string;
  /** A key, "table users: row 3", "www A 192.0.2.1". */
  readonly what: string;
  readonly change: RowChange["change"];
}

/** What people call a namespace or a database, by the name that the runtime has: often an id. */
export type PlaceNames = ReadonlyMap<string, string>;

/** @param names of the project's configuration */
export function diffStates(
  from: ReadableState,
  to: ReadableState,
  names: PlaceNames = new Map(),
): StateDifference {
  const paths = [...new Set([...from.databases, ...to.databases])].sort();
  const objectNames = new ObjectNames([from, to], names);
  const changes = paths
    .filter((path) => path.endsWith(".sqlite") && !isSame(path, from, to))
    .flatMap((path) => [...databaseChanges(path, from, to, objectNames)]);
  return { changes };
}

export function describeDifference({ changes }: StateDifference): string[] {
  return changes.map(({ kind, place, what, change }) => `${kind} ${place}: ${what} ${change}`);
}

/** The names in a table of wrangler's configuration. */
export function placeNames(table: Readonly<Record<string, unknown>>): PlaceNames {
  const names = new Map<string, string>();
  const add = (key: string, ids: readonly string[], shown: readonly string[]): void => {
    for (const binding of (table[key] ?? []) as Readonly<Record<string, string | undefined>>[]) {
      const name = shown.map((each) => binding[each]).find((each) => each !== undefined);
      for (const id of [...ids, "binding"].flatMap((each) => binding[each] ?? [])) {
        names.set(id, name ?? id);
      }
    }
  };
  add("kv_namespaces", ["id", "preview_id"], ["binding"]);
  add("d1_databases", ["database_id", "preview_database_id"], ["database_name", "binding"]);
  add("r2_buckets", ["bucket_name", "preview_bucket_name"], ["bucket_name"]);
  add("store_buckets", ["bucket_name", "preview_bucket_name"], ["bucket_name"]);
  return names;
}

/** By the folders of databases. Others are of Durable Objects (`do/SCRIPT-CLASS`), or not known. */
const kinds: Readonly<Record<string, StateChange["kind"]>> = {
  "store/databases/ledge-store-bucket": "bucket",
  "dns/do/dns-ZoneObject": "zone",
  "kv/miniflare-KVNamespaceObject": "KV",
  "d1/miniflare-D1DatabaseObject": "D1",
  "r2/miniflare-R2BucketObject": "R2",
  "cache/miniflare-CacheObject": "cache",
};
/** The list of the zones: each zone has a database, too. */
const zoneIndex = "dns/do/dns-IndexObject";
/** The database of the alarms of a class. */
const alarmsName = "metadata";

function* databaseChanges(
  path: string,
  from: ReadableState,
  to: ReadableState,
  names: ObjectNames,
): Generator<StateChange> {
  const [, folder = "", id = ""] = /^(.*)\/([^/]*)\.sqlite$/.exec(path) ?? [];
  const kind = kinds[folder] ?? (folder.startsWith("do/") ? "Durable Object" : "other");
  const isAlarms = id === alarmsName;
  if (folder === zoneIndex || (isAlarms && kind !== "Durable Object")) return;
  const pair = new DatabasePair(copyOf(path, from), copyOf(path, to));
  try {
    if (isAlarms) {
      for (const { what, change } of pair.changes(alarmTable)) {
        yield { kind, place: `${classOf(folder)} ${what}`, what: "alarm", change };
      }
      return;
    }
    const { own, shown } = names.find(folder, id);
    const zone = kind === "zone" ? zoneNameOf(pair) : undefined;
    const values = `${folder.split("/")[0]}/${own}/blobs/`;
    const isSameValue = (before: string, after: string): boolean =>
      hasSameBytes(from.valuePath(values + before), to.valuePath(values + after));
    const places: Partial<Record<StateChange["kind"], string>> = {
      zone,
      "Durable Object": `${classOf(folder)} ${pair.text("__miniflare_do_name", "name") ?? shown}`,
      other: `${folder} ${shown}`,
    };
    const place = places[kind] ?? shown;
    for (const change of changesOf(kind, pair, place, isSameValue)) {
      yield { kind, place, ...change };
    }
  } finally {
    pair.close();
  }
}

function changesOf(
  kind: StateChange["kind"],
  pair: DatabasePair,
  place: string,
  isSameValue: CompareValues,
): Iterable<RowChange> {
  switch (kind) {
    case "bucket":
      return pair.changes(...bucketTables);
    case "zone":
      return pair.changes(...zoneTables(place));
    case "R2":
      return pair.changes(...r2Tables);
    case "KV":
    case "cache":
      return pair.changes(entryTable(isSameValue));
    case "D1":
    case "Durable Object":
    case "other":
      return scriptChanges(pair);
  }
}

function isSame(path: string, from: ReadableState, to: ReadableState): boolean {
  const isInBoth = [from, to].every(({ databases }) => databases.includes(path));
  return isInBoth && from.hasSameDatabase(path, to);
}

/** The private copy of a database; `null` when the state does not have the database. */
function copyOf(path: string, state: ReadableState): string | null {
  if (!state.databases.includes(path)) return null;
  const list = state.openDatabase(path).prepare("PRAGMA database_list").all();
  return (list as { name: string; file: string }[])[0]?.file ?? null;
}

function hasSameBytes(before: string, after: string): boolean {
  const [one, other] = [before, after].map((path) => statSync(path, { throwIfNoEntry: false }));
  if (one === undefined || one.size !== other?.size) return false;
  return one.ino === other.ino || readFileSync(before).equals(readFileSync(after));
}

/** Folders of objects are named by the script and the class, which has no hyphen: `do/my-script-Counter`. */
function classOf(folder: string): string {
  return folder.slice(folder.lastIndexOf("-") + 1);
}

function zoneNameOf(pair: DatabasePair): string | undefined {
  const seed = pair.text("facts", "value", "name = 'seed'");
  return seed === undefined ? undefined : (JSON.parse(seed) as { name: string }).name;
}

/** The names of namespaces and databases, by the folder and the id of the object that has each. */
class ObjectNames {
  readonly #shown: PlaceNames;
  /** The folders of values, by plugin. */
  readonly #folders = new Map<string, Set<string>>();
  readonly #ids = new Map<string, Map<string, string>>();

  constructor(states: readonly ReadableState[], shown: PlaceNames) {
    this.#shown = shown;
    for (const path of states.flatMap(({ values }) => [...values.keys()])) {
      // `kv/NAME/blobs/ID`, `store/blobs/NAME/ID`
      const [plugin = "", first = "", second = ""] = path.split("/", 3);
      const name = plugin === "store" ? bucketOfFolder(second) : first;
      this.#folders.set(plugin, (this.#folders.get(plugin) ?? new Set()).add(name));
    }
  }

  find(folder: string, id: string): ObjectName {
    const own = this.#namesIn(folder).get(id);
    if (own === undefined) return { own: id, shown: id.slice(0, 8) };
    return { own, shown: this.#shown.get(own) ?? own };
  }

  #namesIn(folder: string): ReadonlyMap<string, string> {
    const known = this.#ids.get(folder);
    if (known !== undefined) return known;
    const [plugin = "", ...rest] = folder.split("/");
    const candidates = [...(this.#folders.get(plugin) ?? []), ...this.#shown.keys()];
    const ids = new Map(candidates.map((name) => [objectId(rest.at(-1) ?? "", name), name]));
    this.#ids.set(folder, ids);
    return ids;
  }
}

interface ObjectName {
  readonly own: string;
  readonly shown: string;
}

/** workerd's `idFromName()`. */
function objectId(uniqueKey: string, name: string): string {
  const key = createHash("sha256").update(uniqueKey).digest();
  const start = createHmac("sha256", key).update(name).digest().subarray(0, 16);
  const end = createHmac("sha256", key).update(start).digest().subarray(0, 16);
  return Buffer.concat([start, end]).toString("hex");
}
