/**
 * `ledge store cp`, `mv` and `sync`: from files to buckets, from buckets to files, and between buckets.
 *
 * A word names a place in a bucket if its first part is a bucket, as in `photos/cat.png`, or if it begins
 * with `s3://`. Every other word is a path, and so is a word that begins with `/`, `./` or `../`. A folder
 * is copied as its content, without its own name, and a prefix of keys is a folder.
 */
import { basename, posix } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { mapConcurrent } from "../../base/concurrency.ts";
import { escapeControls } from "../../base/format.ts";
import { Progress } from "../../base/progress.ts";
import { NotFoundError } from "../../base/user-error.ts";
import type { DescribedObject, ObjectRecord, StorageClass } from "../../store/core/operations.ts";
import { copyAcross, headObject, listPages } from "../../store/node/bucket-objects.ts";
import { FileContent } from "../../store/node/file-content.ts";
import { exitCode, UsageError, type Invocation } from "../command.ts";
import { printRemark } from "../output.ts";
import { getObject, isFolder, notFolder, printWritten, putObject } from "./objects.ts";
import {
  findBucket,
  knownBucket,
  objectNotFound,
  parseAddress,
  splitAddress,
  storageClassChoices,
  storageClassOption,
  storeCommand,
  type OpenBucket,
  type OpenStore,
} from "./open-store.ts";
import { exportTree } from "./export.ts";
import { importTree } from "./import.ts";
import {
  checkKey,
  deleteOtherKeys,
  deleteOthers,
  removeMovedFile,
  removeMovedObject,
  reportTransfer,
  transferAll,
  type Removal,
  type TransferResult,
  type Tree,
  type TreeOptions,
} from "./transfer.ts";

const placeSummary = "BUCKET/KEY, or the path of a file";
const transferArguments = [
  ["SOURCE...", `${placeSummary}; several for a folder`],
  ["TARGET", `${placeSummary}; with a slash at its end, a folder`],
] as const;
const transferOptions = {
  "-r, --recursive": "Takes all that is in a folder, or all keys below a prefix",
  [storageClassOption]: "Standard or InfrequentAccess (default: the object's, or the bucket's)",
};

export const copy = storeCommand({
  name: "cp",
  summary: "Copies objects and files, between buckets and folders",
  details:
    "A word is in a bucket if it begins with the name of a bucket, otherwise it is a path; ./ makes it\n" +
    "a path in any case. A copied object has the metadata of its source. With -r, what is the same\n" +
    "already is skipped, and a folder gets .ledge-metadata.jsonl with the metadata, as by export.",
  arguments: transferArguments,
  options: transferOptions,
  choices: storageClassChoices,
  examples: [
    "ledge store cp photos/cat.png archive/2026/cat.png",
    "ledge store cp ./cat.png ./dog.png photos/pets/",
    "ledge store cp -r photos/2026 ./2026",
  ],
  run: (invocation, store, ...words) => transferWords(invocation, store, words, "Copied"),
});

export const move = storeCommand({
  name: "mv",
  summary: "Moves objects and files, between buckets and folders",
  details:
    "As cp, and each source is deleted after it was copied, unless it has changed meanwhile. Folders\n" +
    "stay, and may be empty.",
  arguments: transferArguments,
  options: transferOptions,
  choices: storageClassChoices,
  examples: [
    "ledge store mv photos/cat.png photos/2026/",
    "ledge store mv -r photos/2025 archive/",
  ],
  run: (invocation, store, ...words) => transferWords(invocation, store, words, "Moved"),
});

export const sync = storeCommand({
  name: "sync",
  summary: "Makes a bucket equal to a folder, or a folder to a bucket",
  details:
    "Copies what has another size or another MD5. As by export, a folder gets .ledge-metadata.jsonl\n" +
    "with the metadata of its objects, and a sync back restores them. Nothing is deleted if something\n" +
    "could not be copied.",
  arguments: [
    ["SOURCE", "BUCKET[/PREFIX], or a folder"],
    ["TARGET", "BUCKET[/PREFIX], or a folder"],
  ],
  options: {
    "--delete": "Deletes what the source does not have",
    "-n, --dry-run": "Prints what would be copied and deleted, and changes nothing",
  },
  examples: [
    "ledge store sync ./public photos/static",
    "ledge store sync photos ./backup --delete --dry-run",
  ],

  async run(invocation, store, source, target) {
    const [from, to] = placesOf(store, [source, target]) as [Place, Place];
    const result = await transferTree(from, to, {
      label: "Copying",
      isSync: true,
      deletes: invocation.flag("delete"),
      dryRun: invocation.flag("dry-run"),
    });
    return reportTransfer(invocation, "Copied", result);
  },
});

