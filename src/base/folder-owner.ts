/**
 * Whose the databases of a persist folder are.
 *
 * SQLite would let two runtimes open the same database, but a bucket object holds things in memory
 * (the last id of a value, the next deadline), and workerd does not wait for locks: one of the two
 * fails at random, at the latest when both start at once (`docs/decisions/0009-one-owner.md`). So of
 * the runtimes on a folder one is the *host*, and the others are its *guests*: their buckets ask
 * the host's, through its endpoint. Files they write and read themselves.
 *
 * A command that had to start a runtime of its own is a host that makes way: a runtime that comes
 * later asks it to, becomes the host, and the command goes on through its endpoint.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  findRunRecords,
  isSameOwner,
  outlived,
  running,
  activeRuns,
  writeRunRecord,
  type EndpointAddress,
  type FoundRunRecord,
  type Owner,
  type ActiveRun,
} from "./run-record.ts";
import { alone } from "./folder-lock.ts";
import { endOrphan } from "./orphan-runtime.ts";
import { UserError } from "./user-error.ts";

interface Claim {
  readonly runId: string;
  /** The store's folder; notes are in `runs`. */
  readonly folder: string;
  readonly owner: Owner;
  /** Where the runtime would take orders, if it is the host. */
  readonly endpoint: () => Promise<EndpointAddress>;
}

interface Claimed {
  /** The runtime that this one is a guest of, if it is not the host itself. */
  readonly host: ActiveRun | null;
  /** Notes of others, that may be taken away. */
  readonly outlived: readonly FoundRunRecord[];
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

async function claimOnce({ runId, folder, owner, endpoint }: Claim): Promise<Claimed> {
  const notes = notesOf(folder);
  // Asking who is there takes as long as getting a port.
  const [found, ownEndpoint] = await Promise.all([findRunRecords(notes), endpoint()]);
  await Promise.all(found.map((note) => endOrphan(note)));
  const host = hostAmong(running(found), owner);
  // A guest leaves a note as well: it writes files.
  if (host === null) writeRunRecord(runId, notes, { ...owner, endpoint: ownEndpoint });
  else if (host.handover === undefined) writeRunRecord(runId, notes, owner);
  return { host, outlived: outlived(found, owner) };
}

function notesOf(folder: string): string {
  return join(folder, "runs");
}

/** The runtime that the databases belong to. */
export async function findHost(notes: string): Promise<ActiveRun | null> {
  return hostAmong(await activeRuns(notes));
}

function hostAmong(runs: readonly ActiveRun[], except?: Owner): ActiveRun | null {
  const host = runs.find(
    (other) =>
      other.endpoint !== undefined && !(except !== undefined && isSameOwner(other, except)),
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
async function takeOver(host: ActiveRun, notes: string): Promise<void> {
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
  while ((await activeRuns(notes)).some(({ runId }) => runId === host.runId)) {
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
