/**
 * Which runs of a runtime use a persist folder.
 *
 * Each leaves a note, named after its runId, with the process that owns it and the address at which
 * that process listens for its runtime. A note whose process is gone, or does not listen any more,
 * belongs to a run that has ended, and the next one to start takes the note away. What a runId
 * without a note has left half-done may be collected (`core/blob-name.ts`).
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";

export interface Owner {
  readonly processId: number;
  /** Miniflare's own server for its runtime, which ends with it. */
  readonly host: string;
  readonly port: number;
  /** Where the runtime takes orders, if the databases are its own (`claim.ts`). */
  readonly endpoint?: EndpointAddress;
  /** The runtime itself, once it has started (`orphan.ts`). */
  readonly runtimeProcessId?: number;
  /** Where its process can be asked to leave the store to a runtime that stays longer. */
  readonly handover?: EndpointAddress;
}

/** A port on the loopback interface, and what opens it. */
export interface EndpointAddress {
  readonly port: number;
  readonly secret: string;
}

/** A runtime that is going on. */
export interface ActiveRun extends Owner {
  readonly runId: string;
}

/** A note as it was found. */
export interface FoundRunRecord {
  readonly runId: string;
  /** `null` for what is no note, or was cut short: its run ended before it began. */
  readonly owner: Owner | null;
  readonly isRunning: boolean;
}

export function newRunId(): string {
  return randomBytes(8).toString("hex");
}

/** Leaves a note of `runId` in `notes`, and takes those away whose runs have ended. */
export async function recordRun(runId: string, notes: string, owner: Owner): Promise<void> {
  const found = await findRunRecords(notes);
  writeRunRecord(runId, notes, owner);
  await removeRunRecords(notes, outlived(found, owner));
}

/** The notes that mean nothing any more once `owner` has begun. */
export function outlived(found: readonly FoundRunRecord[], owner: Owner): FoundRunRecord[] {
  // A runtime that restarts has another runId, and the owner it had before.
  return found.filter((note) => !note.isRunning || isSameOwner(note.owner, owner));
}

/**
 * Takes the notes away of runs of this process that have ended: who stops in good order leaves none
 * of its own. Those of other processes may lead to a runtime that they left (`orphan.ts`).
 */
export async function removeEndedRunRecords(notes: string): Promise<void> {
  const ended = (await findRunRecords(notes)).filter(
    ({ owner, isRunning }) => (owner === null || owner.processId === process.pid) && !isRunning,
  );
  await removeRunRecords(notes, ended);
}

export async function removeRunRecords(
  notes: string,
  found: readonly FoundRunRecord[],
): Promise<void> {
  await Promise.all(
    found.map(({ runId }) => rm(join(notes, runId), { recursive: true, force: true })),
  );
}

/** Adds to the note of a runId, if it is still there. */
export function amendRunRecord(runId: string, notes: string, addition: Partial<Owner>): void {
  const owner = readRunRecord(join(notes, runId));
  if (owner !== null) writeRunRecord(runId, notes, { ...owner, ...addition });
}

/**
 * Whole or not at all: another process would take half a note for that of a run that never began.
 * The secret of the endpoint is nobody else's.
 */
export function writeRunRecord(runId: string, notes: string, owner: Owner): void {
  mkdirSync(notes, { recursive: true });
  const temporary = join(dirname(notes), `${runId}.note`);
  writeFileSync(temporary, JSON.stringify(owner), { mode: 0o600 });
  renameSync(temporary, join(notes, runId));
}

/** The runs that are going on. */
export async function activeRuns(notes: string): Promise<ActiveRun[]> {
  return running(await findRunRecords(notes));
}

export function running(found: readonly FoundRunRecord[]): ActiveRun[] {
  return found.flatMap(({ runId, owner, isRunning }) =>
    owner !== null && isRunning ? [{ runId, ...owner }] : [],
  );
}

/** All notes, of runs that have ended as well. */
export function findRunRecords(notes: string): Promise<FoundRunRecord[]> {
  return Promise.all(
    runRecordNames(notes).map(async (runId) => {
      const owner = readRunRecord(join(notes, runId));
      return { runId, owner, isRunning: owner !== null && (await isAlive(owner)) };
    }),
  );
}

export function isSameOwner(left: Owner | null, right: Owner): boolean {
  return left?.processId === right.processId && left.port === right.port;
}

/** The runs that left a note. */
function runRecordNames(notes: string): string[] {
  try {
    return readdirSync(notes);
  } catch {
    return [];
  }
}

function readRunRecord(path: string): Owner | null {
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

async function isAlive({ processId, host, port }: Owner): Promise<boolean> {
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
