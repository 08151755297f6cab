/**
 * The buckets of a store for a process that serves other programs: the configured buckets, and those
 * that requests create and delete.
 *
 * A configured bucket always exists. Another bucket exists from `create` to `delete`, across
 * restarts. The database of a deleted bucket says that the bucket was deleted, and refuses every
 * operation of a process that does not know it yet: a put is stored before the bucket is deleted,
 * and then the bucket is not deleted; or the put fails.
 */
import { join } from "node:path";
import { FileLock } from "../../state/lock.ts";
import { validateBucketName } from "../core/key.ts";
import { StoreError } from "../core/errors.ts";
import type { RemoteAccess } from "../remote/remote-options.ts";
import type { ClientName } from "../client/message.ts";
import { BucketFolders, type BucketRecord } from "./store-files.ts";
import type { Bucket } from "./bucket.ts";
import { LocalBuckets } from "./local-bucket.ts";
import { RemoteBuckets } from "./remote-buckets.ts";

interface ConfiguredBuckets {
  readonly names: readonly string[];
  /** The path of the configuration, for messages. */
  readonly file: string;
  /** The buckets that are on an S3 service, by name. Each is also in `names`. */
  readonly remotes?: ReadonlyMap<string, RemoteAccess>;
}

export class StoreClient {
  readonly #local: LocalBuckets;
  readonly #folders: BucketFolders;
  readonly #configured: () => ConfiguredBuckets;
  readonly #buckets = new Map<string, Bucket>();
  readonly #remotes: RemoteBuckets;
  readonly #lockPath: string;
  /** When the store was opened: the creation of configured buckets that have no folder. */
  readonly #opened = Date.now();

  /**
   * @param configured is called for each request, because the configuration may change
   * @param clientName which program this process is, for the owner
   */
  constructor(folder: string, configured: () => ConfiguredBuckets, clientName: ClientName = "s3") {
    this.#local = new LocalBuckets(folder, { clientName });
    this.#remotes = new RemoteBuckets(folder);
    this.#folders = new BucketFolders(folder);
    this.#configured = configured;
    this.#lockPath = join(folder, "buckets.lock");
  }

  async list(): Promise<BucketRecord[]> {
    const { names: configured, remotes } = this.#configured();
    // A bucket may have left a folder before it was moved to an S3 service.
    const found = (await this.#folders.list()).filter(({ name }) => !remotes?.has(name));
    const names = new Set(found.map(({ name }) => name));
    const others = configured
      .filter((name) => !names.has(name))
      .map((name) => ({ name, created: this.#opened }));
    return [...found, ...others].sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** @returns `null` when the bucket does not exist */
  async find(name: string): Promise<Bucket | null> {
    const exists = this.#isConfigured(name) || (await this.#folders.find(name)) !== null;
    return exists ? this.#bucket(name) : null;
  }

  /**
   * Does nothing when the bucket exists.
   *
   * @throws StoreError 10005 for a name that is not valid
   */
  async create(name: string): Promise<void> {
    if (await this.#isUsable(name)) return;
    validateBucketName(name);
    await this.#exclusively(async () => {
      await this.#execute(name, "createBucket");
      await this.#folders.create(name);
    });
  }

  /**
   * @throws StoreError 10006 when the bucket does not exist, 10008 when it has objects or uploads in
   *   progress, 200003 for a configured bucket
   */
  async delete(name: string): Promise<void> {
    if (this.#isConfigured(name)) {
      throw new StoreError(
        200003,
        `The bucket "${name}" is a bucket of the configuration. Remove the bucket from ` +
          `${this.#configured().file} first.`,
      );
    }
    await this.#exclusively(async () => {
      if ((await this.#folders.find(name)) === null) throw new StoreError(10006);
      await this.#execute(name, "deleteBucket");
      this.#folders.delete(name);
      this.#buckets.delete(name);
    });
  }

  async close(): Promise<void> {
    await this.#local.close();
    await this.#remotes.close();
  }

  #isConfigured(name: string): boolean {
    return this.#configured().names.includes(name);
  }

  /** Whether the bucket exists. A process may have been killed in the middle of a deletion. */
  async #isUsable(name: string): Promise<boolean> {
    const bucket = await this.find(name);
    if (bucket === null || !bucket.isDeletable) return bucket !== null;
    try {
      await bucket.call({ method: "getSettings" });
      return true;
    } catch (error) {
      if (error instanceof StoreError && error.code === 10006) return false;
      throw error;
    }
  }

  #bucket(name: string): Bucket {
    const remote = this.#configured().remotes?.get(name);
    if (remote !== undefined) return this.#remotes.bucket(name, remote);
    const isDeletable = !this.#isConfigured(name);
    let bucket = this.#buckets.get(name);
    if (bucket === undefined || bucket.isDeletable !== isDeletable) {
      bucket = this.#local.bucket(name, isDeletable);
      this.#buckets.set(name, bucket);
    }
    return bucket;
  }

  /** In a request of its own, by a bucket that sends no `mustExist`. */
  async #execute(name: string, method: "createBucket" | "deleteBucket"): Promise<void> {
    await this.#local.bucket(name).call({ method });
  }

  /** No other process creates or deletes a bucket meanwhile. */
  async #exclusively(change: () => Promise<void>): Promise<void> {
    const lock = await FileLock.take(this.#lockPath);
    try {
      await change();
    } finally {
      lock.release();
    }
  }
}
