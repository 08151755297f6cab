/**
 * The store of a project, and its buckets while a command has them open. Modules that `--help` does
 * not need are loaded when a command runs.
 */
import { readdirSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { makePrivateFolder } from "../../base/private-files.ts";
import { explain, pluginFolder, stateFolder } from "../../state/folder.ts";
import type { ProjectConfig } from "../../config/read-config.ts";
import type { BucketBinding, parseBucketOptions } from "../../config/store-buckets.ts";
import { bucketFolder, bucketOfFolder } from "../../store/core/blob-name.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import type { LocalBuckets } from "../../store/node/local-bucket.ts";
import { withCleanup } from "../cleanup.ts";
import type { Invocation } from "../command.ts";
import { configSelection, textOption } from "../options.ts";
import { findBucket, mergeBuckets, type KnownBucket } from "./known-buckets.ts";

export interface StoreProject {
  /** Of the store. */
  readonly folder: string;
  readonly buckets: readonly KnownBucket[];
}

type OpenBucket = Bucket & { readonly known: KnownBucket };

export interface OpenStore {
  readonly project: StoreProject;
  /**
   * @param word the name of a bucket or of its binding
   * @throws NotFoundError for a bucket that is neither configured nor on disk
   */
  readonly bucket: (word: string) => OpenBucket;
  /** Opens the buckets that the words name; without words, all buckets. */
  readonly buckets: (words: readonly string[]) => OpenBucket[];
  /** The buckets of the state folder. */
  readonly local: () => LocalBuckets;
}

/**
 * The owner is asked, and a runtime started, only for buckets of the state folder.
 *
 * @throws UserError with the reason of the store, when a bucket refuses an operation
 */
export async function withStore<Result>(
  invocation: Invocation,
  work: (store: OpenStore) => Promise<Result>,
): Promise<Result> {
  const [project, { asUserError }, { LocalBuckets: OpenedBuckets }, { RemoteBuckets }] =
    await Promise.all([
      findProject(invocation),
      import("../../store/node/bucket-objects.ts"),
      import("../../store/node/local-bucket.ts"),
      import("../../store/node/remote-buckets.ts"),
    ]);
  let opened: LocalBuckets | undefined;
  const local = () =>
    (opened ??= new OpenedBuckets(project.folder, { clientName: "command line" }));
  const remotes = new RemoteBuckets();
  const bucket = (word: string) => {
    const known = findBucket(project.buckets, word);
    const { bucketName, remote } = known;
    if (remote !== undefined) return Object.assign(remotes.bucket(bucketName, remote), { known });
    // The folder makes the bucket known to commands that run without this configuration.
    makeFolder(blobFolder(project, bucketName), project.folder);
    return Object.assign(local().bucket(bucketName), { known });
  };
  const allNames = project.buckets.map(({ bucketName }) => bucketName);
  const buckets = (words: readonly string[]) => (words.length > 0 ? words : allNames).map(bucket);
  return withCleanup(
    () => asUserError(work({ project, bucket, buckets, local })),
    async () => {
      await opened?.close();
      await remotes.close();
    },
  );
}

function makeFolder(path: string, storeFolder: string): void {
  try {
    makePrivateFolder(path);
  } catch (error) {
    throw explain(error, storeFolder);
  }
}

export async function findProject(invocation: Invocation): Promise<StoreProject> {
  const [{ readConfig }, { parseBucketOptions }, { usedRemotes }] = await Promise.all([
    import("../../config/read-config.ts"),
    import("../../config/store-buckets.ts"),
    import("../../config/used-remotes.ts"),
  ]);
  // A command that names a bucket means the bucket of the store, also before the project is edited. Only
  // a command that opens a remote bucket needs the keys of the remote.
  const config = readConfig({ ...configSelection(invocation), adopt: true, keysOptional: true });
  const state = stateFolder(config.folder, textOption(invocation, "persist-to"));
  const folder = pluginFolder(state, "store");
  const configured = [...config.buckets, ...unsafeBuckets(config, parseBucketOptions)];
  return {
    folder,
    buckets: mergeBuckets(configured, bucketsOnDisk(folder), usedRemotes(configured)),
  };
}

/** Buckets of a configuration for stock tools, which name buckets as `unsafe` bindings. */
function unsafeBuckets(
  { table }: ProjectConfig,
  parseOptions: typeof parseBucketOptions,
): BucketBinding[] {
  const { bindings = [] } = (table["unsafe"] ?? {}) as {
    bindings?: { name: string; type: string; dev?: { options?: unknown } }[];
  };
  return bindings
    .filter(({ type }) => type === "store_bucket")
    .map(({ name, dev }) => ({ binding: name, ...parseOptions(name, dev?.options) }));
}

/** @throws UserError when a file is in the place of the folder, or when this user may not read it */
function bucketsOnDisk(folder: string): string[] {
  try {
    return readdirSync(join(folder, "blobs")).map(bucketOfFolder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw explain(error, folder);
  }
}

export function blobFolder({ folder }: StoreProject, bucketName: string): string {
  return join(folder, "blobs", bucketFolder(bucketName));
}

/** The files of a folder. A file that disappears meanwhile is left out. */
export async function filesIn(folder: string): Promise<{ name: string; bytes: number }[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.map(async (name) => {
    const found = await stat(join(folder, name)).catch(() => null);
    return found?.isFile() === true ? [{ name, bytes: found.size }] : [];
  });
  return (await Promise.all(files)).flat();
}
