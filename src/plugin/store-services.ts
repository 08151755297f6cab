/**
 * The services behind the bindings of the store: the buckets on their databases in the runtime that
 * owns the store, or buckets that are clients of the owner (`store/node/store-owner.ts`).
 */
import { dirname, join } from "node:path";
import type {
  PluginServicesOptions,
  Service,
  Worker,
  Worker_Binding,
  Worker_Module,
} from "miniflare";
import { hasRuntimeSockets } from "../base/folder-sockets.ts";
import { makePrivateFolder } from "../base/private-files.ts";
import { callingMiniflare, type MiniflareModule } from "../base/miniflare.ts";
import { ownCompatibilityDate, workerdModule } from "../base/runtime.ts";
import { fullDeviceText, requireUsableFolder, storeNeeds } from "../base/usable-folder.ts";
import { bucketFolder } from "../store/core/blob-name.ts";
import { removePartialFiles } from "../store/node/partial-files.ts";
import { endpointPath, storeRuns } from "../store/node/store-owner.ts";
import { bucketsService, closeEndpointSocket, openEndpointSocket } from "./endpoint-socket.ts";
import { StoreUse } from "./store-use.ts";

/** Also the name of the store's folder below the persist path. */
export const pluginName = "store";
const databasesService = "store:databases";
const blobsService = "store:blobs";
const runsService = "store:runs";
const ownerService = "store:owner";
const projectService = "store:project";
/** The folder of the buckets' databases in `databases`. */
const databasesNamespace = "ledge-store-bucket";
const bucketNamespace = { className: "BucketObject", serviceName: bucketsService };

const joinerBinding: Worker_Binding = {
  name: "joiner",
  service: { name: bucketsService, entrypoint: "ContentJoiner" },
};

const diskBinding: Worker_Binding = {
  name: "disk",
  service: { name: bucketsService, entrypoint: "StoreDisk" },
};

/** The bindings of a bucket client (`store/client/bucket-client.ts`). */
export const clientBindings: Worker_Binding[] = [
  { name: "buckets", durableObjectNamespace: bucketNamespace },
  { name: "blobs", service: { name: blobsService } },
  joinerBinding,
  diskBinding,
];

/** The options of the control binding. */
export interface ControlOptions {
  /** The folder from which tests can fill buckets. */
  readonly project_folder?: string;
  /** Names the owner that the process has taken for this runtime (`store/node/store-owner.ts`). */
  readonly owner_token?: string;
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
  const { runId, bucketNames, project_folder: projectFolder, owner_token: ownerToken } = run;
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
  const place = { folder, namespace: databasesNamespace, isFull };
  const shared: Service[] = [
    { name: databasesService, disk: { path: join(folder, "databases"), writable: true } },
    { name: blobsService, disk: { path: blobs, writable: true } },
    { name: runsService, disk: { path: runs } },
  ];
  const bindings: Worker_Binding[] = [
    { name: "runId", text: runId },
    { name: "place", json: JSON.stringify(place) },
    { name: "bucketNames", json: JSON.stringify(bucketNames) },
  ];
  if (projectFolder !== undefined) {
    shared.push({ name: projectService, disk: { path: projectFolder } });
    bindings.push(...(await projectBindings()));
  }
  // Only this runtime uses a temporary folder.
  if (persistPath === undefined) {
    storeRuns(folder).write(runId);
    return [...shared, ...ownerServices(bindings)];
  }
  const use = await StoreUse.begin(
    { persistPath, folder },
    { runId, loopbackHost, loopbackPort, ownerToken },
  );
  // In the background: the runtime takes longer to start, and does not depend on the outcome.
  void removePartialFiles(blobs, runs);
  if (!use.isOwner) {
    closeEndpointSocket(worker);
    return [...shared, ...clientServices(endpointPath(folder), bindings, miniflare.kVoid)];
  }
  if (hasRuntimeSockets) openEndpointSocket(worker, folder, runId);
  return [...shared, ...ownerServices([...bindings, joinerBinding, diskBinding])];
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

/** The buckets on their databases. */
function ownerServices(bindings: Worker_Binding[]): Service[] {
  return [
    bucketsWorker({
      modules: [bucketsModule()],
      durableObjectNamespaces: [
        {
          className: bucketNamespace.className,
          uniqueKey: databasesNamespace,
          enableSql: true,
          // An evicted object takes milliseconds to start again, and needs little memory.
          preventEviction: true,
        },
      ],
      durableObjectStorage: { localDisk: databasesService },
      bindings,
    }),
  ];
}

/** Buckets that are clients of the owner's, under the same names: scripts have the same bindings. */
function clientServices(
  endpoint: string,
  bindings: Worker_Binding[],
  kVoid: MiniflareModule["kVoid"],
): Service[] {
  return [
    { name: ownerService, external: { address: `unix:${endpoint}`, http: {} } },
    bucketsWorker({
      modules: [{ name: "store-client.js", esModule: clientModule }, bucketsModule()],
      durableObjectNamespaces: [
        { className: bucketNamespace.className, uniqueKey: "ledge-store-client" },
      ],
      durableObjectStorage: { inMemory: kVoid },
      bindings: [{ name: "owner", service: { name: ownerService } }, ...bindings],
    }),
  ];
}

const clientModule = `
export { OwnerBucket as BucketObject, ContentJoiner, StoreControl, StoreDisk } from "./store-buckets.js";
export default {};
`;

function bucketsModule(): Worker_Module {
  return { name: "store-buckets.js", esModule: workerdModule("store-bucket") };
}

function bucketsWorker({ bindings = [], ...worker }: Worker): Service {
  return {
    name: bucketsService,
    worker: {
      compatibilityDate: ownCompatibilityDate,
      ...worker,
      bindings: [
        { name: "blobs", service: { name: blobsService } },
        { name: "databases", service: { name: databasesService } },
        { name: "buckets", durableObjectNamespace: bucketNamespace },
        { name: "runs", service: { name: runsService } },
        ...bindings,
      ],
    },
  };
}
