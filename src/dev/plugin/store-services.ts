/**
 * How a Miniflare uses the store in a folder: as the owner, whose runtime has the buckets on their
 * databases, or as a client, whose buckets ask the owner (`store/node/store-owner.ts`).
 *
 * The owner opens the socket of the store's endpoint in its runtime: Miniflare opens sockets for workers
 * that its options name, and a plugin can change the options before Miniflare reads them.
 */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { PluginServicesOptions, Service, Worker_Binding } from "miniflare";
import {
  callingMiniflare,
  directSockets,
  setDirectSockets,
  type MiniflareModule,
} from "../../base/miniflare.ts";
import { makePrivateFolder } from "../../base/private-files.ts";
import type { ProjectS3 } from "../../s3/s3-table.ts";
import type { RunningS3, ServedBinding } from "../../s3/server.ts";
import { fullDeviceText, requireUsableFolder } from "../../state/folder.ts";
import type { FolderOwner } from "../../state/owner.ts";
import { hasRuntimeSockets, publishSocket, socketPath } from "../../state/sockets.ts";
import type { Succession } from "../../state/succession.ts";
import { bucketFolder } from "../../store/core/content.ts";
import {
  bucketClass,
  bucketsModule,
  bucketsWorker,
  bucketsWorkerName,
  diskServices,
  endpointEntrypoint as entrypoint,
  ownerServices,
  runBindings,
} from "../../store/node/bucket-services.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { DurableFiles } from "../../store/node/durable-files.ts";
import { endpointPath, openBuckets } from "../../store/node/endpoint.ts";
import { LocalBuckets } from "../../store/node/local-bucket.ts";
import { removePartialFiles } from "../../store/node/store-files.ts";
import { claimStore, storeNeeds, succeedStoreOwner } from "../../store/node/store-owner.ts";
import { FolderUse, type MiniflareRun } from "./folder-use.ts";
import type { Run } from "./plugin-bindings.ts";

/** Also the name of the store's folder below the persist path. */
export const pluginName = "store";
const ownerServiceName = "store:owner";
const projectService = "store:project";

export interface StoreRunOptions {
  /** The folder from which tests can fill buckets. */
  readonly project_folder?: string;
  /** The buckets that the scripts of the run are bound to. */
  readonly bucketNames: readonly string[];
  /** Those of the buckets whose setting is `durability = "process"`. */
  readonly processDurable: readonly string[];
  /** Whether Node serves the buckets, too, and so needs the endpoint of a temporary folder. */
  readonly isServed: boolean;
}

/** The services for a script. All scripts of a run use the services of the first script. */
export async function storeServices(
  { options: worker, sharedOptions, tmpPath, loopbackHost, loopbackPort }: PluginServicesOptions,
  run: Run<StoreUse | null>,
  { bucketNames, processDurable, isServed, project_folder: projectFolder }: StoreRunOptions,
): Promise<Service[]> {
  const { runId } = run;
  const miniflare = callingMiniflare();
  const { resourcePersistencePath: givenPath } = sharedOptions;
  const folder = miniflare.getPersistPath(pluginName, tmpPath, givenPath);
  const persistPath = givenPath ?? (isServed ? dirname(folder) : undefined);
  const { isFull } = requireUsableFolder(folder, storeNeeds);
  if (isFull) console.warn(fullDeviceText(folder));
  const [blobs, runs] = [join(folder, "blobs"), join(folder, "runs")];
  // The command line finds buckets by their folders.
  for (const name of bucketNames) makePrivateFolder(join(blobs, bucketFolder(name)));
  if (run.use !== undefined) return [];
  const shared = diskServices(folder);
  const bindings = runBindings({ folder, runId, bucketNames, processDurable, isFull });
  if (projectFolder !== undefined) {
    shared.push({ name: projectService, disk: { path: projectFolder } });
    bindings.push(...(await projectBindings()));
  }
  // Only this runtime uses a temporary folder.
  if (persistPath === undefined) {
    run.use = null;
    writeFileSync(join(runs, runId), "", { mode: 0o600 });
    return [...shared, ...ownerServices(bindings, null)];
  }
  const last = uses.get(loopbackPort);
  const isSame = last?.folder === folder;
  run.use = isSame ? last : new StoreUse(pluginName, folder, uses, loopbackPort);
  const isOwner = await run.use.begin({ runId, persistPath, loopbackHost, loopbackPort });
  // In the background: the runtime takes longer to start, and does not depend on the outcome.
  void removePartialFiles(blobs, runs);
  // Miniflare may read the same options twice.
  const sockets = directSockets(worker).filter((socket) => socket.entrypoint !== entrypoint);
  if (isOwner && hasRuntimeSockets) {
    const host = `unix:${socketPath(folder, runId)}`;
    sockets.push({ host, port: 0, serviceName: bucketsWorkerName, entrypoint });
  }
  setDirectSockets(worker, sockets);
  // A temporary folder ends with this process.
  const files = isOwner && givenPath !== undefined ? await run.use.durableFiles() : null;
  return isOwner
    ? [...shared, ...ownerServices(bindings, files)]
    : [...shared, ...clientServices(endpointPath(folder), bindings, miniflare.kVoid)];
}