interface StorePlace {
  readonly bucket: OpenBucket;
  readonly key: string;
}

/** A file or a folder of the user; `-` is standard input or output. */
interface FilePlace {
  readonly path: string;
}

type Place = StorePlace | FilePlace;

const isPath = (word: string): boolean => /^(?:\.{0,2}\/|\.{1,2}$|-$)/.test(word);

/** @throws NotFoundError or UsageError when no place is in a bucket */
function placesOf(store: OpenStore, words: readonly string[]): Place[] {
  const { buckets } = store.project;
  const places = words.map((word): Place => {
    const { bucket, key } = splitAddress(word);
    const isBucket = word.startsWith("s3://") || knownBucket(buckets, bucket) !== undefined;
    return isBucket && !isPath(word) ? { bucket: store.bucket(bucket), key } : { path: word };
  });
  if (places.every((place) => "path" in place)) {
    const word = words.findLast((each) => !isPath(each));
    if (word !== undefined) findBucket(buckets, splitAddress(word).bucket);
    throw noBucket();
  }
  return places;
}

function noBucket(): UsageError {
  return new UsageError("The source or the target must be in a bucket: write BUCKET/KEY.");
}

function nameOf(place: Place): string {
  const name = "path" in place ? place.path : `${place.bucket.name}/${place.key}`;
  return `"${escapeControls(name)}"`;
}

async function transferWords(
  invocation: Invocation,
  store: OpenStore,
  words: readonly string[],
  verb: "Copied" | "Moved",
): Promise<number> {
  const sources = placesOf(store, words);
  const target = sources.pop() as Place;
  const removals: Removal[] = [];
  let code: number = exitCode.done;
  if (invocation.flag("recursive")) {
    const [source, ...more] = sources as [Place, ...Place[]];
    if (more.length > 0) throw new UsageError("With -r, name one SOURCE and one TARGET.");
    const label = verb === "Copied" ? "Copying" : "Moving";
    const storageClass = invocation.text<StorageClass>("storage-class");
    const result = await transferTree(source, target, { label, storageClass, removals });
    code = reportTransfer(invocation, verb, result);
  } else {
    const targets = sources.map((source) => targetOf(source, target, sources.length > 1));
    for (const [index, source] of sources.entries()) {
      removals.push(await transferOne(invocation, source, targets[index] as Place));
    }
  }
  if (verb === "Copied") return code;
  return (await removeAll(removals)) ? code : exitCode.failed;
}

/** The place of one object or file: in the target, if that is a folder. */
function targetOf(source: Place, target: Place, isFolderNeeded: boolean): Place {
  const isTree =
    "path" in source ? source.path !== "-" && isFolder(source.path) : source.key === "";
  if (isTree)
    throw new UsageError(`${nameOf(source)} is no file and no object: -r takes its content.`);
  if ("path" in target) {
    if ("path" in source) throw noBucket();
    if (isFolderNeeded && !isFolder(target.path)) throw notFolder(target.path);
    return target;
  }
  const { bucket } = target;
  const isWhole = target.key !== "" && !target.key.endsWith("/");
  if (isWhole && isFolderNeeded) throw notFolder(`${bucket.name}/${target.key}`);
  const name = "path" in source ? basename(source.path) : posix.basename(source.key);
  if (!isWhole && name === "-") {
    throw new UsageError("Standard input has no name: say which BUCKET/KEY to write.");
  }
  const { key } = parseAddress(`${bucket.name}/${target.key}${isWhole ? "" : name}`);
  if ("bucket" in source && source.bucket.name === bucket.name && source.key === key) {
    throw new UsageError(`${nameOf(source)} is the source and the target.`);
  }
  return { bucket, key };
}

/** @returns what removes the source */
async function transferOne(invocation: Invocation, source: Place, target: Place): Promise<Removal> {
  if ("path" in source) {
    const { path } = source;
    const { bucket, key } = target as StorePlace;
    const modified = path === "-" ? null : FileContent.of(path).modified;
    await putObject(invocation, bucket, key, path);
    return async () => (modified === null ? null : removeMovedFile(path, modified));
  }
  const object =
    "path" in target
      ? await getObject(invocation, source.bucket, source.key, target.path)
      : await copyObject(invocation, source, target);
  return () => removeMovedObject(source.bucket, object);
}

