/** `ledge store get`, `put` and `delete`: objects of buckets. */
import { createHash, randomBytes } from "node:crypto";
import { createWriteStream, mkdirSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, open, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { lookup } from "mrmime";
import { counted, escapeControls, formatBytes } from "../../base/format.ts";
import { Progress } from "../../base/progress.ts";
import { NotFoundError, UserError } from "../../base/user-error.ts";
import { deleteKeysMax } from "../../store/core/limits.ts";
import { httpMetadataFromHeaders, type HttpMetadata } from "../../store/core/metadata.ts";
import type { DescribedObject, ObjectRecord, StorageClass } from "../../store/core/operations.ts";
import {
  fetchObject,
  headObject,
  listPages,
  putFile,
  type FetchedObject,
} from "../../store/node/bucket-objects.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { FileContent } from "../../store/node/file-content.ts";
import { isPlainPath } from "../../store/node/file-path.ts";
import { UsageError, type Invocation } from "../command.ts";
import { OutputClosedError, print, shown, writeOutput } from "../output.ts";
import { withTemporaryPath } from "../run.ts";
import { toObjectJson } from "./listing.ts";
import {
  dryRunOption,
  findBucket,
  objectNotFound,
  parseAddress,
  splitAddress,
  storageClassChoices,
  storageClassOption,
  storeCommand,
  type ObjectAddress,
  type OpenBucket,
  type OpenStore,
} from "./open-store.ts";

export const get = storeCommand({
  name: "get",
  summary: "Writes an object to a file",
  arguments: [
    ["BUCKET/KEY...", "The object, or several for a folder"],
    [
      "[FILE]",
      'The file, or a folder for a file with the last part of the key; "-" is standard output',
    ],
  ],
  examples: [
    "ledge store get photos/cat.png",
    "ledge store get photos/cat.png photos/dog.png ./pets/",
    "ledge store get photos/notes.txt - | wc",
  ],

  async run(invocation, store, ...words) {
    const target = words.length === 1 ? "." : (words.pop() as string);
    if (words.length > 1 && !isFolder(target)) throw notFolder(target);
    const addresses = words.map(parseAddress);
    for (const { key } of addresses) fileFor(key, target);
    for (const { bucket, key } of addresses) {
      await getObject(invocation, store.bucket(bucket), key, target);
    }
  },
});

/** Writes an object to a file or into a folder, and says so; or to standard output, for `-`. */
export async function getObject(
  invocation: Invocation,
  bucket: Bucket,
  key: string,
  target: string,
): Promise<DescribedObject> {
  const file = fileFor(key, target);
  const object = await fetchObject(bucket, key, async (fetched) => {
    if (target.endsWith("/")) mkdirSync(target, { recursive: true });
    await (file === "-" ? printObject(fetched) : saveObject(resolve(file), fetched));
    return fetched.object;
  });
  if (object === null) throw objectNotFound({ bucket: bucket.name, key });
  if (file !== "-") {
    print(invocation, toObjectJson(object), `${shown(file)}: ${formatBytes(object.size)}`);
  }
  return object;
}

/** Whether a path names a folder: one that exists, or one that is made, with a slash at its end. */
export function isFolder(path: string): boolean {
  return path.endsWith("/") || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

export function notFolder(path: string): UsageError {
  return new UsageError(
    `Several objects go into a folder, and "${path}" is none: write "${path}/" to make the folder.`,
  );
}

/** The file for an object: `target` itself, or a file with the last part of the key in that folder. */
function fileFor(key: string, target: string): string {
  if (target === "-" || !isFolder(target)) return target;
  const name = key.slice(key.lastIndexOf("/") + 1);
  if (isPlainPath(name)) return join(target, name);
  throw new UsageError(
    `"${escapeControls(key)}" does not end in the name of a file: say which FILE to write.`,
  );
}

/**
 * Writes an object to a file, which appears under its name when it is complete. A device or a pipe
 * (`/dev/null`) is written to, and not replaced.
 */
async function saveObject(path: string, fetched: FetchedObject): Promise<void> {
  const partial = join(dirname(path), `.ledge-partial-${randomBytes(8).toString("hex")}`);
  const progress = new Progress(basename(path), fetched.object.size);
  const write = (to: string): Promise<void> =>
    writeContent(to, fetched, (count) => progress.moveTo(count));
  const found = statSync(path, { throwIfNoEntry: false });
  const isReplaced = found === undefined || found.isFile();
  const saving = isReplaced
    ? withTemporaryPath(partial, () => write(partial).then(() => rename(partial, path)))
    : write(path);
  await saving
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code === undefined) throw error;
      const folder = dirname(path);
      if (error.code === "ENOENT") {
        throw new NotFoundError(`There is no folder ${folder}: make the folder, and try again.`);
      }
      throw new UserError(`Cannot write ${path}: ${error.message}`);
    })
    .finally(() => progress.end());
}

