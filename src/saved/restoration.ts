/**
 * The way from the files in use to a saved state, or to the empty state. `journal.ts` replaces the files; this says
 * what differs before, saves what is there, and writes the journal.
 *
 * What is there is saved in the same moment in which it is replaced: what is written until then can be restored.
 */
import { rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { formatBytes } from "../base/format.ts";
import { writeWhole } from "../base/private-files.ts";
import { UserError } from "../base/user-error.ts";
import { DatabaseFiles, fileState } from "../state/database-files.ts";
import { explain, persistPath, savedFolder } from "../state/folder.ts";
import { lacksAlarms } from "./alarms.ts";
import { namedValues } from "./capture.ts";
import {
  bringBack,
  hasChanged,
  lockSaved,
  missingValues,
  replaceFiles,
  type AsideJournal,
  type Journal,
} from "./journal.ts";
import {
  isAlarms,
  isBucketDatabase,
  isBucketValue,
  isDatabase,
  isDns,
  isOfStore,
  readStateFiles,
  type StateFiles,
} from "./layout.ts";
import { journalPath, removeLeft, removeState, SavedRecord, stateNames } from "./saved-record.ts";
import { readableStates, Taking } from "./saved-states.ts";

export { finishRestoration } from "./journal.ts";

const undoPrefix = "before-restore-";
const undoStatesMax = 5;
/** For the journal, the manifest and folders. */
const spareBytes = 1024 * 1024;

export class Restoration {
  readonly #folder: string;
  readonly #persist: string;
  readonly #record: SavedRecord | null;
  readonly #unlock: () => void;
  #found: StateFiles = { databases: [], values: new Set(), marks: [] };
  /** The paths of the databases that differ. */
  #differing: readonly string[] = [];
  /** `false`: nothing differs. */
  readonly isNeeded: boolean;
  #aside: readonly string[] = [];
  #changesAlarms: boolean | undefined;
  #taking: Taking | null = null;
  #undo: string | null = null;

  private constructor(stateFolder: string, record: SavedRecord | null, unlock: () => void) {
    this.#folder = stateFolder;
    this.#persist = persistPath(stateFolder);
    this.#record = record;
    this.#unlock = unlock;
    record?.requireWhole([]);
    this.isNeeded = this.#compare();
  }

  /**
   * Takes the lock of the saved states, which `end()` releases.
   *
   * @param record `null` for the empty state
   * @throws UserError when another process saves or restores, or when the saved state is damaged
   */
  static async begin(stateFolder: string, record: SavedRecord | null): Promise<Restoration> {
    const what = record === null ? "empties the state" : `restores the state "${record.name}"`;
    const unlock = await lockSaved(stateFolder, what);
    try {
      // The state can have been saved again under its name.
      const current = record && SavedRecord.read(stateFolder, record.name);
      return new Restoration(stateFolder, current, unlock);
    } catch (error) {
      unlock();
      throw error;
    }
  }

  /** Those that differ, and must be closed before `apply()`. */
  get databases(): readonly DatabaseFiles[] {
    return this.#differing.filter(isDatabase).map((path) => this.#files(path));
  }

  /** Whether an alarm must be set that a runtime does not have: it reads them at its start. */
  get changesAlarms(): boolean {
    return (this.#changesAlarms ??= this.#differing
      .filter((path) => isAlarms(path) && !isOfStore(path))
      .some((path) => {
        const saved = this.#record?.databases.some((each) => each.path === path);
        const copy = saved === true ? (this.#record?.copyPath(path) ?? null) : null;
        return (
          copy !== null && lacksAlarms(this.#files(path).path, copy, savedFolder(this.#folder))
        );
      }));
  }

  /** Of what is there, without DNS. */
  get present(): readonly DatabaseFiles[] {
    return this.#found.databases
      .filter((path) => isDatabase(path) && !isDns(path))
      .map((path) => this.#files(path));
  }

  get changesDns(): boolean {
    return this.#differing.some(isDns);
  }

  /** The state with what was there before; `null` when nothing differed, or `prepareUndo()` was not called. */
  get undo(): string | null {
    return this.#undo;
  }

  /** From now on `apply()` saves what is there. Before, while runtimes run, which takes most of the time. */
  prepareUndo(): void {
    this.#listValues();
    const time = new Date()
      .toISOString()
      .replaceAll(/[-:]|\..*/g, "")
      .replace("T", "-");
    const names = new Set(stateNames(this.#folder));
    let name = undoPrefix + time;
    for (let count = 2; names.has(name); count++) name = `${undoPrefix}${time}-${count}`;
    this.#taking = new Taking(this.#folder, name);
    this.#taking.prepare();
  }

  #saveUndo(): void {
    const taking = this.#taking;
    // Others may have written since `begin()`.
    if (taking === null || !this.#compare()) return;
    this.#taking = null;
    taking.takeFrozen();
    this.#undo = taking.keep(true).name;
    const undos = readableStates(this.#folder)
      .filter((each) => each.isAutomatic && each.name.startsWith(undoPrefix))
      .filter((each) => each.name !== this.#record?.name)
      .toSorted((one, other) => (one.savedAt < other.savedAt ? 1 : -1));
    const old = undos.slice(undoStatesMax);
    for (const each of old) removeState(this.#folder, each.name);
    if (old.length > 0) removeLeft(this.#folder, true);
  }

  #dropUndo(): void {
    if (this.#undo === null) return;
    removeState(this.#folder, this.#undo);
    removeLeft(this.#folder, true);
    this.#undo = null;
  }

  /**
   * Gives open databases other names, before a runtime that goes on running closes them. If this process is killed
   * before `bringBack()`, the next process brings them back.
   *
   * @param paths below the folder of Miniflare
   */
  setAside(paths: readonly string[]): void {
    this.#aside = [...this.#aside, ...paths];
    this.#requireSpace();
    this.#writeJournal({ aside: this.#aside });
    for (const path of paths) this.#files(path).setAside();
  }

  /** When no database is open. */
  bringBack(): void {
    bringBack(this.#folder, { aside: this.#aside });
  }

  /**
   * Saves what is there, if `prepareUndo()` was called, and replaces the files. No process has the databases open, or
   * they are frozen and are killed.
   *
   * @param keepsAlarms for a runtime that goes on running and has the alarms open: none of them differs in a way that
   *   matters (`changesAlarms`)
   */
  apply({ keepsAlarms = false }: { readonly keepsAlarms?: boolean } = {}): void {
    const name = this.#record?.name ?? null;
    let journal: Journal;
    try {
      this.#saveUndo();
      this.#listValues();
      journal = { name, removedValues: this.#replacedValues() };
      this.#requireSpace();
      this.#writeJournal(journal);
    } catch (error) {
      // Nothing was replaced.
      rmSync(journalPath(this.#folder), { force: true });
      this.#dropUndo();
      throw error;
    }
    replaceFiles(this.#folder, this.#record, journal, { keepsAlarms, found: this.#found });
  }

  /** Releases the lock. A second call does nothing. */
  end(): void {
    this.#taking?.discard();
    this.#taking = null;
    this.#unlock();
  }

  /** The values of buckets that the present rows name, and those to come do not. */
  #replacedValues(): string[] {
    const wanted = this.#record?.values;
    const extra = [...this.#found.values].filter(
      (path) => isBucketValue(path) && wanted?.has(path) !== true,
    );
    const buckets = this.#found.databases.filter(isBucketDatabase);
    const paths = buckets.map((path) => join(this.#persist, path));
    return [...namedValues(extra, paths, savedFolder(this.#folder))];
  }

  #writeJournal(journal: Journal | AsideJournal): void {
    try {
      writeWhole(journalPath(this.#folder), JSON.stringify(journal));
    } catch (error) {
      throw explain(error, this.#folder);
    }
  }

  /** A restoration that has begun must come to its end. */
  #requireSpace(): void {
    const { bavail, bsize } = statfsSync(this.#folder);
    const differing = new Set(this.#differing);
    const copied = (this.#record?.databases ?? []).filter(({ path }) => differing.has(path));
    const needed = copied.reduce((sum, { path, bytes, logBytes, live }) => {
      const isKept = fileState(this.#files(path).path) === live;
      return sum + (isKept ? 0 : bytes) + logBytes;
    }, spareBytes);
    if (needed <= bavail * bsize) return;
    throw new UserError(
      `Not enough space left on the device that holds ${this.#folder}: the restoration needs ` +
        `${formatBytes(needed)}. Nothing was changed. Free space, or delete saved states ("ledge state delete").`,
    );
  }

  /** @returns whether something differs */
  #compare(): boolean {
    this.#found = readStateFiles(this.#persist, { hasValues: false });
    const wanted = this.#record?.databases ?? [];
    const wantedPaths = new Set(wanted.map(({ path }) => path));
    this.#differing = [
      ...wanted.filter((each) => hasChanged(each, this.#files(each.path))).map(({ path }) => path),
      ...this.#found.databases.filter((path) => !wantedPaths.has(path)),
    ];
    const hasDiffering = this.#differing.some((path) => !isAlarms(path)) || this.changesAlarms;
    // A value is written and removed together with a row, so the values are listed once, when the files are replaced.
    return hasDiffering || this.#haveValuesChanged();
  }

  /** A file was removed by hand, or a process was killed between a value and its row. */
  #haveValuesChanged(): boolean {
    const missing = this.#listValues();
    const wanted = this.#record?.values;
    return (
      missing.length > 0 ||
      [...this.#found.values].some((path) => !isBucketValue(path) && wanted?.has(path) !== true)
    );
  }

  /**
   * @returns the values that are missing, or have other bytes
   * @throws UserError when the saved state lacks one of these
   */
  #listValues(): string[] {
    this.#found = readStateFiles(this.#persist);
    if (this.#record === null) return [];
    const missing = missingValues(this.#folder, this.#record, this.#found.values);
    this.#record.requireWhole(missing);
    return missing;
  }

  #files(path: string): DatabaseFiles {
    return new DatabaseFiles(join(this.#persist, path));
  }
}
