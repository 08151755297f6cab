/** `ledge store list`, `head`, `get`, `put`, `delete` and `cp`: objects of buckets. */
import { createHash, randomBytes } from "node:crypto";
import { createWriteStream, statSync, writeFileSync } from "node:fs";
import { mkdtemp, open, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { lookup } from "mrmime";
import { counted, formatBytes, formatTable } from "../../base/format.ts";
import { Progress } from "../../base/progress.ts";
import { UserError } from "../../base/user-error.ts";
import { deleteKeysMax } from "../../store/core/limits.ts";
import { httpMetadataFromHeaders, type HttpMetadata } from "../../store/core/metadata.ts";
import type { ObjectRecord, StorageClass } from "../../store/core/operations.ts";
import {
  copyAcross,
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
import { OutputClosedError, print, writeOutput } from "../output.ts";
import { withTemporaryPath } from "../run.ts";
import {
  bucketArgument,
  dryRunOption,
  objectArgument,
  objectNotFound,
  parseAddress,
  storageClassChoices,
  storageClassOption,
  storeCommand,
  type ObjectAddress,
  type OpenStore,
} from "./open-store.ts";

const sizeWidth = 12;
const prefixColumns = "-".padStart(sizeWidth) + "  " + "-".padEnd(20);

export const listObjects = storeCommand({
  name: "list",
  summary: "Lists objects in the order of their keys",
  details: "With --json, each object is one line.",
  arguments: [bucketArgument],
  options: {
    "--prefix PREFIX": "Lists only keys with this prefix",
    "--delimiter TEXT": "Groups keys by the part before this text",
  },
  examples: ["ledge store list photos --prefix 2026/ --delimiter /"],

  async run(invocation, store, word) {
    const [prefix, delimiter] = [invocation.text("prefix"), invocation.text("delimiter")];
    // Each page is printed as it arrives: a listing may be larger than the memory.
    const pages = listPages(store.bucket(word), { prefix, delimiter });
    for await (const { objects, prefixes } of pages) {
      for (const group of prefixes) {
        print(invocation, { prefix: group }, `${prefixColumns}  ${group}`);
      }
      for (const object of objects) {
        const json = toObjectJson(object);
        const size = String(object.size).padStart(sizeWidth);
        print(invocation, json, `${size}  ${json.uploaded.slice(0, 19)}Z  ${object.key}`);
      }
    }
  },
});

export const head = storeCommand({
  name: "head",
  summary: "Shows the metadata of an object",
  arguments: [objectArgument],

  async run(invocation, store, word) {
    const address = parseAddress(word);
    const record = await headObject(store.bucket(address.bucket), address.key);
    if (record === null) throw objectNotFound(address);
    const json = toObjectJson(record);
    print(invocation, json, formatTable(metadataRows(json)));
  },
});

function metadataRows(object: ReturnType<typeof toObjectJson>): string[][] {
  const { httpMetadata, customMetadata, checksums, s3Checksums = {}, ...rest } = object;
  const rows = Object.entries({ ...rest, ...httpMetadata });
  return [
    ...rows.map(([name, value]) => [name, String(value)]),
    ...Object.entries({ ...checksums, ...s3Checksums }).map(([name, value]) => [name, value]),
    ...Object.entries(customMetadata).map(([name, value]) => [`custom: ${name}`, value]),
  ];
}

export const get = storeCommand({
  name: "get",
  summary: "Writes an object to a file",
  arguments: [
    objectArgument,
    ["[FILE]", 'The file; "-" is standard output; by default the last part of the key'],
  ],
  examples: ["ledge store get photos/cat.png", "ledge store get photos/notes.txt - | wc"],

  async run(invocation, store, word, file?: string) {
    const address = parseAddress(word);
    const { key } = address;
    const target = file ?? key.slice(key.lastIndexOf("/") + 1);
    if (file === undefined && !isPlainPath(target)) {
      throw new UsageError(`"${key}" does not end in the name of a file: say which FILE to write.`);
    }
    const object = await fetchObject(store.bucket(address.bucket), key, async (fetched) => {
      await (target === "-" ? printObject(fetched) : saveObject(resolve(target), fetched));
      return fetched.object;
    });
    if (object === null) throw objectNotFound(address);
    if (target === "-") return;
    print(invocation, toObjectJson(object), `${target}: ${formatBytes(object.size)}`);
  },
});

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
  arguments: [objectArgument, ["FILE", 'The file; "-" is standard input']],
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
    const { bucket: bucketWord, key } = parseAddress(word);
    // The name of the file decides where the key has no known ending.
    const guesses = [key, ...(file === "-" ? [] : [file])].map(guessMetadata);
    const guess = guesses.find(({ contentType }) => contentType !== undefined);
    const http = { ...guess, ...httpOptions(invocation) };
    const custom = invocation.pairs("metadata", "=") ?? {};
    const bucket = store.bucket(bucketWord);
    const storageClass =
      invocation.text<StorageClass>("storage-class") ?? bucket.known.storageClass;
    const record = await withInputFile(file, (path) => {
      const content = FileContent.of(path);
      const progress = new Progress(key, content.size);
      const onBytes = (count: number): void => progress.moveTo(count);
      return putFile(bucket, { key, http, custom, storageClass }, content, { onBytes }).finally(
        () => progress.end(),
      );
    });
    printWritten(invocation, bucket, { http, custom, ...record });
  },
});