/** The project's folder, and the content types of its files. */
async function projectBindings(): Promise<Worker_Binding[]> {
  const { mimes } = await import("mrmime");
  return [
    { name: "project", service: { name: projectService } },
    { name: "contentTypes", json: JSON.stringify(mimes) },
  ];
}

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

interface S3EndpointOptions extends ProjectS3 {
  /** The bindings of scripts to buckets. */
  readonly bindings: readonly ServedBinding[];
}

const uses = new Map<number, StoreUse>();

export class StoreUse extends FolderUse {
  #owner: FolderOwner | null = null;
  #files: DurableFiles | null = null;
  #succession: Succession | undefined;
  #s3: { readonly options: S3EndpointOptions; readonly server: RunningS3 } | undefined;
  /** The connection of the buckets in Node. */
  #buckets: LocalBuckets | undefined;

  /** @returns whether this process owns the store */
  async begin(run: MiniflareRun): Promise<boolean> {
    this.#owner ??= await claimStore(this.folder);
    if (this.#owner === null) this.#succession ??= succeedStoreOwner(this.folder);
    else {
      void this.#succession?.stop();
      this.#succession = undefined;
    }
    const isOwner = this.#owner !== null;
    await this.beginRun(run, isOwner);
    return isOwner;
  }

  /** The service that makes files durable, until Miniflare ends. Only for an owner. */
  async durableFiles(): Promise<DurableFiles | null> {
    return (this.#files ??= await DurableFiles.serve(this.folder));
  }

  /** A bucket for this process, until Miniflare ends. */
  bucket(name: string): Bucket {
    // This Miniflare is the owner, or its succession becomes the owner.
    this.#buckets ??= new LocalBuckets(this.folder, { succeeds: false });
    return this.#buckets.bucket(name);
  }

  /**
   * Serves the S3-compatible API until Miniflare ends, for tools that start Miniflare themselves. A server
   * that has the same options goes on.
   *
   * @returns the value of the binding: what a client needs
   */
  async serveS3(options: S3EndpointOptions): Promise<object> {
    if (this.#s3 !== undefined && !isDeepStrictEqual(this.#s3.options, options)) {
      await this.#closeS3();
    }
    // Most runs need no server, so its modules are loaded here.
    const { servedBuckets, serveFolder } = await import("../../s3/server.ts");
    const { bindings, cors, ...listen } = options;
    const buckets = servedBuckets(bindings, cors);
    this.#s3 ??= {
      options,
      server: await serveFolder(dirname(this.folder), { ...listen, buckets }),
    };
    const { url, credentials } = this.#s3.server;
    return { endpoint: url, region: "auto", ...credentials };
  }

  async #closeS3(): Promise<void> {
    const served = this.#s3;
    this.#s3 = undefined;
    await served?.server.close();
  }

  /** @param socketName as Miniflare makes it of the worker's index and the entrypoint */
  protected override onListen(socketName: string, runId: string): void {
    if (!socketName.endsWith(entrypoint)) return;
    // Miniflare appends the port to every host. Here the port is a part of the socket's name.
    publishSocket(socketPath(this.folder, `${runId}:0`), endpointPath(this.folder));
    void openBuckets(this.folder);
  }

  protected override onEnd(): void {
    void this.#buckets?.close();
    this.#files?.close();
    this.#owner?.release();
    void this.#succession?.stop();
    void this.#closeS3();
  }
}
