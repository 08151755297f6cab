/**
 * How a Miniflare uses the store in a folder: as the owner or as a client
 * (`store/node/store-owner.ts`), from its first runtime to its end. The owner opens the socket of the store's
 * endpoint in its runtime: Miniflare opens sockets for workers that its options name, and a plugin can change
 * the options before Miniflare reads them.
 */
import { isDeepStrictEqual } from "node:util";
import type { ParsedWorkerOptions } from "miniflare";
import { directSockets, setDirectSockets } from "../../base/miniflare.ts";
import type { ProjectS3 } from "../../s3/s3-table.ts";
import type { BucketOptions } from "../../store/config/store-buckets.ts";
import type { RunningS3 } from "../../s3/server.ts";
import type { FolderOwner } from "../../state/owner.ts";
import { RunRecords } from "../../state/runs.ts";
import { publishSocket, socketPath } from "../../state/sockets.ts";
import type { Succession } from "../../state/succession.ts";
import {
  bucketsWorkerName,
  endpointEntrypoint as entrypoint,
} from "../../store/node/bucket-services.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { openBuckets } from "../../store/node/endpoint-client.ts";
import { endpointPath } from "../../store/node/endpoint-connection.ts";
import { LocalBuckets } from "../../store/node/local-bucket.ts";
import { claimStore, succeedStoreOwner } from "../../store/node/store-owner.ts";
import { MiniflareRuns, type MiniflareRun } from "./miniflare-runs.ts";

interface StoreFolder {
  /** The folder in which Miniflare persists its resources. */
  readonly persistPath: string;
  /** The store's folder below `persistPath`. */
  readonly folder: string;
}

type StoreRun = Omit<MiniflareRun, "persistPath">;

/** By the loopback port of each Miniflare. */
const uses = new Map<number, StoreUse>();
/** By the run for which a Miniflare has asked for services last. */
const usesByRun = new Map<string, StoreUse>();

export class StoreUse {
  readonly #store: StoreFolder;
  readonly #runs: MiniflareRuns;
  #owner: FolderOwner | null = null;
  #succession: Succession | undefined;
  #s3: S3Endpoint | undefined;
  /** The connection of the buckets in Node. */
  #buckets: LocalBuckets | undefined;
  #runId = "";

  private constructor(store: StoreFolder, loopbackPort: number, previous: StoreUse | undefined) {
    this.#store = store;
    this.#runs = new MiniflareRuns({
      plugin: "store",
      records: new RunRecords(store.folder),
      previous: previous && previous.#runs,
      onStart: (runtime) => this.#owner?.recordRuntime(runtime),
      onListen(socketName, runId) {
        if (!isEndpointSocket(socketName)) return;
        publishEndpoint(store.folder, runId);
        void openBuckets(store.folder);
      },
      onEnd: () => this.#end(loopbackPort),
    });
  }

  /** Called when Miniflare asks for the services of a run. Its runtime may start afterwards. */
  static async begin(store: StoreFolder, run: StoreRun): Promise<StoreUse> {
    const last = uses.get(run.loopbackPort);
    const isSame = last !== undefined && last.#store.folder === store.folder;
    const use = isSame ? last : new StoreUse(store, run.loopbackPort, last);
    uses.set(run.loopbackPort, use);
    await use.#begin(run);
    return use;
  }

  /** The use of a Miniflare that shares its folder. */
  static ofMiniflare(loopbackPort: number): StoreUse | undefined {
    return uses.get(loopbackPort);
  }

  /** The use of a run; `undefined` for a run on a temporary folder. */
  static ofRun(runId: string): StoreUse | undefined {
    return usesByRun.get(runId);
  }

  /** A bucket for this process, until Miniflare ends. */
  bucket(name: string): Bucket {
    // This Miniflare is the owner, or its succession becomes the owner.
    this.#buckets ??= new LocalBuckets(this.#store.folder, { succeeds: false });
    return this.#buckets.bucket(name);
  }

  /** Serves the S3-compatible API until Miniflare ends. */
  async serveS3(options: S3EndpointOptions): Promise<S3Access> {
    this.#s3 ??= new S3Endpoint(this.#store.persistPath);
    return this.#s3.serve(options);
  }

  get isOwner(): boolean {
    return this.#owner !== null;
  }

  async #begin(run: StoreRun): Promise<void> {
    usesByRun.delete(this.#runId);
    this.#runId = run.runId;
    usesByRun.set(run.runId, this);
    const { folder, persistPath } = this.#store;
    this.#owner ??= await claimStore(folder);
    if (this.#owner === null) this.#succession ??= succeedStoreOwner(folder);
    else {
      void this.#succession?.stop();
      this.#succession = undefined;
    }
    await this.#runs.begin({ ...run, persistPath });
  }

  #end(loopbackPort: number): void {
    if (uses.get(loopbackPort) === this) uses.delete(loopbackPort);
    usesByRun.delete(this.#runId);
    void this.#buckets?.close();
    this.#owner?.release();
    void this.#succession?.stop();
    void this.#s3?.close();
  }
}

