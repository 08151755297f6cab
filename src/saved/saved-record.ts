/**
 * The files of saved states, below `saved` in the state folder:
 *
 *     NAME/state.json          the manifest, which is written last: without it, there is no such state
 *     NAME/ID/values.json      the values of the state, with their sizes, and hashes of those in `.contents`
 *     NAME/ID/N, NAME/ID/N-wal the copies of its databases, as they were, and of their logs
 *     .values/PATH             the values of all states: other names of the same files
 *     .contents/HASH           values whose path has other bytes in `.values` (`value-content.ts`)
 *     .lock, .lock.json        who saves or restores at this moment
 *     .restoring.json          the journal of a restoration (`restoration.ts`)
 *
 * A state that is saved under its name again gets another ID, so the manifest replaces the whole state at once.
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "../base/private-files.ts";
import { isTable } from "../base/schema.ts";
import { NotFoundError, UserError } from "../base/user-error.ts";
import { fileState, type FileState } from "../state/database-files.ts";
import { savedFolder } from "../state/folder.ts";
import { contentsFolder } from "./value-content.ts";

export interface SavedState {
  readonly name: string;
  /** ISO 8601. */
  readonly savedAt: string;
  /** Of all values and databases. States share what is the same on the disk. */
  readonly bytes: number;
  /** Whether a restore or a seed has made it, and not a person. */
  readonly isAutomatic: boolean;
}

export interface RecordedDatabase {
  /** Below the folder of Miniflare, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly logBytes: number;
  readonly logMark: string;
  /** The file in use when it had the same content as the copy. */
  readonly live: FileState;
}

export interface Manifest extends SavedState {
  readonly format: typeof manifestFormat;
  /** The version that has saved the state. */
  readonly ledge: string;
  readonly files: string;
  readonly databases: readonly RecordedDatabase[];
}

export const manifestFormat = 1;
const manifestName = "state.json";
export const valuesName = "values.json";
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** In `values.json`, by path: the size, and the hash of a value in `.contents`. */
export type RecordedValue = number | readonly [bytes: number, hash: string];

interface ReadValues {
  /** Of `values.json`. */
  readonly path: string;
  readonly values: ReadonlyMap<string, number>;
  readonly hashes: ReadonlyMap<string, string>;
}

/** @param stateFolder whose saved states share the values */
export function poolFolder(stateFolder: string): string {
  return join(savedFolder(stateFolder), ".values");
}

export function journalPath(stateFolder: string): string {
  return join(savedFolder(stateFolder), ".restoring.json");
}

/** The folder of a state that is removed when the command ends: what is there now, for `diff` and `export`. */
export const passingName = ".now";

/** @throws UserError */
export function requireStateName(name: string): void {
  if (namePattern.test(name)) return;
  throw new UserError(
    `"${name}" cannot be the name of a saved state: a name has up to 100 letters, digits, dots, ` +
      "underscores and hyphens, and begins with a letter or a digit.",
  );
}

/** One saved state on the disk. */
export class SavedRecord implements SavedState {
  /** The values that were read last: a server resets to the same state again and again. */
  static #last: ReadValues = { path: "", values: new Map(), hashes: new Map() };
  readonly #stateFolder: string;
  readonly #folder: string;
  #manifest: Manifest;

  private constructor(stateFolder: string, manifest: Manifest) {
    this.#stateFolder = stateFolder;
    this.#folder = join(savedFolder(stateFolder), manifest.name);
    this.#manifest = manifest;
  }

