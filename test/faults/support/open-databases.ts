/**
 * The invariant of ownership, seen from outside: at most one process has a database of a folder
 * open. The databases of the store and of DNS count. Miniflare's own databases (its cache, its
 * traces) are open in every runtime, and a lock file is no database of a bucket or a zone.
 */
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  markOf,
  markVariable,
  readProcess,
  readProcesses,
  type ProcessEntry,
} from "./process-table.ts";

// Runtimes that the test's own process starts carry a mark, too.
process.env[markVariable] ??= "test";

const sampleMilliseconds = 25;
/** A process has its final environment at the latest at this age: between fork and exec not yet. */
const settledSamples = 20;

/** @param persistPath the folder of Miniflare: `.wrangler/state/v3` */
function databaseFolders(persistPath: string): string[] {
  return [join(persistPath, "store", "databases"), join(persistPath, "dns", "do")].map(
    (folder) => `${folder}/`,
  );
}

function hasDatabaseOpen(processId: number, folders: readonly string[]): boolean {
  let names: string[];
  try {
    names = readdirSync(`/proc/${processId}/fd`);
  } catch {
    return false;
  }
  return names.some((name) => {
    try {
      const path = readlinkSync(`/proc/${processId}/fd/${name}`);
      // The owner has the folder itself open, too, before it opens a database.
      return /\.sqlite(-wal|-shm)?$/.test(path) && folders.some((each) => path.startsWith(each));
    } catch {
      return false;
    }
  });
}

/** The processes that have a database of one of the two kinds open. */
export function databaseOwners(persistPath: string, kind: "store" | "dns"): ProcessEntry[] {
  const folders = databaseFolders(persistPath).filter((folder) => folder.includes(`/${kind}/`));
  return readProcesses().filter(({ processId }) => hasDatabaseOpen(processId, folders));
}

/** Samples the owners of a folder's databases until the end of the test. */
export class OwnerMonitor {
  readonly #folderSets: readonly string[][];
  readonly #violations: string[] = [];
  /** Processes that a test has not started cannot have the folder open: they carry no mark. */
  readonly #ages = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  samples = 0;

  constructor(persistPath: string) {
    this.#folderSets = databaseFolders(persistPath).map((folder) => [folder]);
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
    this.samples++;
    const candidates = readProcesses().filter((entry) => this.#isCandidate(entry));
    for (const folders of this.#folderSets) {
      const open = candidates.filter(({ processId }) => hasDatabaseOpen(processId, folders));
      // The scan takes time: the first process may have ended before the last opened a database.
      const same = open.filter(
        ({ processId, start }) =>
          hasDatabaseOpen(processId, folders) && readProcess(processId)?.start === start,
      );
      if (open.length > 1 && same.length > 1) {
        const names = same.map(({ processId, state }) => `${processId} (${state})`).join(", ");
        this.#violations.push(`Processes ${names} have databases in ${folders[0]} open.`);
      }
    }
  }

  #isCandidate({ processId, start }: ProcessEntry): boolean {
    const id = `${processId}-${start}`;
    const age = this.#ages.get(id) ?? 0;
    if (age > settledSamples) return false;
    const candidate = markOf(processId) !== null;
    if (!candidate) this.#ages.set(id, age + 1);
    return candidate;
  }
}
