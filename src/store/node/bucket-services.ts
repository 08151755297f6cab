/**
 * The services of workerd behind buckets on their databases: in the runtime of a script, which
 * Miniflare starts, and in a runtime without a script (`store-owner.ts`).
 */
import { join } from "node:path";
import type { Service, Worker, Worker_Binding, Worker_Module } from "miniflare";
import { scriptService } from "../../base/miniflare.ts";
import type { DurableFiles } from "./durable-files.ts";
import { hasFaultsHolder } from "./held-faults.ts";
import { ownCompatibilityDate, workerdModule } from "../../base/runtime.ts";

/** The worker of the buckets. Miniflare finds it by this name, as if it were a script. */
export const bucketsWorkerName = "ledge-store";
/** The service of the buckets and of the endpoint: a second service would be a second isolate. */
export const bucketsService = scriptService(bucketsWorkerName);
/** The entrypoint of the endpoint. Also the name of the class, which no script is likely to use. */
export const endpointEntrypoint = "LedgeStoreEndpoint";
const databasesService = "store:databases";
const blobsService = "store:blobs";
const runsService = "store:runs";
const durableFilesService = "store:durable-files";
/** The folder of the buckets' databases in `databases`. */
const databasesNamespace = "ledge-store-bucket";
export const bucketClass = "BucketObject";
const bucketNamespace = { className: bucketClass, serviceName: bucketsService };

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

interface BucketsRun {
  readonly folder: string;
  readonly runId: string;
  /** The buckets that the scripts of the run are bound to. */
  readonly bucketNames: readonly string[];
  /** The buckets whose setting is `durability = "process"`. */
  readonly processDurable: readonly string[];
  readonly isFull: boolean;
}

export function diskServices(folder: string): Service[] {
  return [
    { name: databasesService, disk: { path: join(folder, "databases"), writable: true } },
    { name: blobsService, disk: { path: join(folder, "blobs"), writable: true } },
    { name: runsService, disk: { path: join(folder, "runs") } },
  ];
}

export function runBindings(run: BucketsRun): Worker_Binding[] {
  const { folder, runId, bucketNames, processDurable, isFull } = run;
  return [
    { name: "runId", text: runId },
    { name: "place", json: JSON.stringify({ folder, namespace: databasesNamespace, isFull }) },
    { name: "bucketNames", json: JSON.stringify(bucketNames) },
    { name: "processDurable", json: JSON.stringify(processDurable) },
    { name: "awaitsFaults", json: JSON.stringify(hasFaultsHolder(folder)) },
  ];
}

/**
 * The buckets on their databases.
 *
 * @param files makes files durable; `null` where no process can, or where no state outlives the runtime
 */
export function ownerServices(
  bindings: readonly Worker_Binding[],
  files: DurableFiles | null,
): Service[] {
  const syncing =
    files === null ? [] : [{ name: "durableFiles", service: { name: durableFilesService } }];
  const buckets = bucketsWorker({
    modules: [bucketsModule()],
    durableObjectNamespaces: [
      {
        className: bucketClass,
        uniqueKey: databasesNamespace,
        enableSql: true,
        // An evicted object takes milliseconds to start again, and needs little memory.
        preventEviction: true,
      },
    ],
    durableObjectStorage: { localDisk: databasesService },
    bindings: [...bindings, joinerBinding, diskBinding, ...syncing],
  });
  if (files === null) return [buckets];
  const external = { address: `unix:${files.path}`, http: {} };
  return [buckets, { name: durableFilesService, external }];
}

export function bucketsModule(): Worker_Module {
  return { name: "store-buckets.js", esModule: workerdModule("store-bucket") };
}

export function bucketsWorker({ bindings = [], ...worker }: Worker): Service {
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
