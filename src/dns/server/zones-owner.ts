/**
 * Which process owns the zones in a folder (`base/folder-owner.ts`).
 *
 * The owner writes one record, `running.json`, with the addresses of its API and listeners and the
 * credentials of the API. Every other process uses that API, or fails: no second process opens the
 * zones. A command owns the zones only until it ends, so others wait for its end.
 */
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  endOrphanedRuntime,
  readOwnerRecord,
  withFolderLock,
  writeOwnerRecord,
  type OwnerRecord,
} from "../../base/folder-owner.ts";
import { isAlive, thisProcess } from "../../base/processes.ts";
import { newRunId } from "../../base/run-records.ts";
import { pluginFolder, stateFolder } from "../../base/state-folder.ts";
import { UserError } from "../../base/user-error.ts";

export interface DnsAddresses {
  /** Of the API, with `/client/v4`. */
  readonly url: string;
  /** Of UDP and TCP; `null` without listeners. */
  readonly dns: { readonly host: string; readonly port: number } | null;
  readonly email: string;
  readonly key: string;
}

export interface ZonesOwnerRecord extends OwnerRecord {
  /** Of this ownership: a process can own the zones several times. */
  readonly id: string;
  /** Whether the owner is a command. */
  readonly brief: boolean;
  /** Once the owner answers. */
  readonly addresses?: DnsAddresses;
}

const recordFileName = "running.json";
const pollMilliseconds = 20;
/** For a command to end, and for a runtime to start. */
export const zonesWaitMilliseconds = 30_000;

/** Where the zones of a project are. `persistTo` is relative to the project's folder. */
export function zonesFolder(projectFolder: string, persistTo?: string): string {
  const given = persistTo === undefined ? undefined : resolve(projectFolder, persistTo);
  return pluginFolder(stateFolder(projectFolder, given), "dns");
}

/** Another process owns the zones, and is not a command that soon ends. */
export class ZonesTakenError extends UserError {
  readonly owner: ZonesOwnerRecord;

  constructor(folder: string, owner: ZonesOwnerRecord) {
    const at = owner.addresses === undefined ? "" : ` (its API is ${owner.addresses.url})`;
    super(
      `Process ${owner.processId} has the zones in ${folder}${at}. Stop it, or keep yours in ` +
        "another folder (persistTo, --persist-to).",
    );
    this.owner = owner;
  }
}

export class ZonesOwner {
  readonly #folder: string;
  #record: ZonesOwnerRecord;

  private constructor(folder: string, record: ZonesOwnerRecord) {
    this.#folder = folder;
    this.#record = record;
  }

  /**
   * Makes this process the owner. Waits for the end of a command that is the owner.
   *
   * @throws ZonesTakenError
   */
  static async take(folder: string, { brief }: { brief: boolean }): Promise<ZonesOwner> {
    const record: ZonesOwnerRecord = { id: newRunId(), ...thisProcess(), brief };
    const deadline = Date.now() + zonesWaitMilliseconds;
    for (;;) {
      const owner = await withFolderLock(folder, () => takeIfFree(folder, record));
      if (owner === null) return new ZonesOwner(folder, record);
      if (!owner.brief || Date.now() > deadline) throw new ZonesTakenError(folder, owner);
      await delay(pollMilliseconds);
    }
  }

  /** Adds to the record, unless another owner has replaced it. */
  amend(addition: Pick<ZonesOwnerRecord, "runtimeProcessId" | "addresses">): void {
    this.#record = { ...this.#record, ...addition };
    if (this.#isRecorded()) writeOwnerRecord(recordPath(this.#folder), this.#record);
  }

  release(): void {
    if (this.#isRecorded()) rmSync(recordPath(this.#folder), { force: true });
  }

  #isRecorded(): boolean {
    return readRecord(this.#folder)?.id === this.#record.id;
  }
}

/** `null` when no process owns the zones. */
export function findZonesOwner(folder: string): ZonesOwnerRecord | null {
  const record = readRecord(folder);
  return record !== null && isAlive(record) ? record : null;
}

/** @returns the owner, `null` when this process has become it */
async function takeIfFree(
  folder: string,
  record: ZonesOwnerRecord,
): Promise<ZonesOwnerRecord | null> {
  const last = readRecord(folder);
  if (last !== null) {
    if (isAlive(last)) return last;
    await endOrphanedRuntime(last);
  }
  writeOwnerRecord(recordPath(folder), record);
  return null;
}

function readRecord(folder: string): ZonesOwnerRecord | null {
  const record = readOwnerRecord<ZonesOwnerRecord>(recordPath(folder));
  return typeof record?.id === "string" ? record : null;
}

function recordPath(folder: string): string {
  return join(folder, recordFileName);
}
