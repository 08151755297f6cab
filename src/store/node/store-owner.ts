/**
 * Which runtime owns the store in a folder.
 *
 * The first runtime is the owner: it has the databases, and an endpoint for other processes
 * (`store/endpoint`). The buckets of every other runtime are clients of the owner's buckets; all
 * runtimes read and write content files themselves (`base/folder-owner.ts` says why).
 *
 * The runtime of a command is an owner that hands over: a runtime that starts later asks the
 * command to stop its runtime, becomes the owner, and the command continues as its client.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { endOrphanedRuntime, withFolderLock } from "../../base/folder-owner.ts";
import { isAlive } from "../../base/processes.ts";
import {
  isSameMiniflare,
  RunRecords,
  staleRuns,
  type FoundRun,
  type RunRecord,
} from "../../base/run-records.ts";
import { UserError } from "../../base/user-error.ts";

/** A port on the loopback interface, and the secret that its server requires. */
export interface EndpointAddress {
  readonly port: number;
  readonly secret: string;
}

interface StoreRun extends RunRecord {
  /** Of the owner. A run without an endpoint is a client. */
  readonly endpoint?: EndpointAddress;
  /** Where a command accepts the request to hand over. */
  readonly handover?: EndpointAddress;
}

interface StoreOwner extends StoreRun {
  readonly runId: string;
}

interface StoreClaim {
  readonly runId: string;
  /** The store's folder. */
  readonly folder: string;
  readonly record: StoreRun;
  /** Reserves an endpoint, for the case that the runtime becomes the owner. */
  readonly reserveEndpoint: () => Promise<EndpointAddress>;
}

interface StoreOwnership {
  /** `null` when the runtime is the owner itself. */
  readonly owner: StoreOwner | null;
  /** Runs whose records can be removed. */
  readonly stale: readonly FoundRun<StoreRun>[];
}

const pollMilliseconds = 20;
const answerMilliseconds = 1000;
/** A command first ends the transfer that it is in. */
const handoverMilliseconds = 30_000;

export function storeRuns(folder: string): RunRecords<StoreRun> {
  return new RunRecords(join(folder, "runs"));
}

export async function findStoreOwner(folder: string): Promise<StoreOwner | null> {
  return ownerAmong(await storeRuns(folder).find());
}

/**
 * Makes the runtime the owner of the store, or else a client of the owner.
 *
 * @throws UserError for a command's runtime when the store has an owner: the command can use that
 */
export async function claimStore(claim: StoreClaim): Promise<StoreOwnership> {
  for (;;) {
    const ownership = await withFolderLock(claim.folder, () => claimOnce(claim));
    const { owner } = ownership;
    if (owner !== null && claim.record.handover !== undefined) {
      throw new UserError("Another runtime owns the store.");
    }
    if (owner?.handover === undefined) return ownership;
    await requestHandover(owner, owner.handover, claim.folder);
  }
}

async function claimOnce(claim: StoreClaim): Promise<StoreOwnership> {
  const { runId, folder, record, reserveEndpoint } = claim;
  const runs = storeRuns(folder);
  // To ask for the active runs takes as long as to reserve a port.
  const [found, endpoint] = await Promise.all([runs.find(), reserveEndpoint()]);
  await Promise.all(found.map((run) => endOrphan(run)));
  const owner = ownerAmong(found.filter((run) => !isSameMiniflare(run.record, record)));
  if (owner === null) runs.write(runId, { ...record, endpoint });
  // A client has a record too, because it writes content files.
  else if (owner.handover === undefined) runs.write(runId, record);
  return { owner, stale: staleRuns(found, record) };
}

function ownerAmong(runs: readonly FoundRun<StoreRun>[]): StoreOwner | null {
  const run = runs.find(({ record, isActive }) => isActive && record?.endpoint !== undefined);
  return run?.record ? { ...run.record, runId: run.runId } : null;
}

/**
 * Ends the workerd that a dead owner has left. Another workerd may have got the process id since,
 * so the one that is ended must answer to the secret of the owner.
 */
async function endOrphan({ record }: FoundRun<StoreRun>): Promise<void> {
  if (record?.endpoint === undefined || record.runtimeProcessId === undefined) return;
  if (isAlive(record) || !isAlive({ processId: record.runtimeProcessId })) return;
  if (await request("GET", record.endpoint, answerMilliseconds)) await endOrphanedRuntime(record);
}

/** Asks a command to give up the store, and waits until its run has ended. */
async function requestHandover(
  { runId, processId }: StoreOwner,
  handover: EndpointAddress,
  folder: string,
): Promise<void> {
  // A request that fails is no error: the command may have ended, which serves as well.
  await request("POST", handover, handoverMilliseconds);
  const deadline = Date.now() + handoverMilliseconds;
  while ((await storeRuns(folder).findActiveIds()).includes(runId)) {
    if (Date.now() > deadline) {
      throw new UserError(
        `A "ledge store" command (process ${processId}) is using the store in ${folder}, and ` +
          "does not release it. Wait until the command ends, or stop it.",
      );
    }
    await delay(pollMilliseconds);
  }
}

/** @returns whether the server accepts the request */
async function request(
  method: "GET" | "POST",
  { port, secret }: EndpointAddress,
  timeoutMilliseconds: number,
): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method,
      headers: { authorization: `Bearer ${secret}` },
      signal: AbortSignal.timeout(timeoutMilliseconds),
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
