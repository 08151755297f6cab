/**
 * Which runtime owns the store in a folder (`state/owner.ts` says what an owner is).
 *
 * The first runtime is the owner: it has the databases, and it listens at the folder's endpoint
 * (`store/bucket/endpoint.ts`). The buckets of every other runtime are clients of the owner's buckets; all
 * runtimes read and write content files themselves. When the owner ends, the process of a client
 * starts a runtime without a script, which is the next owner (`state/succession.ts`).
 */
import { join } from "node:path";
import { claimFolder } from "../../state/succession.ts";
import { FolderOwner, readOwnerRecord } from "../../state/owner.ts";
import { hasRuntimeSockets, socketPath } from "../../state/sockets.ts";
import { RunRecords } from "../../state/runs.ts";
import { removeDeletedBuckets } from "./store-files.ts";
import { requireUsableFolder, storeNeeds } from "../../state/folder.ts";
import { UserError } from "../../base/user-error.ts";

export function storeRuns(folder: string): RunRecords {
  return new RunRecords(join(folder, "runs"));
}

/** The socket at which the owner answers. */
export function endpointPath(folder: string): string {
  return socketPath(folder, "endpoint");
}

/** Makes this process the owner. Returns `null` when the store has an owner. */
export async function takeStore(
  folder: string,
  options: { readonly isBrief: boolean; readonly onHandover?: () => void },
): Promise<FolderOwner | null> {
  const runs = storeRuns(folder);
  // A client that was killed has left its runtime, whose script goes on.
  const onClientEnd = (): void => void runs.afterClientEnd().catch(() => {});
  const take = () => FolderOwner.tryTake(folder, { ...options, onClientEnd });
  const owner = await take().catch((error: unknown) => {
    // The lock needs space, which the reserve has on a full device.
    if (!requireUsableFolder(folder, storeNeeds).isFull) throw error;
    return take();
  });
  if (owner === null) return null;
  try {
    await runs.endAbandoned();
    removeDeletedBuckets(folder);
    return owner;
  } catch (error) {
    owner.release();
    throw error;
  }
}

/** Ends the runtimes that an owner has left, if the owner was killed. */
export async function endLeftRuntimes(folder: string): Promise<void> {
  if (readOwnerRecord(folder) === null) return;
  const owner = await takeStore(folder, { isBrief: true });
  owner?.release();
}

/**
 * Makes the process of a runtime the owner, after a brief owner has given the store up. Returns
 * `null` when another runtime owns the store.
 */
export async function claimStore(folder: string): Promise<FolderOwner | null> {
  const owner = await claimFolder(folder, () => takeStore(folder, { isBrief: false }));
  if (owner === null && !hasRuntimeSockets) throw sharingError(folder);
  return owner;
}

/** On Windows a runtime cannot listen where other processes would find it. */
function sharingError(folder: string): UserError {
  return new UserError(
    `Process ${readOwnerRecord(folder)?.processId} uses the store in ${folder}. On Windows one process at a time can use a ` +
      "store: stop that process, or use the Windows Subsystem for Linux.",
  );
}
