/**
 * The services behind the bindings of the store, in the runtime that has its databases (the host)
 * and in others on the same folder (guests; `claim.ts`).
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type {
  PluginServicesOptions,
  Service,
  Worker,
  Worker_Binding,
  Worker_Module,
} from "miniflare";
import { bucketFolder } from "../store/core/blob-name.ts";
import {
  amendRunRecord,
  recordRun,
  removeRunRecords,
  type EndpointAddress,
} from "../base/run-record.ts";
import { claimStore } from "../base/folder-owner.ts";
import { reserveEndpoint, openEndpointSocket, storeService } from "./endpoint-socket.ts";
import { whenRuntimeStarts } from "../base/orphan-runtime.ts";
import { loadMiniflare } from "../base/packages.ts";
import { removePartialFiles } from "../store/node/partial-files.ts";
import { workerdModule } from "../base/workerd-module.ts";

const miniflare = loadMiniflare();

export const bucketsService = storeService;
const databasesService = "store:databases";
const blobsService = "store:blobs";
const runsService = "store:runs";
const hostService = "store:host";
const projectService = "store:project";
const bucketNamespace = { className: "BucketObject", serviceName: bucketsService };

const joinerBinding: Worker_Binding = {
  name: "joiner",
  service: { name: bucketsService, entrypoint: "ContentJoiner" },
};

/** What a client of buckets needs (`store/client/bucket-client.ts`). */
export const clientBindings: Worker_Binding[] = [
  { name: "buckets", durableObjectNamespace: bucketNamespace },
  { name: "blobs", service: { name: blobsService } },
  joinerBinding,
];

interface StoreRun {
  /** The name of the store's folder below the persist path */
  readonly pluginName: string;
  readonly runId: string;
  /** The buckets that the script is bound to */
  readonly bucketNames: readonly string[];
  /** A folder that tests may read, if there is one */
  readonly project: string | undefined;
  /** Where the process makes way for another runtime, if it does (`claim.ts`). */
  readonly handover?: EndpointAddress;
}

export async function storeServices(
  { options: worker, sharedOptions, tmpPath, loopbackHost, loopbackPort }: PluginServicesOptions,
  { pluginName, runId, bucketNames, project, handover }: StoreRun,
): Promise<Service[]> {
  const folder = miniflare.getPersistPath(
    pluginName,
    tmpPath,
    sharedOptions.resourcePersistencePath,
  );
  const [databases, blobs, runs] = ["databases", "blobs", "runs"].map((name) => {
    const path = `${folder}/${name}`;
    mkdirSync(path, { recursive: true });
    return path;
  }) as [string, string, string];
  // So that whoever looks into the folder knows which buckets there are.
  for (const name of bucketNames) mkdirSync(join(blobs, bucketFolder(name)), { recursive: true });
  // The scripts of a run share the services of the first.
  if (lastRun.get(loopbackPort) === runId) return [];
  lastRun.set(loopbackPort, runId);
  const owner = {
    processId: process.pid,
    host: loopbackHost,
    port: loopbackPort,
    ...(handover !== undefined && { handover }),
  };
  const shared = [
    { name: blobsService, disk: { path: blobs, writable: true } },
    { name: runsService, disk: { path: runs } },
    ...(project === undefined ? [] : [{ name: projectService, disk: { path: project } }]),
  ];
  const more: Worker_Binding[] = [
    { name: "runId", text: runId },
    ...(project === undefined ? [] : await projectBindings()),
  ];
  // A folder that goes with the runtime is nobody else's.
  if (sharedOptions.resourcePersistencePath === undefined) {
    await recordRun(runId, runs, owner);
    return [...shared, ...hostServices(databases, more)];
  }
  const { host, outlived } = await claimStore({
    runId,
    folder,
    owner,
    endpoint: () => reserveEndpoint(loopbackPort),
  });
  // Goes on while the runtime starts, which takes longer. Who is in the way of it, stays.
  void removeRunRecords(runs, outlived)
    .catch(() => {})
    .then(() => removePartialFiles(blobs, runs));
  if (host?.endpoint !== undefined) return [...shared, ...guestServices(host.endpoint, more)];
  const endpoint = await reserveEndpoint(loopbackPort);
  openEndpointSocket(worker, endpoint);
  whenRuntimeStarts(loopbackPort, (runtimeProcessId) =>
    amendRunRecord(runId, runs, { runtimeProcessId }),
  );
  const forEndpoint: Worker_Binding[] = [joinerBinding, { name: "secret", text: endpoint.secret }];
  return [...shared, ...hostServices(databases, [...more, ...forEndpoint])];
}

/** What reads the project's folder also says of what type the files are. */
async function projectBindings(): Promise<Worker_Binding[]> {
  const { mimes } = await import("mrmime");
  return [
    { name: "project", service: { name: projectService } },
    { name: "contentTypes", json: JSON.stringify(mimes) },
  ];
}

/** The runId that each Miniflare, known by its own port, has begun last. */
const lastRun = new Map<number, string>();

/** The buckets themselves, on their databases. */
function hostServices(databases: string, bindings: Worker_Binding[]): Service[] {
  return [
    { name: databasesService, disk: { path: databases, writable: true } },
    bucketsWorker({
      modules: [bucketsModule()],
      durableObjectNamespaces: [
        {
          className: bucketNamespace.className,
          uniqueKey: "ledge-store-bucket",
          enableSql: true,
          // Waking an evicted object costs milliseconds, and a bucket is small in memory.
          preventEviction: true,
        },
      ],
      durableObjectStorage: { localDisk: databasesService },
      bindings,
    }),
  ];
}

/** Buckets that ask those of the host: under the same names, for the bindings are the same. */
function guestServices({ port, secret }: EndpointAddress, bindings: Worker_Binding[]): Service[] {
  return [
    { name: hostService, external: { address: `127.0.0.1:${port}`, http: {} } },
    bucketsWorker({
      modules: [{ name: "store-guest.js", esModule: guestModule }, bucketsModule()],
      durableObjectNamespaces: [
        { className: bucketNamespace.className, uniqueKey: "ledge-store-relay" },
      ],
      durableObjectStorage: { inMemory: miniflare.kVoid },
      bindings: [
        { name: "host", service: { name: hostService } },
        { name: "secret", text: secret },
        ...bindings,
      ],
    }),
  ];
}

const guestModule = `
export { OwnerBucket as BucketObject, ContentJoiner, StoreControl } from "./store-buckets.js";
export default {};
`;

function bucketsModule(): Worker_Module {
  return { name: "store-buckets.js", esModule: workerdModule("store-bucket") };
}

function bucketsWorker({ bindings = [], ...worker }: Worker): Service {
  return {
    name: bucketsService,
    worker: {
      compatibilityDate: "2026-08-01",
      ...worker,
      bindings: [
        { name: "blobs", service: { name: blobsService } },
        { name: "buckets", durableObjectNamespace: bucketNamespace },
        { name: "runs", service: { name: runsService } },
        ...bindings,
      ],
    },
  };
}
