/**
 * The services behind the bindings of the store: the buckets on their databases in the runtime that
 * owns the store, or buckets that are clients of the owner (`store/node/store-owner.ts`).
 */
import { dirname, join } from "node:path";
import type { PluginServicesOptions, Service, Worker_Binding } from "miniflare";
import { callingMiniflare, type MiniflareModule } from "../../base/miniflare.ts";
import { makePrivateFolder } from "../../base/private-files.ts";
import { fullDeviceText, requireUsableFolder } from "../../state/folder.ts";
import { RunRecords } from "../../state/runs.ts";
import { hasRuntimeSockets } from "../../state/sockets.ts";
import { bucketFolder } from "../../store/core/content.ts";
import {
  bucketClass,
  bucketsModule,
  bucketsWorker,
  diskServices,
  ownerService,
  runBindings,
} from "../../store/node/bucket-services.ts";
import { endpointPath } from "../../store/node/endpoint-connection.ts";
import { removePartialFiles } from "../../store/node/store-files.ts";
import { storeNeeds } from "../../store/node/store-owner.ts";
import { closeEndpointSocket, openEndpointSocket, StoreUse } from "./store-use.ts";

/** Also the name of the store's folder below the persist path. */
export const pluginName = "store";
const ownerServiceName = "store:owner";
const projectService = "store:project";

/** The options of the control binding. */
export interface ControlOptions {
  /** The folder from which tests can fill buckets. */
  readonly project_folder?: string;
}

export interface StoreRunOptions extends ControlOptions {
  readonly runId: string;
  /** The buckets that the scripts of the run are bound to. */
  readonly bucketNames: readonly string[];
  /** Whether Node serves the buckets, too, and so needs the endpoint of a temporary folder. */
  readonly isServed: boolean;
}

export async function storeServices(
  { options: worker, sharedOptions, tmpPath, loopbackHost, loopbackPort }: PluginServicesOptions,
  run: StoreRunOptions,
): Promise<Service[]> {
  const { runId, bucketNames, project_folder: projectFolder } = run;
  const miniflare = callingMiniflare();
  const { resourcePersistencePath: givenPath } = sharedOptions;
  const folder = miniflare.getPersistPath(pluginName, tmpPath, givenPath);
  const persistPath = givenPath ?? (run.isServed ? dirname(folder) : undefined);
  const { isFull } = requireUsableFolder(folder, storeNeeds);
  if (isFull) console.warn(fullDeviceText(folder));
  const [blobs, runs] = [join(folder, "blobs"), join(folder, "runs")];
  // The command line finds buckets by their folders.
  for (const name of bucketNames) makePrivateFolder(join(blobs, bucketFolder(name)));
  // All scripts of a run use the services of the first script.
  if (lastRunIds.get(loopbackPort) === runId) return [];
  lastRunIds.set(loopbackPort, runId);
  const shared = diskServices(folder);
  const bindings = runBindings({ folder, runId, bucketNames, isFull });
  if (projectFolder !== undefined) {
    shared.push({ name: projectService, disk: { path: projectFolder } });
    bindings.push(...(await projectBindings()));
  }
  // Only this runtime uses a temporary folder.
  if (persistPath === undefined) {
    new RunRecords(folder).write(runId);
    return [...shared, ownerService(bindings)];
  }
  const use = await StoreUse.begin({ persistPath, folder }, { runId, loopbackHost, loopbackPort });
  // In the background: the runtime takes longer to start, and does not depend on the outcome.
  void removePartialFiles(blobs, runs);
  if (!use.isOwner) {
    closeEndpointSocket(worker);
    return [...shared, ...clientServices(endpointPath(folder), bindings, miniflare.kVoid)];
  }
  if (hasRuntimeSockets) openEndpointSocket(worker, folder, runId);
  return [...shared, ownerService(bindings)];
}

/** The project's folder, and the content types of its files. */
async function projectBindings(): Promise<Worker_Binding[]> {
  const { mimes } = await import("mrmime");
  return [
    { name: "project", service: { name: projectService } },
    { name: "contentTypes", json: JSON.stringify(mimes) },
  ];
}

/** The run that each Miniflare, by its loopback port, has started last. */
const lastRunIds = new Map<number, string>();

/** Buckets that are clients of the owner's, under the same names: scripts have the same bindings. */
function clientServices(
  endpoint: string,
  bindings: Worker_Binding[],
  kVoid: MiniflareModule["kVoid"],
): Service[] {
  return [
    { name: ownerServiceName, external: { address: `unix:${endpoint}`, http: {} } },
    bucketsWorker({
      modules: [{ name: "store-client.js", esModule: clientModule }, bucketsModule()],
      durableObjectNamespaces: [{ className: bucketClass, uniqueKey: "ledge-store-client" }],
      durableObjectStorage: { inMemory: kVoid },
      bindings: [{ name: "owner", service: { name: ownerServiceName } }, ...bindings],
    }),
  ];
}

const clientModule = `
export { OwnerBucket as BucketObject, ContentJoiner, StoreControl, StoreDisk } from "./store-buckets.js";
export default {};
`;
