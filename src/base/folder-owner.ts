/**
 * Whose the databases of a persist folder are.
 *
 * SQLite would let two runtimes open the same database, but a bucket object holds things in memory
 * (the last id of a value, the next deadline), and workerd does not wait for locks: one of the two
 * fails at random, at the latest when both start at once (`docs/decisions/0009-one-host.md`). So of
 * the runtimes on a folder one is the *host*, and the others are its *guests*: their buckets ask
 * the host's, through its door. Files they write and read themselves.
 *
 * A command that had to start a runtime of its own is a host that makes way: a runtime that comes
 * later asks it to, becomes the host, and the command goes on through its door.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  findNotes,
  isSameOwner,
  outlived,
  running,
  runningBoots,
  writeNote,
  type Door,
  type FoundNote,
  type Owner,
  type RunningBoot,
} from "./run-record.ts";
import { alone } from "./folder-lock.ts";
import { endOrphan } from "./orphan-runtime.ts";
import { UserError } from "./user-error.ts";

interface Claim {
  readonly boot: string;
  /** The store's folder; notes are in `boots`. */
  readonly folder: string;
  readonly owner: Owner;
  /** Where the runtime would take orders, if it is the host. */
  readonly door: () => Promise<Door>;
}

interface Claimed {
  /** The runtime that this one is a guest of, if it is not the host itself. */
  readonly host: RunningBoot | null;
  /** Notes of others, that may be taken away. */
  readonly outlived: readonly FoundNote[];
}

/** Makes the runtime the host of the folder, or finds the host it is a guest of. */
export async function claimStore(claim: Claim): Promise<Claimed> {
  for (;;) {
    const claimed = await alone(claim.folder, () => claimOnce(claim));
    const { host } = claimed;
    if (host !== null && claim.owner.handover !== undefined) throw new HostPresentError();
    if (host?.handover === undefined) return claimed;
    await takeOver(host, notesOf(claim.folder));
  }
}

async function claimOnce({ boot, folder, owner, door }: Claim): Promise<Claimed> {
  const notes = notesOf(folder);
  // Asking who is there takes as long as getting a port.
  const [found, ownDoor] = await Promise.all([findNotes(notes), door()]);
  await Promise.all(found.map((note) => endOrphan(note)));
  const host = hostAmong(running(found), owner);
  // A guest leaves a note as well: it writes files.
  if (host === null) writeNote(boot, notes, { ...owner, door: ownDoor });
  else if (host.handover === undefined) writeNote(boot, notes, owner);
  return { host, outlived: outlived(found, owner) };
}

function notesOf(folder: string): string {
  return join(folder, "boots");
}

/** The runtime that the databases belong to. */
export async function findHost(notes: string): Promise<RunningBoot | null> {
  return hostAmong(await runningBoots(notes));
}

function hostAmong(boots: readonly RunningBoot[], except?: Owner): RunningBoot | null {
  const host = boots.find(
    (other) => other.door !== undefined && !(except !== undefined && isSameOwner(other, except)),
  );
  return host ?? null;
}

/** A command was about to be the host of a folder that has one. It can use that one. */
class HostPresentError extends UserError {
  constructor() {
    super("The store has a runtime already.");
  }
}

/** Asks a command to make way, and waits until it has. */
async function takeOver(host: RunningBoot, notes: string): Promise<void> {
  const { handover, processId } = host;
  try {
    await fetch(`http://127.0.0.1:${handover?.port}/`, {
      method: "POST",
      headers: { authorization: `Bearer ${handover?.secret}` },
      signal: AbortSignal.timeout(handoverMilliseconds),
    });
  } catch {
    // It may just have ended, which is as good.
  }
  const deadline = Date.now() + handoverMilliseconds;
  while ((await runningBoots(notes)).some(({ boot }) => boot === host.boot)) {
    if (Date.now() > deadline) {
      throw new UserError(
        `A "ledge store" command (process ${processId}) is using the store in this folder, and ` +
          "does not make way. Wait until it is done, or stop it.",
      );
    }
    await delay(pollMilliseconds);
  }
}

const pollMilliseconds = 20;
/** A command finishes what it is transferring. */
const handoverMilliseconds = 30_000;