  /**
   * @throws NotFoundError when there is no such state
   * @throws UserError when this version cannot read the state
   */
  static read(stateFolder: string, name: string): SavedRecord {
    const folder = join(savedFolder(stateFolder), name);
    let text: string;
    try {
      text = readFileSync(join(folder, manifestName), "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
      throw new NotFoundError(`There is no saved state "${name}".${existingText(stateFolder)}`);
    }
    const manifest = parseManifest(name, text);
    // The folder can have been renamed by hand.
    return new SavedRecord(stateFolder, { ...manifest, name });
  }

  static write(stateFolder: string, manifest: Manifest): SavedRecord {
    const record = new SavedRecord(stateFolder, manifest);
    record.#write();
    return record;
  }

  get name(): string {
    return this.#manifest.name;
  }
  get savedAt(): string {
    return this.#manifest.savedAt;
  }
  get bytes(): number {
    return this.#manifest.bytes;
  }
  get isAutomatic(): boolean {
    return this.#manifest.isAutomatic;
  }
  get databases(): readonly RecordedDatabase[] {
    return this.#manifest.databases;
  }
  /** The folder of all saved states. */
  get parent(): string {
    return savedFolder(this.#stateFolder);
  }
  get files(): string {
    return this.#manifest.files;
  }

  /** The sizes of the values, by path below the folder of Miniflare, with `/`. */
  get values(): ReadonlyMap<string, number> {
    return this.#readValues().values;
  }

  /** The file of a value of `values`. */
  valuePath(path: string): string {
    const hash = this.#readValues().hashes.get(path);
    if (hash !== undefined) return join(contentsFolder(this.#stateFolder), hash);
    return join(poolFolder(this.#stateFolder), path);
  }

  /** The copy of a database of `databases`. */
  copyPath(path: string): string {
    const index = this.databases.findIndex((each) => each.path === path);
    return join(this.#folder, this.files, String(index));
  }

  /** The copy of the log of a database; `null` when the content of the log is in the database. */
  logPath(path: string): string | null {
    const database = this.databases.find((each) => each.path === path);
    return database === undefined || database.logBytes === 0 ? null : `${this.copyPath(path)}-wal`;
  }

  get summary(): SavedState {
    const { name, savedAt, bytes, isAutomatic } = this;
    return { name, savedAt, bytes, isAutomatic };
  }

  /**
   * The databases in use have the same content as the copies at this moment.
   *
   * @param isOther whether a database has not
   */
  recordLive(persistPath: string, isOther: (path: string) => boolean): void {
    const databases = this.databases.map((each) => {
      if (isOther(each.path)) return each;
      return { ...each, live: fileState(join(persistPath, each.path)) };
    });
    this.#manifest = { ...this.#manifest, databases };
    this.#write();
  }

  /** @throws UserError when a file of the state is missing or has another size */
  requireWhole(values: Iterable<string>): void {
    const sizes = this.values;
    for (const { path, bytes, logBytes } of this.databases) {
      this.#requireSize(this.copyPath(path), bytes);
      const log = this.logPath(path);
      if (log !== null) this.#requireSize(log, logBytes);
    }
    for (const path of values) this.#requireSize(this.valuePath(path), sizes.get(path) ?? 0);
  }

  #requireSize(path: string, bytes: number): void {
    const found = sizeIn(fileState(path));
    if (found === bytes) return;
    const problem = found === null ? "is missing" : `has ${found} bytes instead of ${bytes}`;
    throw new UserError(
      `The saved state "${this.name}" is damaged: ${path} ${problem}. Nothing was changed. Restore ` +
        `another state, and delete this one.`,
    );
  }

  #readValues(): ReadValues {
    const path = join(this.#folder, this.files, valuesName);
    if (SavedRecord.#last.path === path) return SavedRecord.#last;
    const values = new Map<string, number>();
    const hashes = new Map<string, string>();
    try {
      const table = JSON.parse(readFileSync(path, "utf8")) as Record<string, RecordedValue>;
      for (const [name, value] of Object.entries(table)) {
        const [bytes, hash] = typeof value === "number" ? [value] : value;
        values.set(name, bytes);
        if (hash !== undefined) hashes.set(name, hash);
      }
    } catch {
      throw damaged(this.name, `${path} cannot be read`);
    }
    return (SavedRecord.#last = { path, values, hashes });
  }

  #write(): void {
    writeWhole(join(this.#folder, manifestName), JSON.stringify(this.#manifest));
  }
}

function sizeIn(state: FileState): number | null {
  return state === null ? null : Number(state.split(" ")[1]);
}

function parseManifest(name: string, text: string): Manifest {
  let table: unknown;
  try {
    table = JSON.parse(text);
  } catch {
    table = null;
  }
  if (!isTable(table) || typeof table["format"] !== "number") {
    throw damaged(name, "its state.json cannot be read");
  }
  const { ledge } = table as { ledge?: string };
  if (table["format"] !== manifestFormat) {
    throw new UserError(
      `The saved state "${name}" has format ${table["format"]}, which Ledge ` +
        `${ledge ?? "of a later version"} writes. This version reads format ` +
        `${manifestFormat}: update Ledge, or save the state again.`,
    );
  }
  if (!Array.isArray(table["databases"]) || typeof table["files"] !== "string") {
    throw damaged(name, "its state.json is not complete");
  }
  return table as unknown as Manifest;
}

function damaged(name: string, problem: string): UserError {
  return new UserError(
    `The saved state "${name}" is damaged: ${problem}. Delete it, and save the state again.`,
  );
}

/** The names of all saved states, also of those that cannot be read. */
export function stateNames(stateFolder: string): string[] {
  return namesIn(savedFolder(stateFolder)).filter(
    (name) =>
      namePattern.test(name) &&
      namesIn(join(savedFolder(stateFolder), name)).includes(manifestName),
  );
}

export function existingText(stateFolder: string): string {
  const names = stateNames(stateFolder);
  if (names.length === 0) return ' None is saved: "ledge state save NAME" saves one.';
  return ` Saved are ${names.map((name) => `"${name}"`).join(", ")}.`;
}

/** Removes the manifest first: then there is no such state. */
export function removeState(stateFolder: string, name: string): void {
  const folder = join(savedFolder(stateFolder), name);
  rmSync(join(folder, manifestName), { force: true });
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Removes what a killed process has left, and the values that no state has.
 *
 * @param isThorough whether values can be left, as after a delete
 */
export function removeLeft(stateFolder: string, isThorough: boolean): void {
  const saved = savedFolder(stateFolder);
  let hasLeft = isThorough;
  const keptValues = new Set<string>();
  const keptContents = new Set<string>();
  for (const name of namesIn(saved)) {
    if (name.startsWith(".") && name !== passingName) continue;
    const folder = join(saved, name);
    const names = namesIn(folder);
    const kept =
      name !== passingName && names.includes(manifestName) ? filesOf(stateFolder, name) : [];
    if (kept === null) continue;
    const left = names.filter((each) => each !== manifestName && !kept.includes(each));
    if (kept.length > 0 && left.length === 0) continue;
    hasLeft = true;
    for (const each of left) rmSync(join(folder, each), { recursive: true, force: true });
    if (kept.length === 0) removeState(stateFolder, name);
  }
  if (!hasLeft) return;
  for (const name of stateNames(stateFolder)) {
    for (const files of namesIn(join(saved, name))) {
      if (files === manifestName) continue;
      try {
        const text = readFileSync(join(saved, name, files, valuesName), "utf8");
        for (const [path, value] of Object.entries(
          JSON.parse(text) as Record<string, RecordedValue>,
        )) {
          if (typeof value === "number") keptValues.add(path);
          else keptContents.add(value[1]);
        }
      } catch {
        // Which values a damaged state has is not known: none is removed.
        return;
      }
    }
  }
  removeOthers(poolFolder(stateFolder), keptValues);
  removeOthers(contentsFolder(stateFolder), keptContents);
}

function removeOthers(folder: string, kept: ReadonlySet<string>): void {
  for (const path of filesBelow(folder)) if (!kept.has(path)) rmSync(join(folder, path));
}

/** `null` for a manifest that cannot be read: a person decides. */
function filesOf(stateFolder: string, name: string): readonly string[] | null {
  try {
    return [SavedRecord.read(stateFolder, name).files];
  } catch {
    return null;
  }
}

/** The paths of all files below a folder, with `/`. */
export function filesBelow(folder: string, prefix = ""): string[] {
  const paths: string[] = [];
  let entries;
  try {
    entries = readdirSync(join(folder, prefix), { withFileTypes: true });
  } catch {
    return paths;
  }
  for (const entry of entries) {
    const path = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) paths.push(...filesBelow(folder, path));
    else paths.push(path);
  }
  return paths;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
