/**
 * The folder of a seed: what an empty state starts from.
 *
 *     buckets/BUCKET/path/of/key.png   files that become objects
 *     buckets/BUCKET.json              what the files cannot say: metadata, storage classes, other keys
 *     zones/example.com.zone           zone files
 *     d1/DATABASE.sql                  statements; or the files of d1/DATABASE/, in the order of their names
 *     kv/NAMESPACE.json                values by their keys, or the list of `wrangler kv bulk put`
 *
 * Names are those of bindings or of resources. The migrations of a database come before its statements. All
 * mistakes of the folder are reported at once, before anything is written.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { lookup } from "mrmime";
import * as v from "valibot";
import { unknownWord } from "../base/nearest.ts";
import {
  anyTableSchema,
  booleanSchema,
  describeMistake,
  integerSchema,
  isTable,
  oneOfSchema,
  parseValue,
  tableSchema,
  textSchema,
  type ReportMistake,
} from "../base/schema.ts";
import { NotFoundError, UserError } from "../base/user-error.ts";
import { readJsonFile, shownPath } from "../config/config-file.ts";
import { acceptZoneName } from "../dns/rules/zone.ts";
import { zoneFileText } from "../dns/zone-file/parse.ts";
import { httpMetadataFields } from "../store/core/metadata.ts";
import { findResource, type BoundResource, type ResourceKind } from "./bound-resources.ts";
import { readMigrations, readSqlFile, type SqlFile } from "./sql-files.ts";

/** What a script would give to the `put()` of a bucket or a namespace. */
interface SeedPut {
  readonly target: BoundResource;
  /** The file that says so. */
  readonly path: string;
  readonly key: string;
  /** `null`: the content of the file. */
  readonly value: string | Uint8Array | null;
  readonly options: object;
}

export interface SeedZone {
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

export interface Seed {
  readonly puts: readonly SeedPut[];
  readonly sql: readonly SqlFile[];
  readonly zones: readonly SeedZone[];
}

const ignoredNames = new Set([".DS_Store", ".gitkeep"]);

/** The files of a folder with their paths below it, with `/`, in the order of the paths. */
export function listSeedFiles(folder: string): string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new NotFoundError(
      `There is no folder ${shownPath(folder)} with a seed: make the folder, or name another (state.seed of the ` +
        "configuration file, --seed).",
    );
  }
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => !ignoredNames.has(basename(name)) && statSync(join(folder, name)).isFile())
    .map((name) => name.replaceAll("\\", "/"))
    .toSorted();
}

/** @throws UserError with all mistakes, each with its file, and its line where there is one */
export function readSeed(folder: string, resources: readonly BoundResource[]): Seed {
  const reader = new SeedReader(folder, resources);
  for (const name of listSeedFiles(folder)) reader.read(name);
  return reader.finish();
}

const text = v.string("must be text");
const date = textSchema((given) => {
  const time = new Date(given);
  return Number.isNaN(time.getTime()) ? null : time;
}, "must be a date, such as 2030-01-01");
const httpMetadata = tableSchema({
  ...Object.fromEntries(httpMetadataFields.map((field) => [field, v.optional(text)])),
  cacheExpiry: v.optional(date),
});
const manifestEntry = tableSchema({
  key: v.optional(text),
  httpMetadata: v.optional(httpMetadata, {}),
  customMetadata: v.optional(v.pipe(anyTableSchema, v.record(v.string(), text))),
  storageClass: v.optional(oneOfSchema(["Standard", "InfrequentAccess"])),
});
type ManifestEntry = v.InferOutput<typeof manifestEntry>;

const seconds = v.optional(integerSchema(1, Number.MAX_SAFE_INTEGER));
/** With the names of fields that wrangler has in a list. */
const valueEntry = tableSchema(
  {
    key: text,
    value: v.unknown(),
    metadata: v.optional(v.unknown()),
    base64: v.optional(booleanSchema),
    expiration: seconds,
    expirationTtl: seconds,
    expiration_ttl: seconds,
  },
  { key: "settings", value: "text" },
);

const forms: Readonly<Record<string, string>> = {
  buckets: "use buckets/BUCKET/KEY for objects, and buckets/BUCKET.json for their metadata",
  zones: "use zones/ZONE.zone",
  d1: "use d1/DATABASE.sql or d1/DATABASE/NAME.sql",
  kv: "use kv/NAMESPACE.json",
};

class SeedReader {
  readonly #folder: string;
  readonly #resources: readonly BoundResource[];
  readonly #mistakes = new Set<string>();
  /** By the folder that they describe. A manifest comes before its folder in the order of the names. */
  readonly #manifests = new Map<string, ReadonlyMap<string, ManifestEntry>>();
  readonly #seed: { puts: SeedPut[]; sql: SqlFile[]; zones: SeedZone[] };

  constructor(folder: string, resources: readonly BoundResource[]) {
    this.#folder = folder;
    this.#resources = resources;
    this.#seed = { puts: [], sql: resources.flatMap(readMigrations), zones: [] };
  }

