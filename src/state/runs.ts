/**
 * The runs of a runtime that use a folder, by the owner and by its clients.
 *
 * Each run writes a record, a file named with the run's id, before it writes anything else. The
 * record names the process and its runtime. The process removes the record when the runtime has
 * ended. If the process is killed, the owner of the folder ends the runtime and removes the record.
 * What a run without a record has left half-written is garbage.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { writeWhole } from "../base/private-files.ts";
import {
  isAlive,
  killPrograms,
  markedPrograms,
  thisProcess,
  type ProcessIdentity,
} from "../base/processes.ts";

interface RunRecord extends ProcessIdentity {
  /** Once the runtime has started. */
  readonly runtime?: ProcessIdentity;
}

const runIdPattern = /^[0-9a-f]{16}$/;
/** The kernel closes the connections of a killed process before the process has ended. */
const clientEndMilliseconds = 10_000;

export function newRunId(): string {
  return randomBytes(8).toString("hex");
}

export class RunRecords {
  readonly #folder: string;

  /** @param stateFolder that the runs use */
  constructor(stateFolder: string) {
    this.#folder = join(stateFolder, "runs");
  }

  /** @param runtime once it has started */
  write(runId: string, runtime?: ProcessIdentity): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const record: RunRecord = { ...thisProcess(), ...(runtime !== undefined && { runtime }) };
    writeWhole(this.#path(runId), JSON.stringify(record));
  }

  remove(runId: string): void {
    rmSync(this.#path(runId), { force: true });
  }

  /** The runs whose process is alive. */
  activeIds(): string[] {
    return this.#runIds().filter((runId) => {
      const record = this.#read(runId);
      return record !== null && isAlive(record);
    });
  }

  #runIds(): string[] {
    try {
      return readdirSync(this.#folder).filter((name) => runIdPattern.test(name));
    } catch {
      return [];
    }
  }

  /**
   * Ends what a client has left whose connection has closed. The client may live on, and if it was
   * killed, its process may end only some time after its connection. So the records are read again,
   * at growing intervals, while a record of another process is there.
   */
  async afterClientEnd(): Promise<void> {
    const own = thisProcess().processId;
    const isForeign = (runId: string): boolean => this.#read(runId)?.processId !== own;
    for (let wait = 10, waited = 0; waited < clientEndMilliseconds; waited += wait, wait *= 2) {
      await this.endAbandoned();
      if (!this.#runIds().some(isForeign)) return;
      await delay(wait, undefined, { ref: false });
    }
  }

  /**
   * Ends the programs of processes that were killed, and removes their records. Only the owner of
   * the folder may call this.
   */
  async endAbandoned(): Promise<void> {
    const found = this.#runIds().map((runId) => ({ runId, record: this.#read(runId) }));
    const abandoned = found.filter(({ record }) => record === null || !isAlive(record));
    if (abandoned.length === 0) return;
    const records = abandoned.flatMap(({ record }) => record ?? []);
    const runtimes = records.flatMap(({ runtime }) => runtime ?? []);
    const left = await killPrograms([...runtimes, ...markedPrograms(records)]);
    for (const { runId, record } of abandoned) {
      const isLeft = left.some(({ processId }) => processId === record?.runtime?.processId);
      if (!isLeft) this.remove(runId);
    }
  }

  #path(runId: string): string {
    return join(this.#folder, runId);
  }

  /** `null` when the file does not exist, or is not a record. */
  #read(runId: string): RunRecord | null {
    try {
      const record = JSON.parse(readFileSync(this.#path(runId), "utf8")) as RunRecord | null;
      return Number.isInteger(record?.processId) ? record : null;
    } catch {
      return null;
    }
  }
}