/**
 * Writes an object to standard output. Output cannot be taken back, so a transfer that breaks off is
 * not tried a second time.
 */
async function printObject({ content }: FetchedObject): Promise<void> {
  try {
    if (content instanceof Uint8Array) return await writeOutput(content);
    for await (const chunk of content) await writeOutput(chunk);
  } catch (error) {
    if (error instanceof OutputClosedError) throw error;
    throw new UserError(
      `The transfer of the object broke off: ${(error as Error).message}. Run the command again.`,
    );
  }
}

export const put = storeCommand({
  name: "put",
  summary: "Puts a file into a bucket",
  arguments: [
    ["BUCKET/KEY", "The object; a bucket alone takes the name of the file as the key"],
    ["FILE", 'The file; "-" is standard input'],
  ],
  options: {
    "--content-type TYPE":
      "The type of the content (default: from the ending of the key or the file)",
    "--content-language TEXT": "The language of the content",
    "--content-disposition TEXT": "How a browser presents the content",
    "--content-encoding TEXT": "The compression of the content",
    "--cache-control TEXT": "The rules for caches",
    "--expires DATE": "When cached copies expire",
    "--metadata NAME=VALUE...": "Custom metadata",
    [storageClassOption]: "Standard or InfrequentAccess (default: the bucket's)",
  },
  choices: storageClassChoices,
  examples: [
    "ledge store put photos/cat.png ./cat.png --metadata owner=me",
    "date | ledge store put photos/now.txt -",
  ],

  async run(invocation, store, word, file) {
    const isBucket = splitAddress(word).key === "" && file !== "-";
    const place = isBucket ? `${splitAddress(word).bucket}/${basename(file)}` : word;
    const { bucket, key } = parseAddress(place);
    await putObject(invocation, store.bucket(bucket), key, file);
  },
});

/** Puts a file, or standard input for `-`, with the options of `put` as far as the command has them. */
export async function putObject(
  invocation: Invocation,
  bucket: OpenBucket,
  key: string,
  file: string,
): Promise<void> {
  // The name of the file decides where the key has no known ending.
  const guesses = [key, ...(file === "-" ? [] : [file])].map(guessMetadata);
  const guess = guesses.find(({ contentType }) => contentType !== undefined);
  const http = { ...guess, ...httpOptions(invocation) };
  const custom = invocation.pairs("metadata", "=") ?? {};
  const storageClass = invocation.text<StorageClass>("storage-class") ?? bucket.known.storageClass;
  const record = await withInputFile(file, (path) => {
    const content = FileContent.of(path);
    const progress = new Progress(key, content.size);
    const onBytes = (count: number): void => progress.moveTo(count);
    return putFile(bucket, { key, http, custom, storageClass }, content, { onBytes }).finally(() =>
      progress.end(),
    );
  });
  printWritten(invocation, bucket, { http, custom, ...record });
}

export function printWritten(invocation: Invocation, bucket: Bucket, record: ObjectRecord): void {
  const { key, size, etag } = record;
  const text = `${bucket.name}/${shown(key)}: ${formatBytes(size)}, etag ${etag}`;
  print(invocation, toObjectJson(record), text);
}

/** The options for HTTP metadata have the names of the headers. */
function httpOptions(invocation: Invocation): HttpMetadata {
  const expires = invocation.text("expires");
  if (expires !== undefined && Number.isNaN(Date.parse(expires))) {
    throw new UsageError(
      `--expires must be a date such as 2030-01-31T12:00:00Z, not "${expires}".`,
    );
  }
  return httpMetadataFromHeaders({ get: (name) => invocation.text(name) ?? null });
}

/**
 * Runs `work` with the path of a file. Standard input, `-`, goes to a temporary file first: a
 * transfer may have to start again.
 */
async function withInputFile<Result>(
  file: string,
  work: (path: string) => Promise<Result>,
): Promise<Result> {
  if (file !== "-") return work(file);
  const folder = await mkdtemp(join(tmpdir(), "ledge-put-"));
  return withTemporaryPath(folder, async () => {
    const path = join(folder, "content");
    await pipeline(process.stdin, createWriteStream(path));
    return work(path);
  });
}