function printWritten(invocation: Invocation, bucket: Bucket, record: ObjectRecord): void {
  const { key, size, etag } = record;
  const text = `${bucket.name}/${key}: ${formatBytes(size)}, etag ${etag}`;
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
  summary: "Deletes objects",
  details: "A missing object is no error.",
  arguments: [["BUCKET/KEY...", "The objects; with --prefix, the bucket"]],
  options: { "--prefix PREFIX": "Deletes all keys with this prefix", ...dryRunOption },
  examples: ["ledge store delete photos/cat.png", "ledge store delete photos --prefix 2025/"],

  async run(invocation, store, ...words) {
    const [first = ""] = words;
    const prefix = invocation.text("prefix");
    const dryRun = invocation.flag("dry-run");
    if (prefix !== undefined && (words.length > 1 || first.includes("/"))) {
      throw new UsageError("With --prefix, name the bucket alone: BUCKET --prefix PREFIX.");
    }
    const deleted =
      prefix === undefined
        ? await deleteKeys(store, words.map(parseAddress), dryRun)
        : await deletePrefix(store.bucket(first), prefix, dryRun);
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
    if (dryRun) continue;
    for (let start = 0; start < keys.length; start += deleteKeysMax) {
      await bucket.call({ method: "delete", keys: keys.slice(start, start + deleteKeysMax) });
    }
  }
  return deleted;
}

export const copy = storeCommand({
  name: "cp",
  summary: "Copies an object with its metadata",
  arguments: [
    ["BUCKET/KEY", "The object to copy"],
    ["BUCKET/KEY", "The copy"],
  ],
  options: { [storageClassOption]: "Standard or InfrequentAccess (default: the object's)" },
  choices: storageClassChoices,
  examples: ["ledge store cp photos/cat.png archive/2026/cat.png"],

  async run(invocation, store, ...words) {
    const [source, target] = words.map(parseAddress) as [ObjectAddress, ObjectAddress];
    const from = store.bucket(source.bucket);
    const bucket = store.bucket(target.bucket);
    let progress: Progress | undefined;
    const record = await copyAcross({
      from: { bucket: from, key: source.key },
      to: { bucket, key: target.key },
      storageClass: invocation.text<StorageClass>("storage-class"),
      onBytes: (count, size) => {
        progress ??= new Progress(target.key, size);
        progress.moveTo(count);
      },
    }).finally(() => progress?.end());
    if (record === null) throw objectNotFound(source);
    printWritten(invocation, bucket, record);
  },
});

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

export interface HttpMetadataJson extends Omit<HttpMetadata, "cacheExpiry"> {
  /** ISO 8601 */
  readonly cacheExpiry?: string;
}

/** An object as `--json` prints it and as a manifest holds it, with the names of the binding. */
export function toObjectJson(record: ObjectRecord) {
  const { key, size, etag, version, uploaded, checksums, s3Checksums, storageClass } = record;
  const { cacheExpiry, ...text } = record.http ?? {};
  return {
    key,
    size,
    etag,
    version,
    uploaded: new Date(uploaded).toISOString(),
    httpMetadata: {
      ...text,
      ...(cacheExpiry !== undefined && { cacheExpiry: new Date(cacheExpiry).toISOString() }),
    },
    customMetadata: record.custom ?? {},
    checksums,
    s3Checksums,
    storageClass,
  };
}

export function fromHttpJson({ cacheExpiry, ...text }: HttpMetadataJson): HttpMetadata {
  return { ...text, ...(cacheExpiry !== undefined && { cacheExpiry: Date.parse(cacheExpiry) }) };
}