interface S3EndpointOptions extends ProjectS3 {
  /** The bindings of scripts to buckets. */
  readonly bindings: readonly Pick<BucketOptions, "bucketName" | "public" | "remote">[];
}

/** The value of the binding: what a client needs. */
export interface S3Access {
  readonly endpoint: string;
  readonly region: "auto";
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * The S3-compatible API beside a Miniflare, for tools that start Miniflare themselves. A binding gives
 * scripts, tests and Node the address and the credentials.
 */
class S3Endpoint {
  readonly #folder: string;
  #served: { readonly options: S3EndpointOptions; readonly server: RunningS3 } | undefined;

  /** @param folder where Miniflare keeps its state */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Starts the server. A server that has the same options goes on. */
  async serve(options: S3EndpointOptions): Promise<S3Access> {
    if (this.#served !== undefined && !isDeepStrictEqual(this.#served.options, options)) {
      await this.close();
    }
    this.#served ??= { options, server: await startServer(this.#folder, options) };
    const { url, credentials } = this.#served.server;
    return { endpoint: url, region: "auto", ...credentials };
  }

  async close(): Promise<void> {
    const served = this.#served;
    this.#served = undefined;
    await served?.server.close();
  }
}

/** Most runs need no server, so its modules are loaded here. */
async function startServer(
  folder: string,
  { bindings, cors, ...options }: S3EndpointOptions,
): Promise<RunningS3> {
  const { servedBuckets, serveFolder } = await import("../../s3/server.ts");
  return serveFolder(folder, { ...options, buckets: servedBuckets(bindings, cors) });
}

/** Adds the socket of a run to a script's sockets: Miniflare may read the same options twice. */
export function openEndpointSocket(
  worker: ParsedWorkerOptions,
  folder: string,
  runId: string,
): void {
  closeEndpointSocket(worker);
  setDirectSockets(worker, [
    ...directSockets(worker),
    {
      host: `unix:${socketPath(folder, runId)}`,
      port: 0,
      serviceName: bucketsWorkerName,
      entrypoint,
    },
  ]);
}

/** @param name of a socket, as Miniflare makes it of the worker's index and the entrypoint */
function isEndpointSocket(name: string): boolean {
  return name.endsWith(entrypoint);
}

/** Makes the runtime of a run the one that answers at the endpoint. */
function publishEndpoint(folder: string, runId: string): void {
  // Miniflare appends the port to every host. Here the port is a part of the socket's name.
  publishSocket(socketPath(folder, `${runId}:0`), endpointPath(folder));
}

/** Removes the socket: the runtime is not the owner, or is not the owner any more. */
export function closeEndpointSocket(worker: ParsedWorkerOptions): void {
  const others = directSockets(worker).filter((socket) => socket.entrypoint !== entrypoint);
  setDirectSockets(worker, others);
}
