/**
 * What a dev server starts from: the state that is there, a saved state (`from`), or a seed; in the state folder of the
 * project, or in a temporary folder that ends with the server (`ephemeral`).
 *
 * A temporary folder gets its own copy of a saved state of the project, so a reset needs nothing else.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { makePrivateFolder } from "../base/private-files.ts";
import { shownPath } from "../config/config-file.ts";
import { readConfig } from "../config/read-config.ts";
import { FolderState } from "../saved/folder-state.ts";
import { Restoration } from "../saved/restoration.ts";
import { SavedStates } from "../saved/saved-states.ts";
import { linkFile } from "../state/database-files.ts";
import { persistPath, requireWritableFolder, savedFolder, stateFolder } from "../state/folder.ts";
import { makeTemporaryFolder } from "../state/temporary-folder.ts";
import { scriptOptions, type StartDevOptions } from "./dev-options.ts";
import type { StateBase } from "./dev-state.ts";
import { projectSeed } from "./seeded-state.ts";

export interface InitialState extends Required<StateBase> {
  /** The options, with the state folder of the server. */
  readonly options: StartDevOptions;
  /** What the summary says beside the state folder: "from before-checkout, temporary". */
  readonly notes: readonly string[];
  /** Removes a temporary folder. */
  remove(): void;
}

/** What clients of a project know, and a temporary folder should not replace. */
const keptFiles = ["s3/credentials.json", "explorer/token"];

/** @throws UserError for an unknown saved state, and for a mistake in the seed */
export async function prepareState(options: StartDevOptions): Promise<InitialState> {
  const { from, seed: given, ephemeral = false, persistTo, log = console.log } = options;
  const configs = () => scriptOptions(options).map((each) => readConfig(each));
  const [{ folder: projectFolder, state }] = configs() as [ReturnType<typeof readConfig>];
  const project = stateFolder(projectFolder, persistTo);
  const givenFolder = given === undefined ? undefined : resolve(given);
  const seedFolder = givenFolder ?? state.seed;
  const temporary = ephemeral ? makeTemporaryFolder() : null;
  const folder = temporary?.path ?? project;
  const take = (name: string): void => {
    if (temporary !== null) copySavedState(name, { from: project, to: folder });
  };
  const seed = async (): Promise<string | null> => {
    const now = { configs: configs(), stateFolder: project, folder: givenFolder };
    const name = await projectSeed(now)();
    if (name !== null) take(name);
    return name;
  };
  try {
    if (temporary !== null) keepFiles(project, folder);
    if (seedFolder !== null || from !== undefined) requireWritableFolder(project);
    let name = from ?? null;
    if (from !== undefined) take(from);
    else if (given !== undefined || (seedFolder !== null && (await isEmpty(folder)))) {
      name = await seed();
    }
    if (name !== null) {
      const control = new FolderState(folder, { seed: async () => name });
      const { undo } = await ((await isEmpty(folder)) ? control.reset() : control.restore(name));
      if (undo !== null) {
        log(
          `What was in ${shownPath(folder)} is saved: "ledge state restore ${undo}" restores it.`,
        );
      }
    }
    const origin = from ?? (seedFolder === null ? null : shownPath(seedFolder));
    return {
      options: temporary === null ? options : { ...options, persistTo: folder },
      base: from ?? null,
      seed,
      notes: [
        ...(name === null || origin === null ? [] : [`from ${origin}`]),
        ...(temporary === null ? [] : ["temporary"]),
      ],
      remove: () => temporary?.remove(),
    };
  } catch (error) {
    temporary?.remove();
    throw error;
  }
}

function keepFiles(from: string, to: string): void {
  for (const name of keptFiles) {
    const path = join(persistPath(from), name);
    const copy = join(persistPath(to), name);
    if (!existsSync(path)) continue;
    makePrivateFolder(dirname(copy));
    copyFileSync(path, copy);
  }
}

async function isEmpty(folder: string): Promise<boolean> {
  const restoration = await Restoration.begin(folder, null);
  restoration.end();
  return !restoration.isNeeded;
}

/** Copies a saved state of one folder to another, where it has the same name. */
function copySavedState(name: string, { from, to }: { from: string; to: string }): void {
  const record = new SavedStates(from).find(name);
  const copy = join(savedFolder(to), name);
  if (existsSync(copy)) return;
  for (const path of record.values.keys()) {
    const value = join(savedFolder(to), relative(record.parent, record.valuePath(path)));
    mkdirSync(dirname(value), { recursive: true, mode: 0o700 });
    linkFile(record.valuePath(path), value);
  }
  cpSync(join(savedFolder(from), name), copy, { recursive: true });
}