  /** @param name the path of a file below the folder */
  read(name: string): void {
    const [kind = "", first, ...rest] = name.split("/");
    // A file beside the folders, such as a README.
    if (first === undefined) return;
    const path = join(this.#folder, name);
    const stem = first.replace(/\.[^.]+$/, "");
    const isBelow = rest.length > 0;
    if (kind === "buckets" && isBelow) {
      const target = this.#find(kind, first, `buckets/${first}`);
      if (target !== null) this.#addObject(target, path, first, rest.join("/"));
    } else if (kind === "buckets" && first.endsWith(".json")) {
      if (this.#find(kind, stem, name) !== null) this.#readManifest(path, stem);
    } else if (kind === "zones" && !isBelow && first.endsWith(".zone")) {
      this.#addZone(path, name, stem);
    } else if (kind === "d1" && name.endsWith(".sql")) {
      const target = this.#find(kind, isBelow ? first : stem, isBelow ? `d1/${first}` : name);
      if (target !== null) this.#seed.sql.push(readSqlFile(target, path));
    } else if (kind === "kv" && !isBelow && first.endsWith(".json")) {
      const target = this.#find(kind, stem, name);
      if (target !== null) this.#addValues(target, path);
    } else if (Object.hasOwn(forms, kind)) {
      this.#report(name, `This file is not part of a seed: ${forms[kind]}.`);
    } else {
      this.#report(kind, unknownWord("folder of a seed", kind, Object.keys(forms)));
    }
  }

  /** @throws UserError with all mistakes */
  finish(): Seed {
    if (this.#mistakes.size > 0) throw new UserError([...this.#mistakes].join("\n"));
    return this.#seed;
  }

  #report(name: string, problem: string): void {
    this.#mistakes.add(`${shownPath(join(this.#folder, name))}: ${problem}`);
  }

  #find(kind: ResourceKind, word: string, name: string): BoundResource | null {
    const found = findResource(this.#resources, kind, word);
    if (typeof found !== "string") return found;
    this.#report(name, found);
    return null;
  }

  #addObject(target: BoundResource, path: string, folder: string, name: string): void {
    const entry: Partial<ManifestEntry> = this.#manifests.get(folder)?.get(name) ?? {};
    const { key = name, ...given } = entry;
    const contentType = lookup(name);
    const http = { ...(contentType !== undefined && { contentType }), ...given.httpMetadata };
    const options = { ...given, httpMetadata: http };
    this.#seed.puts.push({ target, path, key, value: null, options });
  }

  #readManifest(path: string, folder: string): void {
    const manifest = new Map<string, ManifestEntry>();
    this.#manifests.set(folder, manifest);
    this.#readEntries(path, (name, given, report) => {
      const entry = parseValue(manifestEntry, given, [name], report);
      if (entry !== null) manifest.set(String(name), entry);
      const file = join(this.#folder, "buckets", folder, String(name));
      if (!existsSync(file)) report([name], `has no file ${shownPath(file)}`);
    });
  }

  #addZone(path: string, file: string, stem: string): void {
    const content = zoneFileText(readFileSync(path));
    const [, origin] = /^\$ORIGIN\s+(\S+)/im.exec(content) ?? [];
    const name = acceptZoneName(stem, () => {}) ?? acceptZoneName(origin ?? "", () => {});
    if (name !== undefined) this.#seed.zones.push({ name, path, text: content });
    else this.#report(file, "Name the file as its zone, as in zones/example.com.zone.");
  }

  #addValues(target: BoundResource, path: string): void {
    this.#readEntries(path, (place, given, report) => {
      const entry = typeof given === "string" ? { value: given } : given;
      if (!isTable(entry)) return report([place], 'must be text, or { "value": … }');
      const named = typeof place === "string" ? { key: place, ...entry } : entry;
      const parsed = parseValue(valueEntry, named, [place], report);
      if (parsed === null) return;
      const { key, value: json, base64 = false, metadata, expiration, expiration_ttl } = parsed;
      const content = typeof json === "string" ? json : JSON.stringify(json);
      const value = base64 ? Buffer.from(content, "base64") : content;
      const { expirationTtl = expiration_ttl } = parsed;
      const options = { metadata, expiration, expirationTtl };
      this.#seed.puts.push({ target, path, key, value, options });
    });
  }

  /** The entries of a table or a list in a file of JSON. */
  #readEntries(
    path: string,
    read: (place: string | number, given: unknown, report: ReportMistake) => void,
  ): void {
    try {
      const { value, locate } = readJsonFile(path);
      if (typeof value !== "object" || value === null) {
        throw new UserError(`${shownPath(path)} must hold an object.`);
      }
      const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
      for (const [place, given] of entries) {
        read(place, given, (where, problem) => {
          const { line, column } = locate(where);
          const mistake = describeMistake({ path: where, problem });
          this.#mistakes.add(`${shownPath(path)}:${line}:${column}: ${mistake}`);
        });
      }
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.#mistakes.add(error.message);
    }
  }
}
