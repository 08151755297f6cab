/**
 * Which runs of a runtime use a persist folder.
 *
 * Each leaves a note, named after its boot, with the process that owns it and the address at which
 * that process listens for its runtime. A note whose process is gone, or does not listen any more,
 * belongs to a run that has ended, and the next one to start takes the note away. What a boot
 * without a note has left half-done may be collected (`core/blob-name.ts`).
 */
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";

export interface Owner {
  readonly processId: number;
  /** Miniflare's own server for its runtime, which ends with it. */
  readonly host: string;
  readonly port: number;
  /** Where the runtime takes orders, if the databases are its own (`claim.ts`). */
  readonly door?: Door;
  /** The runtime itself, once it has started (`orphan.ts`). */
  readonly runtimeProcessId?: number;
  /** Where its process can be asked to leave the store to a runtime that stays longer. */
  readonly handover?: Door;
}

/** A port on the loopback interface, and what opens it. */
export interface Door {
  readonly port: number;
  readonly secret: string;
}

/** A runtime that is going on. */
export interface RunningBoot extends Owner {
  readonly boot: string;
}

export function newBoot(): string {
  return randomBytes(8).toString("hex");
}

/** Leaves a note of `boot` in `notes`, and takes those away whose runs have ended. */
export async function noteBoot(boot: string, notes: string, owner: Owner): Promise<void> {
  mkdirSync(notes, { recursive: true });
  writeNote(boot, notes, owner);
  // A runtime that restarts has another boot, and the owner it had before.
  await removeNotes(
    notes,
    async (name, other) =>
      name === boot || (!isSameOwner(other, owner) && (await isRunning(other))),
  );
}

/**
 * Takes the notes away of runs of this process that have ended: who stops in good order leaves none
 * of its own. Those of other processes may lead to a runtime that they left (`orphan.ts`).
 */
export async function removeEndedNotes(notes: string): Promise<void> {
  if (!existsSync(notes)) return;
  await removeNotes(
    notes,
    async (_, owner) => owner.processId !== process.pid || (await isRunning(owner)),
  );
}

async function removeNotes(
  notes: string,
  stays: (name: string, owner: Owner) => Promise<boolean>,
): Promise<void> {
  await Promise.all(
    readdirSync(notes).map(async (name) => {
      const path = join(notes, name);
      const owner = readNote(path);
      if (owner !== null && (await stays(name, owner))) return;
      rmSync(path, { recursive: true, force: true });
    }),
  );
}

/** Adds to the note of a boot, if it is still there. */
export function amendNote(boot: string, notes: string, addition: Partial<Owner>): void {
  const owner = readNote(join(notes, boot));
  if (owner !== null) writeNote(boot, notes, { ...owner, ...addition });
}

/**
 * Whole or not at all: another process would take half a note for that of a run that never began.
 * The secret of the door is nobody else's.
 */
function writeNote(boot: string, notes: string, owner: Owner): void {
  const temporary = join(dirname(notes), `${boot}.note`);
  writeFileSync(temporary, JSON.stringify(owner), { mode: 0o600 });
  renameSync(temporary, join(notes, boot));
}

/** The runs that are going on. */
export async function runningBoots(notes: string): Promise<RunningBoot[]> {
  const boots = readNotes(notes).map(async (note) => ((await isRunning(note)) ? [note] : []));
  return (await Promise.all(boots)).flat();
}

/** All notes, of runs that have ended as well. */
export function readNotes(notes: string): RunningBoot[] {
  return noteNames(notes).flatMap((boot) => {
    const owner = readNote(join(notes, boot));
    return owner === null ? [] : [{ boot, ...owner }];
  });
}

export function isSameOwner(left: Owner, right: Owner): boolean {
  return left.processId === right.processId && left.port === right.port;
}

/** The boots that left a note. */
function noteNames(notes: string): string[] {
  try {
    return readdirSync(notes);
  } catch {
    return [];
  }
}

/** `null` for what is no note, or was cut short: its run ended before it began. */
function readNote(path: string): Owner | null {
  try {
    const note = JSON.parse(readFileSync(path, "utf8")) as Partial<Owner> | null;
    const { processId, host, port } = note ?? {};
    if (typeof processId !== "number" || typeof host !== "string" || typeof port !== "number") {
      return null;
    }
    return note as Owner;
  } catch {
    return null;
  }
}

async function isRunning({ processId, host, port }: Owner): Promise<boolean> {
  return isRunningProcess(processId) && (await listens(host, port));
}

export function isRunningProcess(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // A process of somebody else's cannot be signalled, but it is there.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Somebody else may have the port by now; then a run counts as going on that has ended. */
function listens(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const answer = (listening: boolean): void => {
      socket.destroy();
      resolve(listening);
    };
    socket.setTimeout(connectMilliseconds, () => answer(true));
    socket.once("connect", () => answer(true));
    socket.once("error", () => answer(false));
  });
}

/** On one machine a connection is made or refused at once; who is slower than this is there. */
const connectMilliseconds = 1000;
