/** The saved states of a folder: save, find, list, delete. `capture.ts` says how the state is taken. */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { packageVersion } from "../base/package-version.ts";
import { NotFoundError, UserError } from "../base/user-error.ts";
import { explain, persistPath, savedFolder } from "../state/folder.ts";
import { Capture } from "./capture.ts";
import { lockSaved, whileFrozen } from "./journal.ts";
import {
  existingText,
  manifestFormat,
  passingName,
  poolFolder,
  removeLeft,
  removeState,
  requireStateName,
  SavedRecord,
  stateNames,
  type SavedState,
} from "./saved-record.ts";

export interface SaveOptions {
  /** Whether a state of the name may exist, which is replaced. */
  readonly replace?: boolean;
  readonly isAutomatic?: boolean;
  /** Another state folder, which no process uses: its state is saved here. */
  readonly from?: string;
}

export class SavedStates {
  readonly #folder: string;

  /** @param stateFolder `.wrangler/state` */
  constructor(stateFolder: string) {
    this.#folder = stateFolder;
  }

  /** The newest first. A state that cannot be read is not in the list; `find` says why. */
  list(): SavedState[] {
    return readableStates(this.#folder)
      .map(({ summary }) => summary)
      .toSorted((one, other) => (one.savedAt < other.savedAt ? 1 : -1));
  }

  /**
   * @throws NotFoundError when there is no such state; names those that there are
   * @throws UserError when this version cannot read the state
   */
  find(name: string): SavedRecord {
    requireStateName(name);
    return SavedRecord.read(this.#folder, name);
  }

  async save(name: string, options: SaveOptions = {}): Promise<SavedState> {
    const { replace = false, isAutomatic = false, from } = options;
    requireStateName(name);
    const unlock = await lockSaved(this.#folder, `saves the state "${name}"`);
    try {
      if (!replace && stateNames(this.#folder).includes(name)) {
        throw new UserError(
          `There is a saved state "${name}" already: save under another name, or replace it (--replace).`,
        );
      }
      const taking = new Taking(this.#folder, name, from);
      await taking.take();
      return taking.keep(isAutomatic).summary;
    } finally {
      unlock();
    }
  }

  async delete(name: string): Promise<void> {
    requireStateName(name);
    const unlock = await lockSaved(this.#folder, `deletes the state "${name}"`);
    try {
      if (!stateNames(this.#folder).includes(name)) {
        throw new NotFoundError(`There is no saved state "${name}".${existingText(this.#folder)}`);
      }
      removeState(this.#folder, name);
      removeLeft(this.#folder, true);
    } finally {
      unlock();
    }
  }

  /** What is there now, as a state that no list shows, until `end()`. For `diff` and `export`. */
  async captureNow(): Promise<{ readonly record: SavedRecord; end(): void }> {
    const unlock = await lockSaved(this.#folder, "reads the state");
    const end = (): void => {
      removeLeft(this.#folder, true);
      unlock();
    };
    try {
      const taking = new Taking(this.#folder, passingName);
      await taking.take();
      return { record: taking.keep(true), end };
    } catch (error) {
      end();
      throw error;
    }
  }
}

export function readableStates(stateFolder: string): SavedRecord[] {
  return stateNames(stateFolder).flatMap((name) => {
    try {
      return SavedRecord.read(stateFolder, name);
    } catch (error) {
      if (error instanceof UserError) return [];
      throw error;
    }
  });
}

/** The way from the files in use to a saved state. The caller has the lock. */
export class Taking {
  readonly #folder: string;
  readonly #name: string;
  readonly #from: string | undefined;
  readonly #files = randomBytes(4).toString("hex");
  readonly #capture: Capture;
  readonly #savedAt = new Date();

  constructor(stateFolder: string, name: string, from?: string) {
    this.#folder = stateFolder;
    this.#name = name;
    this.#from = from;
    const target = join(savedFolder(stateFolder), name, this.#files);
    mkdirSync(poolFolder(stateFolder), { recursive: true, mode: 0o700 });
    const persist = persistPath(from ?? stateFolder);
    this.#capture = new Capture(stateFolder, persist, target, readableStates(stateFolder));
  }

  /** While runtimes run. */
  prepare(): void {
    this.#try(() => this.#capture.prepare());
  }

  /** While no process writes. */
  takeFrozen(): void {
    this.#try(() => this.#capture.take());
  }

  /** Freezes the runtimes of the folder for a moment. */
  async take(): Promise<void> {
    this.prepare();
    if (this.#from !== undefined) return this.takeFrozen();
    try {
      await whileFrozen(this.#folder, () => this.#capture.take());
    } catch (error) {
      throw this.#discard(error);
    }
  }

  keep(isAutomatic: boolean): SavedRecord {
    return this.#try(() => {
      const record = SavedRecord.write(this.#folder, {
        format: manifestFormat,
        name: this.#name,
        savedAt: this.#savedAt.toISOString(),
        isAutomatic,
        ledge: packageVersion(),
        files: this.#files,
        ...this.#capture.finish(),
      });
      // Of a state that was replaced. `end()` removes what is there now.
      if (this.#name !== passingName) removeLeft(this.#folder, false);
      return record;
    });
  }

  /** Instead of `keep()`. */
  discard(): void {
    this.#capture.discard();
    removeLeft(this.#folder, false);
  }

  #try<Result>(act: () => Result): Result {
    try {
      return act();
    } catch (error) {
      throw this.#discard(error);
    }
  }

  #discard(error: unknown): unknown {
    this.discard();
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOSPC" && code !== "EDQUOT") return explain(error, this.#folder);
    return new UserError(
      `No space left on the device that holds ${savedFolder(this.#folder)}: the state "${this.#name}" was ` +
        'not saved, and nothing else has changed. Free space, or delete saved states ("ledge state delete").',
    );
  }
}
