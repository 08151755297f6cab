/**
 * What the transfers of many objects have in common: `import`, `export`, and `cp -r`, `mv -r` and `sync`
 * (`copy.ts`), between a bucket and a folder or another bucket.
 *
 * What is the same already is skipped, so a transfer that was stopped continues when it is run again. The
 * failure of one object does not stop the others. Only `mv` removes sources, after their transfer, and only
 * `--delete` of `sync` removes what the source does not have, unless there was a failure.
 */
import { rm } from "node:fs/promises";
import { mapConcurrent } from "../../base/concurrency.ts";
import { counted, escapeControls, formatBytes } from "../../base/format.ts";
import type { Progress } from "../../base/progress.ts";
import { UserError } from "../../base/user-error.ts";
import { validateKey } from "../../store/core/key.ts";
import type { DescribedObject, StorageClass } from "../../store/core/operations.ts";
import { asUserError, deleteMoved, listPages } from "../../store/node/bucket-objects.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { FileContent } from "../../store/node/file-content.ts";
import { exitCode, type Invocation } from "../command.ts";
import { print, printRemark, shown } from "../output.ts";
import { deleteAll } from "./objects.ts";
import type { OpenBucket } from "./open-store.ts";

/** The objects of a bucket whose keys begin with a prefix. */
export interface Tree {
  readonly bucket: OpenBucket;
  readonly prefix: string;
}

export interface TreeOptions {
  /** What the progress line says. */
  readonly label: string;
  /** Of objects that nothing else describes. Default: the bucket's, or the source's */
  readonly storageClass?: StorageClass;
  /** Whether every file must exist that the manifest of a folder names. */
  readonly isComplete?: boolean;
  /** Whether the target is made equal: same content is the same, whatever its metadata are. */
  readonly isSync?: boolean;
  /** Whether objects or files are deleted that the source does not have. */
  readonly deletes?: boolean;
  /** Whether nothing is changed: `TransferResult.planned` says what would be. */
  readonly dryRun?: boolean;
  /** Gets a function for each transfer, which removes its source and returns why it does not. */
  readonly removals?: Removal[];
}

export type Removal = () => Promise<string | null>;

export interface TransferResult {
  transferred: number;
  /** Files or objects that were the same already. */
  unchanged: number;
  bytes: number;
  /** Objects or files that the source does not have. */
  deleted?: number;
  readonly failures: { readonly name: string; readonly message: string }[];
  /** Of a dry run: `copy photos/a`, `delete photos/b`. */
  readonly planned?: readonly string[];
}

/** The outcome for one object: a number of bytes is a transfer, `"gone"` is not counted. */
export type TransferOutcome = number | "unchanged" | "gone";

const concurrencyMax = 64;

/** Transfers every item. The failure of one item does not stop the others. */
export async function transferAll<Item>(
  items: AsyncIterable<Item>,
  {
    nameOf,
    transfer,
    progress,
    planned,
  }: {
    readonly nameOf: (item: Item) => string;
    /** @throws UserError when this item fails; other errors end the whole transfer */
    readonly transfer: (item: Item) => Promise<TransferOutcome>;
    readonly progress: Progress;
    /** Of a dry run: where the item would go. */
    readonly planned?: (item: Item) => string;
  },
): Promise<TransferResult> {
  const result: TransferResult = { transferred: 0, unchanged: 0, bytes: 0, failures: [] };
  const plans: string[] = [];
  await mapConcurrent(items, concurrencyMax, async (item) => {
    try {
      const outcome = await asUserError(transfer(item));
      if (outcome === "gone") return;
      if (outcome === "unchanged") result.unchanged++;
      else {
        result.transferred++;
        result.bytes += outcome;
        if (planned !== undefined) plans.push(`copy ${planned(item)}`);
      }
      progress.add(outcome === "unchanged" ? 0 : outcome);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      result.failures.push({ name: nameOf(item), message: error.message });
    }
  }).finally(() => progress.end());
  return planned === undefined ? result : { ...result, planned: plans.sort() };
}

export function reportTransfer(
  invocation: Invocation,
  verb: "Imported" | "Exported" | "Copied" | "Moved",
  result: TransferResult,
): number {
  const { transferred, unchanged, bytes, deleted, failures, planned } = result;
  for (const { name, message } of failures) printRemark(`${escapeControls(name)}: ${message}`);
  const copied = `${counted(transferred, "object")}, ${formatBytes(bytes)}`;
  const sentence = [
    planned === undefined ? `${verb} ${copied}.` : `Would copy ${copied}.`,
    unchanged === 0 ? "" : `${unchanged} unchanged.`,
    deleted === undefined ? "" : `${deleted} ${planned === undefined ? "" : "to be "}deleted.`,
    failures.length === 0 ? "" : `${failures.length} failed.`,
  ].filter((part) => part !== "");
  print(invocation, result, [...(planned ?? []).map(shown), sentence.join(" ")].join("\n"));
  return failures.length === 0 ? exitCode.done : exitCode.failed;
}

/** @throws UserError */
export function checkKey(key: string): void {
  try {
    validateKey(key);
  } catch {
    throw new UserError("The key is longer than 1024 bytes.");
  }
}

/** Deletes what the source does not have, unless a failure has hidden what the source has. */
export async function deleteOthers(
  result: TransferResult,
  { deletes, dryRun }: TreeOptions,
  deleteThem: () => Promise<string[]>,
): Promise<TransferResult> {
  if (deletes !== true) return result;
  if (result.failures.length > 0) {
    printRemark("Nothing was deleted, because not everything could be copied.");
    return { ...result, deleted: 0 };
  }
  const deleted = await deleteThem();
  const planned = deleted.map((name) => `delete ${name}`);
  return {
    ...result,
    deleted: deleted.length,
    ...(dryRun === true && { planned: [...(result.planned ?? []), ...planned] }),
  };
}

export async function deleteOtherKeys(
  { bucket, prefix }: Tree,
  kept: ReadonlySet<string>,
  dryRun: boolean,
): Promise<string[]> {
  const deleted: string[] = [];
  for await (const { objects } of listPages(bucket, { prefix })) {
    const keys = objects.map(({ key }) => key).filter((key) => !kept.has(key));
    if (!dryRun) await deleteAll(bucket, keys);
    deleted.push(...keys.map((key) => `${bucket.name}/${key}`));
  }
  return deleted;
}

/** @param modified when the file was read */
export async function removeMovedFile(path: string, modified: number): Promise<string | null> {
  if (FileContent.of(path).modified !== modified) {
    return `${path} was changed while it was moved, and stays where it is.`;
  }
  await rm(path);
  return null;
}

export async function removeMovedObject(
  bucket: Bucket,
  source: DescribedObject,
): Promise<string | null> {
  if (await deleteMoved(bucket, source)) return null;
  return `"${source.key}" was replaced while it was moved. The new object stays where it is.`;
}
