/**
 * A runtime without a script, only with the store and its endpoint. A process starts it when the
 * process has become the owner of the store and has no runtime that could open the databases.
 */
import { join } from "node:path";
import type { FolderOwner } from "../../state/owner.ts";
import { publishSocket, socketPath } from "../../state/sockets.ts";
import { OwnRuntime } from "../../state/own-runtime.ts";
import { newRunId, type RunRecords } from "../../state/runs.ts";
import { fullDeviceText, requireUsableFolder, storeNeeds } from "../../state/folder.ts";
import {
  bucketsService,
  diskServices,
  endpointEntrypoint,
  ownerService,
  runBindings,
} from "./bucket-services.ts";
import { removePartialFiles } from "./store-files.ts";
import { endpointPath, storeRuns } from "./store-owner.ts";

export class TemporaryRuntime {
  readonly #runtime: OwnRuntime;
  readonly #runs: RunRecords;
  readonly #runId: string;

  private constructor(runtime: OwnRuntime, runs: RunRecords, runId: string) {
    this.#runtime = runtime;
    this.#runs = runs;
    this.#runId = runId;
  }

  static async start(owner: FolderOwner): Promise<TemporaryRuntime> {
    const { folder } = owner;
    const { isFull } = requireUsableFolder(folder, storeNeeds);
    if (isFull) console.warn(fullDeviceText(folder));
    const runId = newRunId();
    const runs = storeRuns(folder);
    const socket = socketPath(folder, runId);
    runs.write(runId);
    try {
      const runtime = await OwnRuntime.start({
        folder,
        config: {
          services: [
            ...diskServices(folder),
            ownerService(runBindings({ folder, runId, bucketNames: [], isFull })),
          ],
          sockets: [
            {
              name: "endpoint",
              path: socket,
              service: { name: bucketsService, entrypoint: endpointEntrypoint },
            },
          ],
        },
        onStart(process) {
          runs.write(runId, process);
          owner.recordRuntime(process);
        },
        onListen: () => publishSocket(socket, endpointPath(folder)),
        // The messages of the buckets' housekeeping are for dev servers.
        onOutput() {},
      });
      // In the background: no call depends on the outcome.
      void removePartialFiles(join(folder, "blobs"), join(folder, "runs"));
      return new TemporaryRuntime(runtime, runs, runId);
    } catch (error) {
      runs.remove(runId);
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.#runtime.stop();
    this.#runs.remove(this.#runId);
  }
}
