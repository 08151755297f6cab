/**
 * Whose the zones of a folder are.
 *
 * A zone object holds its zone in memory, and workerd does not wait for locks: two runtimes on the
 * same databases would undo each other's work. So of all processes one has the folder, and leaves
 * a note in it (`running.json`) that says who it is and how to reach it. Everybody else goes
 * through its API, or is told that it does not answer; nobody opens what is not theirs.
 *
 * The note has the owner's credentials, and is readable by nobody else. It counts for as long as
 * its process is there: one that was killed could not take it away. Its runtime may be left then,
 * with the databases open; whoever comes next ends it.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { alone } from "../../base/folder-lock.ts";
import { UserError } from "../../base/user-error.ts";
import { isSameProcess, killWorkerd, processStart } from "../../base/processes.ts";

/** How to reach the API and the listeners. */
export interface DnsAddresses {
  /** Of the API, with `/client/v4`. */
  readonly url: string;
  /** Of UDP and TCP; `null` without listeners. */
  readonly dns: { readonly host: string; readonly port: number } | null;
  readonly email: string;
  readonly key: string;
}

export interface ZonesOwnerRecord {
  readonly id: string;
  readonly processId: number;
  /** Tells the process from a later one with the same number; `null` where the system does not say. */
  readonly processStart: string | null;
  /** A command, which is soon done; others wait for its end. */
  readonly brief: boolean;
  /** workerd, once it has started. */
  readonly runtimeProcessId?: number;
  /** Once it can be reached. */
  readonly addresses?: DnsAddresses;
}

const recordFileName = "running.json";
const pollMilliseconds = 20;
/** For a command to end, and for a runtime to start. */
export const waitMilliseconds = 30_000;

/** Somebody else has the folder, and keeps it. */
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
  #note: ZonesOwnerRecord;

  private constructor(folder: string, note: ZonesOwnerRecord) {
    this.#folder = folder;
    this.#note = note;
  }

  /** Takes the folder, after waiting for a command that has it. */
  static async take(folder: string, { brief }: { brief: boolean }): Promise<ZonesOwner> {
    const note: ZonesOwnerRecord = {
      id: randomBytes(8).toString("hex"),
      processId: process.pid,
      processStart: processStart(process.pid),
      brief,
    };
    const deadline = Date.now() + waitMilliseconds;
    for (;;) {
      const owner = await alone(folder, () => takeIfFree(folder, note));
      if (owner === null) return new ZonesOwner(folder, note);
      if (!owner.brief || Date.now() > deadline) throw new ZonesTakenError(folder, owner);
      await delay(pollMilliseconds);
    }
  }

  /** Adds to the note. */
  amend(addition: Pick<ZonesOwnerRecord, "runtimeProcessId" | "addresses">): void {
    this.#note = { ...this.#note, ...addition };
    if (readRunRecord(this.#folder)?.id === this.#note.id) writeRunRecord(this.#folder, this.#note);
  }

  release(): void {
    if (readRunRecord(this.#folder)?.id !== this.#note.id) return;
    rmSync(join(this.#folder, recordFileName), { force: true });
  }
}

/** The note of whoever has the folder; `null` when nobody does. */
export function findOwner(folder: string): ZonesOwnerRecord | null {
  const note = readRunRecord(folder);
  return note !== null && isSameProcess(note.processId, note.processStart) ? note : null;
}

async function takeIfFree(
  folder: string,
  note: ZonesOwnerRecord,
): Promise<ZonesOwnerRecord | null> {
  const owner = findOwner(folder);
  if (owner !== null) return owner;
  const left = readRunRecord(folder)?.runtimeProcessId;
  if (left !== undefined) await killWorkerd(left);
  writeRunRecord(folder, note);
  return null;
}

/** `null` for what is no note: half a note cannot be, for it appears under its name when whole. */
function readRunRecord(folder: string): ZonesOwnerRecord | null {
  try {
    const note = JSON.parse(
      readFileSync(join(folder, recordFileName), "utf8"),
    ) as Partial<ZonesOwnerRecord> | null;
    return typeof note?.id === "string" && Number.isInteger(note.processId)
      ? (note as ZonesOwnerRecord)
      : null;
  } catch {
    return null;
  }
}

function writeRunRecord(folder: string, note: ZonesOwnerRecord): void {
  const path = join(folder, recordFileName);
  const temporary = `${path}.${note.id}`;
  writeFileSync(temporary, `${JSON.stringify(note)}\n`, { mode: 0o600 });
  renameSync(temporary, path);
}
