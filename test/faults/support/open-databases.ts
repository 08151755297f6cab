/**
 * The invariant of ownership, seen from outside: at most one process has a database of a folder
 * open. The databases of the store and of DNS count. Miniflare's own databases (its cache, its
 * traces) are open in every runtime, and a lock file is no database of a bucket or a zone.
 */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  markOf,
  markVariable,
  openFiles,
  readProcess,
  readProcesses,
  readProcessIds,
  type ProcessEntry,
} from "../../support/processes.ts";
import { isLong } from "./seed.ts";

// Runtimes that the test's own process starts carry a mark, too.
process.env[markVariable] ??= "test";

/** A sample reads the open files of every process of the test, which takes some milliseconds. */
const sampleMilliseconds = isLong ? 30 : 100;
/** Between fork and exec a process has the environment of its parent. */
const settledSamples = isLong ? 20 : 6;

/** @param persistPath the folder of Miniflare: `.wrangler/state/v3` */
function databaseFolders(persistPath: string): string[] {
  return [join(persistPath, "store", "databases"), join(persistPath, "dns", "do")].map(
    (folder) => `${folder}/`,
  );
}

/** The paths of the databases that a process has open. */
function openDatabases(processId: number): string[] {
  // The owner has the folder itself open, too, before it opens a database.
  return openFiles(processId).filter((path) => /\.sqlite(-wal|-shm)?$/.test(path));
}

function hasDatabaseOpen(processId: number, folders: readonly string[]): boolean {
  return openDatabases(processId).some((path) => folders.some((each) => path.startsWith(each)));
}

/** The processes that have a database of one of the two kinds open. */
export function databaseOwners(persistPath: string, kind: "store" | "dns"): ProcessEntry[] {
  const folders = databaseFolders(persistPath).filter((folder) => folder.includes(`/${kind}/`));
  return readProcesses().filter(({ processId }) => hasDatabaseOpen(processId, folders));
}

/** Samples the owners of a folder's databases until the end of the test. */
export class OwnerMonitor {
  readonly #folders: readonly string[];
  readonly #violations: string[] = [];
  readonly #timer: NodeJS.Timeout;
  /** By process id: whether the process carries a mark, and since how many samples it is known. */
  #known = new Map<number, { readonly isMarked: boolean; readonly samples: number }>();

  constructor(persistPath: string) {
    this.#folders = databaseFolders(persistPath);
    this.#timer = setInterval(() => this.#sample(), sampleMilliseconds);
    onTestFinished(() => clearInterval(this.#timer));
  }

  /** Ends the sampling. @returns a line for each time at which two processes had a database open */
  end(): readonly string[] {
    this.#sample();
    clearInterval(this.#timer);
    return this.#violations;
  }

  #sample(): void {
    const processes = this.#markedProcesses().map((processId) => ({
      processId,
      databases: openDatabases(processId),
    }));
    for (const folder of this.#folders) {
      const open = processes.filter(({ databases }) =>
        databases.some((path) => path.startsWith(folder)),
      );
      if (open.length < 2) continue;
      // The scan takes time: the first process may have ended before the last opened a database.
      const still = open
        .map(({ processId }) => processId)
        .filter((processId) => hasDatabaseOpen(processId, [folder]));
      if (still.length < 2) continue;
      const names = still.map((processId) => `${processId} (${readProcess(processId)?.state})`);
      this.#violations.push(`Processes ${names.join(", ")} have databases in ${folder} open.`);
    }
  }

  /** Only a process that a test has started can have the folder open, and it carries a mark. */
  #markedProcesses(): number[] {
    const known = new Map<number, { isMarked: boolean; samples: number }>();
    for (const processId of readProcessIds()) {
      const last = this.#known.get(processId);
      const isSettled = last !== undefined && (last.isMarked || last.samples >= settledSamples);
      const isMarked = isSettled ? last.isMarked : markOf(processId) !== null;
      known.set(processId, { isMarked, samples: (last?.samples ?? 0) + 1 });
    }
    this.#known = known;
    return Array.from(known)
      .filter(([, { isMarked }]) => isMarked)
      .map(([processId]) => processId);
  }
}
