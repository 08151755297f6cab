/**
 * What the commands of `ledge store` share: the buckets that a command line can name (configured
 * buckets, and buckets on disk), the buckets while a command has them open, and common arguments.
 */
import { readdirSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { escapeControls } from "../../base/format.ts";
import { nearest } from "../../base/nearest.ts";
import { makePrivateFolder } from "../../base/private-files.ts";
import { NotFoundError } from "../../base/user-error.ts";
import { readConfig, type ProjectConfig } from "../../config/read-config.ts";
import { explain, pluginFolder, stateFolder } from "../../state/folder.ts";
import { usedRemotes } from "../../store/config/remotes.ts";
import { parseBucketOptions, type BucketBinding } from "../../store/config/store-buckets.ts";
import { bucketFolder, bucketOfFolder } from "../../store/core/content.ts";
import { validateKey } from "../../store/core/key.ts";
import type { StorageClass } from "../../store/core/operations.ts";
import { asUserError } from "../../store/node/bucket-objects.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { LocalBuckets } from "../../store/node/local-bucket.ts";
import { RemoteBuckets } from "../../store/node/remote-buckets.ts";
import type { RemoteAccess } from "../../store/remote/remote-options.ts";
import {
  configSelection,
  projectOptions,
  UsageError,
  type Invocation,
  type LeafCommand,
} from "../command.ts";
import { withCleanup } from "../run.ts";

export interface StoreProject {
  readonly folder: string;
  readonly buckets: readonly KnownBucket[];
}

interface KnownBucket {
  readonly bucketName: string;
  readonly bindings: readonly string[];
  /** The name of the deployed bucket, if the preview bucket has another name. */
  readonly otherNames: readonly string[];
  /** The storage class of objects that are put without one. */
  readonly storageClass: StorageClass;
  /** Where the bucket is, if it is on an S3 service. */
  readonly remote?: RemoteAccess;
}

export type OpenBucket = Bucket & { readonly known: KnownBucket };

export interface OpenStore {
  readonly project: StoreProject;
  /**
   * @param word the name of a bucket or of its binding
   * @throws NotFoundError for a bucket that is neither configured nor on disk
   */
  readonly bucket: (word: string) => OpenBucket;
  /** Opens the buckets that the words name; without words, all buckets. */
  readonly buckets: (words: readonly string[]) => OpenBucket[];
  readonly local: () => LocalBuckets;
}

interface StoreCommand extends Omit<LeafCommand, "run"> {
  readonly run: (
    invocation: Invocation,
    store: OpenStore,
    ...words: string[]
  ) => Promise<number | void>;
}

/**
 * A command that has the buckets of the project open while it runs. The owner is asked, and a runtime
 * started, only when the command uses a bucket of the state folder.
 */
export function storeCommand({ run, options, ...command }: StoreCommand): LeafCommand {
  return {
    ...command,
    options: { ...options, ...projectOptions },
    run: (invocation, ...words) =>
      withStore(invocation, (store) => run(invocation, store, ...words)),
  };
}

/** @throws UserError with the reason of the store, when a bucket refuses an operation */
async function withStore<Result>(
  invocation: Invocation,
  work: (store: OpenStore) => Promise<Result>,
): Promise<Result> {
  const project = findProject(invocation);
  const { folder } = project;
  const remotes = new RemoteBuckets(folder);
  let opened: LocalBuckets | undefined;
  const local = () =>
    (opened ??= new LocalBuckets(folder, { clientName: "command line", onWait: console.error }));
  const bucket = (word: string) => {
    const known = findBucket(project.buckets, word);
    const { bucketName, remote } = known;
    if (remote !== undefined) return Object.assign(remotes.bucket(bucketName, remote), { known });
    try {
      // The folder makes the bucket known to commands that run without this configuration.
      makePrivateFolder(blobFolder(project, bucketName));
    } catch (error) {
      throw explain(error, folder);
    }
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

export function findProject(invocation: Invocation): StoreProject {
  // A command that names a bucket means the bucket of the store, also before the project is edited. Only
  // a command that opens a remote bucket needs the keys of the remote.
  const config = readConfig({ ...configSelection(invocation), adopt: true, keysOptional: true });
  const folder = pluginFolder(stateFolder(config.folder, invocation.text("persist-to")), "store");
  const configured = [...config.buckets, ...unsafeBuckets(config)];
  const buckets = mergeBuckets(configured, bucketsOnDisk(folder), usedRemotes(configured));
  return { folder, buckets };
}

/** Buckets of a configuration for stock tools, which name buckets as `unsafe` bindings. */
function unsafeBuckets({ table }: ProjectConfig): BucketBinding[] {
  const { bindings = [] } = (table["unsafe"] ?? {}) as {
    bindings?: { name: string; type: string; dev?: { options?: unknown } }[];
  };
  return bindings
    .filter(({ type }) => type === "store_bucket")
    .map(({ name, dev }) => ({ binding: name, ...parseBucketOptions(name, dev?.options) }));
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

/** Each bucket once, sorted by name. */
export function mergeBuckets(
  configured: readonly BucketBinding[],
  onDisk: readonly string[],
  remotes: ReadonlyMap<string, RemoteAccess> = new Map(),
): KnownBucket[] {
  const byName = Map.groupBy(configured, (each) => each.previewBucketName ?? each.bucketName);
  return [...new Set([...byName.keys(), ...onDisk])].sort().map((bucketName) => {
    const own = byName.get(bucketName) ?? [];
    return {
      bucketName,
      bindings: own.map(({ binding }) => binding),
      otherNames: own.map((each) => each.bucketName).filter((name) => name !== bucketName),
      storageClass: own.at(-1)?.storageClass ?? "Standard",
      remote: remotes.get(bucketName),
    };
  });
}

/** The bucket with this name or, if there is none, with this binding. */
export function knownBucket(
  buckets: readonly KnownBucket[],
  word: string,
): KnownBucket | undefined {
  return (
    buckets.find(({ bucketName }) => bucketName === word) ??
    buckets.find((bucket) => [...bucket.bindings, ...bucket.otherNames].includes(word))
  );
}

/**
 * Returns `knownBucket()`.
 *
 * @throws NotFoundError with a suggestion
 */
export function findBucket(buckets: readonly KnownBucket[], word: string): KnownBucket {
  const found = knownBucket(buckets, word);
  if (found !== undefined) return found;
  const names = buckets.flatMap(({ bucketName, bindings }) => [bucketName, ...bindings]);
  const guess = nearest(word, names);
  const known = buckets.map(({ bucketName }) => `"${bucketName}"`).join(", ");
  throw new NotFoundError(
    `There is no bucket "${word}".` +
      (guess !== null
        ? ` Did you mean "${guess}"?`
        : known === ""
          ? " The project has no buckets: add one to store_buckets in the configuration."
          : ` The buckets are ${known}.`),
  );
}

/** `BUCKET/KEY`, the name of an object on the command line. Only the key may hold slashes. */
export interface ObjectAddress {
  readonly bucket: string;
  readonly key: string;
}

/** `BUCKET` or `BUCKET/KEY`, also with `s3://` before it, as clients of S3 have it. */
export function splitAddress(text: string): ObjectAddress {
  const [, bucket = "", key = ""] = /^(?:s3:\/\/)?([^/]*)\/?(.*)$/s.exec(text) ?? [];
  return { bucket, key };
}

/** @throws UsageError for a word without a key */
export function parseAddress(text: string): ObjectAddress {
  const { bucket, key } = splitAddress(text);
  if (bucket === "" || key === "") {
    throw new UsageError(`"${text}" does not name an object: write BUCKET/KEY.`);
  }
  try {
    validateKey(key);
  } catch {
    throw new UsageError("The key is longer than 1024 bytes: shorten it.");
  }
  return { bucket, key };
}

export function objectNotFound({ bucket, key }: ObjectAddress): NotFoundError {
  return new NotFoundError(`There is no object "${escapeControls(key)}" in "${bucket}".`);
}

export const bucketSummary = "The name of a bucket or of its binding";
export const bucketArgument = ["BUCKET", bucketSummary] as const;
/** Of a command that leaves remote buckets alone unless the user names them. */
export const bucketsArgument = [
  "[BUCKET...]",
  "The buckets; by default all that are in the state folder",
] as const;
export const objectArgument = ["BUCKET/KEY", "The object"] as const;
export const folderArgument = ["DIR", "The folder"] as const;

export const dryRunOption = {
  "-n, --dry-run": "Prints how much would be deleted, and deletes nothing",
};
export const storageClassOption = "--storage-class CLASS";
export const storageClassChoices = {
  "storage-class": ["Standard", "InfrequentAccess"] satisfies StorageClass[],
};