async function copyObject(
  invocation: Invocation,
  from: StorePlace,
  to: StorePlace,
): Promise<DescribedObject> {
  let progress: Progress | undefined;
  const copied = await copyAcross({
    from,
    to,
    storageClass: invocation.text<StorageClass>("storage-class"),
    onBytes: (count, size) => {
      progress ??= new Progress(to.key, size);
      progress.moveTo(count);
    },
  }).finally(() => progress?.end());
  if (copied === null) throw objectNotFound({ bucket: from.bucket.name, key: from.key });
  printWritten(invocation, to.bucket, copied.copy);
  return copied.source;
}

const removalsMax = 64;

/** @returns whether all sources were removed */
async function removeAll(removals: Iterable<Removal>): Promise<boolean> {
  let isComplete = true;
  await mapConcurrent(removals, removalsMax, async (remove) => {
    const problem = await remove();
    if (problem === null) return;
    isComplete = false;
    printRemark(problem);
  });
  return isComplete;
}

async function transferTree(
  source: Place,
  target: Place,
  options: TreeOptions,
): Promise<TransferResult> {
  if ("path" in target) {
    if ("path" in source) throw noBucket();
    const from = await filledTree(source);
    return exportTree(from, target.path, { ...options, base: from.prefix });
  }
  const to = treeOf(target);
  if ("path" in source) return importTree(source.path, to, options);
  const from = await filledTree(source);
  const isInside = from.prefix.startsWith(to.prefix) || to.prefix.startsWith(from.prefix);
  if (from.bucket.name === to.bucket.name && isInside) {
    throw new UsageError(`${nameOf(source)} and ${nameOf(target)} overlap: choose another target.`);
  }
  return copyTree(from, to, options);
}

/** A prefix is a folder: `photos/2026` is `photos/2026/`. */
function treeOf({ bucket, key }: StorePlace): Tree {
  return { bucket, prefix: key.replace(/(?<=[^/])$/, "/") };
}

/** A misspelt prefix has no objects, and must not look as if all of them were deleted. */
async function filledTree(place: StorePlace): Promise<Tree> {
  const tree = treeOf(place);
  const { bucket, prefix } = tree;
  if (prefix === "") return tree;
  for await (const _ of objectsOf(tree)) return tree;
  throw new NotFoundError(`There is no object below ${nameOf({ bucket, key: prefix })}.`);
}

/** From one bucket to another, or to other keys of the same bucket. */
async function copyTree(from: Tree, to: Tree, options: TreeOptions): Promise<TransferResult> {
  const { label, isSync = false, dryRun = false, removals, storageClass } = options;
  const keys = new Set<string>();
  const copyKey = ({ key }: ObjectRecord): string => to.prefix + key.slice(from.prefix.length);
  const result = await transferAll(objectsOf(from), {
    nameOf: ({ key }) => key,
    async transfer(object) {
      const key = copyKey(object);
      checkKey(key);
      keys.add(key);
      const current = await headObject(to.bucket, key);
      const expected = { ...object, storageClass: storageClass ?? object.storageClass };
      const isUnchanged = current !== null && isCopy(current, expected, isSync);
      const target = { bucket: to.bucket, key };
      const copied =
        isUnchanged || dryRun
          ? { source: object }
          : await copyAcross({
              from: { bucket: from.bucket, key: object.key },
              to: target,
              storageClass,
            });
      if (copied === null) return "gone";
      removals?.push(() => removeMovedObject(from.bucket, copied.source));
      return isUnchanged ? "unchanged" : copied.source.size;
    },
    progress: new Progress(label),
    planned: dryRun ? (object) => `${to.bucket.name}/${copyKey(object)}` : undefined,
  });
  return deleteOthers(result, options, () => deleteOtherKeys(to, keys, dryRun));
}

async function* objectsOf({ bucket, prefix }: Tree): AsyncGenerator<DescribedObject> {
  for await (const { objects } of listPages(bucket, { prefix })) yield* objects;
}

function isCopy(current: DescribedObject, source: DescribedObject, isSync: boolean): boolean {
  const { md5 } = source.checksums;
  const isSameContent =
    current.size === source.size &&
    (current.etag === source.etag ||
      // An upload in parts has no md5, and its copy has another etag.
      (md5 === undefined ? current.uploaded >= source.uploaded : current.checksums.md5 === md5));
  return isSameContent && (isSync || isDeepStrictEqual(described(current), described(source)));
}

function described({ http, custom, storageClass }: DescribedObject) {
  return { http, custom: { ...custom }, storageClass };
}