export const deleteObjects = storeCommand({
  name: "delete",
  aliases: ["rm"],
  summary: "Deletes objects",
  details: "A missing object is no error.",
  arguments: [["BUCKET/KEY...", "The objects; with --prefix, the bucket"]],
  options: {
    "-p, --prefix PREFIX": "Deletes all keys with this prefix",
    "-r, --recursive": "Also deletes all keys below the given keys, as those below a folder",
    "-f, --force": "Changes nothing: a missing object is no error in any case",
    ...dryRunOption,
  },
  examples: [
    "ledge store delete photos/cat.png",
    "ledge store delete photos --prefix 2025/",
    "ledge store rm -r photos/2025",
  ],

  async run(invocation, store, ...words) {
    const [first = ""] = words;
    const prefix = invocation.text("prefix");
    const dryRun = invocation.flag("dry-run");
    if (prefix !== undefined && (words.length > 1 || splitAddress(first).key !== "")) {
      throw new UsageError("With --prefix, name the bucket alone: BUCKET --prefix PREFIX.");
    }
    const deleted =
      prefix !== undefined
        ? await deletePrefix(store.bucket(splitAddress(first).bucket), prefix, dryRun)
        : invocation.flag("recursive")
          ? await deleteTrees(store, words, dryRun)
          : await deleteKeys(store, words.map(parseAddress), dryRun);
    const text = dryRun
      ? `${counted(deleted, "object")} would be deleted.`
      : `Deleted ${counted(deleted, "object")}.`;
    print(invocation, { deleted, dryRun }, text);
  },
});

/** Deletes objects and returns the number of those that existed. A dry run only counts them. */
async function deleteKeys(
  store: OpenStore,
  addresses: readonly ObjectAddress[],
  dryRun: boolean,
): Promise<number> {
  const objects = addresses.map(({ bucket, key }) => ({ bucket: store.bucket(bucket), key }));
  let deleted = 0;
  for (const { bucket, key } of objects) {
    // A damaged object cannot be read, and can be deleted.
    const exists = await headObject(bucket, key).then(
      (object) => object !== null,
      () => true,
    );
    if (!exists) continue;
    if (!dryRun) await bucket.call({ method: "delete", keys: [key] });
    deleted++;
  }
  return deleted;
}

/** Deletes objects and all keys below them, as below folders. */
async function deleteTrees(
  store: OpenStore,
  words: readonly string[],
  dryRun: boolean,
): Promise<number> {
  for (const { bucket, key } of words.map(splitAddress)) {
    if (key !== "") continue;
    const { bucketName } = findBucket(store.project.buckets, bucket);
    throw new UsageError(
      `This would delete everything in "${bucketName}": "ledge store reset ${bucketName}" does so.`,
    );
  }
  let deleted = 0;
  for (const address of words.map(parseAddress)) {
    const below = address.key.replace(/\/?$/, "/");
    if (below !== address.key) deleted += await deleteKeys(store, [address], dryRun);
    deleted += await deletePrefix(store.bucket(address.bucket), below, dryRun);
  }
  return deleted;
}

/** Deletes the objects with a prefix and returns their number. A dry run only counts them. */
export async function deletePrefix(
  bucket: Bucket,
  prefix: string,
  dryRun: boolean,
): Promise<number> {
  let deleted = 0;
  for await (const { objects } of listPages(bucket, { prefix })) {
    const keys = objects.map(({ key }) => key);
    deleted += keys.length;
    if (!dryRun) await deleteAll(bucket, keys);
  }
  return deleted;
}

export async function deleteAll(bucket: Bucket, keys: readonly string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += deleteKeysMax) {
    await bucket.call({ method: "delete", keys: keys.slice(start, start + deleteKeysMax) });
  }
}

/** The metadata of a file with this name. Text files count as UTF-8. */
export function guessMetadata(name: string): HttpMetadata {
  const type = lookup(name);
  if (type === undefined) return {};
  return { contentType: type.startsWith("text/") ? `${type}; charset=utf-8` : type };
}

/**
 * @param onBytes is called with the number of bytes that have been written so far
 * @throws UserError when the content does not match the object's md5
 */
export async function writeContent(
  path: string,
  { object, content }: FetchedObject,
  onBytes: (count: number) => void = () => {},
): Promise<void> {
  const { md5 } = object.checksums;
  // An object that was uploaded in parts has no md5.
  const hash = md5 === undefined ? null : createHash("md5");
  if (content instanceof Uint8Array) {
    hash?.update(content);
    writeFileSync(path, content);
  } else {
    const file = await open(path, "w");
    let count = 0;
    try {
      for await (const chunk of content) {
        const writing = file.writeFile(chunk);
        // The chunk is hashed while it is written.
        hash?.update(chunk);
        await writing;
        onBytes((count += chunk.length));
      }
    } finally {
      await file.close();
    }
  }
  if (hash !== null && hash.digest("hex") !== md5) {
    throw new UserError(
      `"${object.key}" is damaged: its content does not match its md5. Put or delete the object.`,
    );
  }
}
