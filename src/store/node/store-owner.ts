/**
 * The owner of the store in a folder (`state/owner.ts` says what an owner is).
 *
 * The first runtime is the owner: it has the databases, and it listens at the folder's endpoint
 * (`store/bucket/endpoint.ts`). The buckets of every other runtime are clients of the owner's buckets; all
 * runtimes read and write content files themselves. When the owner ends, the process of a client
 * starts a runtime without a script, only with the store and its endpoint, which is the next owner.
 */
import { join } from "node:path";
import { claimFolder, Succession } from "../../state/succession.ts";
import { FolderOwner, nameOwner, readOwnerRecord } from "../../state/owner.ts";
import { hasRuntimeSockets, socketPath, publishSocket } from "../../state/sockets.ts";
import { beginRun, endRun, newRunId } from "../../state/runs.ts";
import { DurableFiles } from "./durable-files.ts";
import { endpointPath } from "./endpoint.ts";
import { removeDeletedBuckets, removePartialFiles } from "./store-files.ts";
import { finishRestoration } from "../../saved/journal.ts";
import {
  requireUsableFolder,
  fullDeviceText,
  stateFolderOf,
  type FolderNeeds,
} from "../../state/folder.ts";
import { UserError } from "../../base/user-error.ts";
import { reserveName } from "../../state/disk.ts";
import { OwnRuntime } from "../../state/own-runtime.ts";
import {
  bucketsService,
  diskServices,
  endpointEntrypoint,
  ownerServices,
  runBindings,
} from "./bucket-services.ts";

export const storeNeeds: FolderNeeds = {
  subfolders: ["databases", "blobs", "runs"],
  reserve: `databases/${reserveName}`,
};

/** Makes this process the owner. Returns `null` when the store has an owner. */
function takeStore(
  folder: string,
  options: { readonly isBrief: boolean; readonly onHandover?: () => void },
): Promise<FolderOwner | null> {
  const prepare = (): void => removeDeletedBuckets(folder);
  return FolderOwner.tryTake(folder, { ...options, needs: storeNeeds, prepare });
}

/**
 * Makes the process of a runtime the owner, after a brief owner has given the store up. Returns
 * `null` when another runtime owns the store.
 */
export async function claimStore(folder: string): Promise<FolderOwner | null> {
  const owner = await claimFolder(folder, () => takeStore(folder, { isBrief: false }));
  if (owner !== null || hasRuntimeSockets) return owner;
  // On Windows a runtime cannot listen where other processes would find it.
  throw new UserError(
    `${nameOwner(readOwnerRecord(folder))} uses the store in ${folder}. On Windows one process at a time can use a ` +
      "store: stop that process, or use the Windows Subsystem for Linux.",
  );
}

/** A client's readiness to become the owner. */
export function succeedStoreOwner(
  folder: string,
  beforeHandover?: () => Promise<void>,
): Succession {
  return new Succession({
    folder,
    take: (onHandover) => takeStore(folder, { isBrief: true, onHandover }),
    start: startRuntime,
    beforeHandover,
  });
}

/** Starts a runtime without a script. */
async function startRuntime(owner: FolderOwner): Promise<{ stop(): Promise<void> }> {
  const { folder } = owner;
  const { isFull } = requireUsableFolder(folder, storeNeeds);
  if (isFull) console.warn(fullDeviceText(folder));
  const runId = newRunId();
  const path = socketPath(folder, runId);
  const service = { name: bucketsService, entrypoint: endpointEntrypoint };
  const run = { folder, runId, bucketNames: [], processDurable: [], isFull };
  const files = await DurableFiles.serve(folder);
  try {
    beginRun(folder, runId);
    const runtime = await OwnRuntime.start({
      folder,
      config: {
        services: [...diskServices(folder), ...ownerServices(runBindings(run), files)],
        sockets: [{ name: "endpoint", path, service }],
      },
      beforeStart: () => finishRestoration(stateFolderOf(folder)),
      onListen: () => publishSocket(path, endpointPath(folder)),
      // The messages of the buckets' housekeeping are for dev servers.
      onOutput() {},
    });
    // In the background: no call depends on the outcome.
    void removePartialFiles(join(folder, "blobs"), join(folder, "runs"));
    return {
      async stop() {
        await runtime.stop();
        files?.close();
        endRun(folder, runId);
      },
    };
  } catch (error) {
    files?.close();
    endRun(folder, runId);
    throw error;
  }
}
