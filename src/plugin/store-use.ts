/**
 * How a Miniflare uses the store in a folder: as the owner or as a client
 * (`store/node/store-owner.ts`), from its first runtime to its end.
 */
import { RunRecords } from "../state/runs.ts";
import type { FolderOwner } from "../state/owner.ts";
import type { Succession } from "../state/succession.ts";
import type { Bucket } from "../store/node/bucket.ts";
import { LocalBuckets } from "../store/node/local-bucket.ts";
import { openBuckets } from "../store/node/endpoint-client.ts";
import { claimStore, succeedStoreOwner } from "../store/node/store-owner.ts";
import { isEndpointSocket, publishEndpoint } from "./endpoint-socket.ts";
import { S3Endpoint, type S3Access, type S3EndpointOptions } from "./s3-endpoint.ts";
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
