/**
 * The runs of a runtime that use a folder.
 *
 * Each run writes a record, a file named with the run's id. The record names the process, and the
 * address on which the process's Miniflare listens for workerd: a process can dispose a Miniflare
 * and live on. A run whose process is dead, or whose Miniflare does not listen, has ended; the next
 * run removes its record. What a run without a record has left half-written is garbage.
 */
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  readOwnerRecord,
  temporaryPrefix,
  writeOwnerRecord,
  type OwnerRecord,
} from "./folder-owner.ts";
import { isListening } from "./ports.ts";
import { isAlive } from "./processes.ts";

export interface RunRecord extends OwnerRecord {
  /** Of Miniflare's loopback server, which ends with Miniflare. */
  readonly host: string;
  readonly port: number;
}

export interface FoundRun<Run extends RunRecord> {
  readonly runId: string;
  /** `null` when the file is not a record. */
  readonly record: Run | null;
  readonly isActive: boolean;
}

export function newRunId(): string {
  return randomBytes(8).toString("hex");
}

export class RunRecords<Run extends RunRecord = RunRecord> {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Writes the record of a run that starts, and removes the records that it makes stale. */
  async start(runId: string, record: Run): Promise<void> {
    const found = await this.find();
    this.write(runId, record);
    await this.remove(staleRuns(found, record));
  }

  write(runId: string, record: Run): void {
    writeOwnerRecord(this.#path(runId), record);
  }

  /** Adds to the record of a run, unless the record was removed. */
  amend(runId: string, addition: Partial<Run>): void {
    const record = this.#read(runId);
    if (record !== null) this.write(runId, { ...record, ...addition });
  }

  /** All runs with a record, active or ended. */
  find(): Promise<FoundRun<Run>[]> {
    return Promise.all(
      this.#runIds().map(async (runId) => {
        const record = this.#read(runId);
        return { runId, record, isActive: record !== null && (await isRunActive(record)) };
      }),
    );
  }

  async findActiveIds(): Promise<string[]> {
    return (await this.find()).filter(({ isActive }) => isActive).map(({ runId }) => runId);
  }

  async remove(runs: readonly FoundRun<Run>[]): Promise<void> {
    await Promise.all(
      runs.map(({ runId }) => rm(this.#path(runId), { recursive: true, force: true })),
    );
  }

  /**
   * Removes the records of this process's runs that have ended. The records of other processes
   * stay: a record may name a workerd that its process has left.
   */
  async removeOwnEnded(): Promise<void> {
    const ended = (await this.find()).filter(
      ({ record, isActive }) => !isActive && (record === null || record.processId === process.pid),
    );
    await this.remove(ended);
  }

  #path(runId: string): string {
    return join(this.#folder, runId);
  }

  #runIds(): string[] {
    try {
      return readdirSync(this.#folder).filter((name) => !name.startsWith(temporaryPrefix));
    } catch {
      return [];
    }
  }

  #read(runId: string): Run | null {
    const record = readOwnerRecord<Run>(this.#path(runId));
    return typeof record?.host === "string" && typeof record.port === "number" ? record : null;
  }
}

/** The runs whose records mean nothing once the run of `record` has started. */
export function staleRuns<Run extends RunRecord>(
  found: readonly FoundRun<Run>[],
  record: RunRecord,
): FoundRun<Run>[] {
  return found.filter((run) => !run.isActive || isSameMiniflare(run.record, record));
}

/** A Miniflare that restarts its runtime starts another run. */
export function isSameMiniflare(left: RunRecord | null, right: RunRecord): boolean {
  return left?.processId === right.processId && left.port === right.port;
}

/** Another server may have got the port since. Then a run that has ended counts as active. */
async function isRunActive(record: RunRecord): Promise<boolean> {
  return isAlive(record) && (await isListening(record.host, record.port));
}
