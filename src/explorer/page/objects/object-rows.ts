/**
 * The rows of a page of a list: folders first, then objects in the order that a person chose; what a row
 * says about itself; where the next page begins; and keys and prefixes as paths. A folder is a prefix that
 * ends in the delimiter, or the empty prefix.
 */
import { type ListedObject, type ObjectPage, delimiter } from "../../api/buckets.ts";
import type { ObjectSelection, ObjectTask, Task } from "../../api/tasks.ts";
import { countedNoun } from "../frame/format.ts";
import { isActive } from "../frame/task-words.ts";
import type { ObjectSort } from "../location.ts";

export interface ObjectRow {
  readonly id: string;
  /** The key, or the prefix of a folder. */
  readonly path: string;
  /** `null` for a folder */
  readonly object: ListedObject | null;
}

export type SortColumn = "key" | "size" | "uploaded";

/**
 * The server sorts by key, in an order of bytes that text comparison in a browser does not have.
 * Objects with an equal size or time stay in this order.
 */
export function objectRows(page: ObjectPage, sort: ObjectSort): readonly ObjectRow[] {
  const folders = page.folders.map((path) => ({ id: folderId(path), path, object: null }));
  const column = columnOf(sort);
  const direction = sort.startsWith("-") ? -1 : 1;
  const objects =
    column === "key"
      ? page.objects
      : page.objects.toSorted((left, right) => direction * (left[column] - right[column]));
  const rows = objects.map((object) => ({ id: `object ${object.key}`, path: object.key, object }));
  return sort === "-key" ? [...folders.toReversed(), ...rows.toReversed()] : [...folders, ...rows];
}

export function folderId(path: string): string {
  return `folder ${path}`;
}

function columnOf(sort: ObjectSort): SortColumn {
  return sort.replace("-", "") as SortColumn;
}

/** The order after a click on the header of a column: the other direction, or the column's usual direction. */
export function nextSort(sort: ObjectSort, column: SortColumn): ObjectSort {
  // The largest and the newest objects are what people look for.
  const usual: ObjectSort = column === "key" ? "key" : `-${column}`;
  if (sort !== usual) return usual;
  return sort === column ? `-${column}` : column;
}

export function selectionOf(bucket: string, rows: readonly ObjectRow[]): ObjectSelection {
  const [folders, objects] = [rows.filter(isFolder), rows.filter((row) => !isFolder(row))];
  return {
    bucket,
    keys: objects.map(({ path }) => path),
    prefixes: folders.map(({ path }) => path),
  };
}

function isFolder({ object }: ObjectRow): boolean {
  return object === null;
}

/** "10 folders, 15 objects" */
export function countRows(rows: readonly ObjectRow[]): string {
  const folders = rows.filter(isFolder).length;
  const objects = rows.length - folders;
  const counts = folders === 0 ? [] : [countedNoun(folders, "folder")];
  if (objects > 0 || folders === 0) counts.push(countedNoun(objects, "object"));
  return counts.join(", ");
}

/** The content type without parameters. */
export function rowType({ object }: ObjectRow): string {
  return object === null ? "Folder" : (object.contentType ?? "").replace(/;.*/s, "").trim();
}

type RowIcon = "image" | "video" | "audio" | "json" | "archive" | "code" | "text";

/** Programs often leave out the content type, or say "bytes": the extension then tells. */
const icons: readonly (readonly [RegExp, RowIcon])[] = [
  [/^image\/|\.(?:png|jpe?g|gif|webp|avif|svg|ico)$/, "image"],
  [/^video\/|\.(?:mp4|webm|mov|mkv)$/, "video"],
  [/^audio\/|\.(?:mp3|wav|ogg|flac|m4a)$/, "audio"],
  [/json|\.(?:map|webmanifest)$/, "json"],
  [/zip|x-tar|zstd|compressed|\.(?:tar|tgz|gz|br|zst|7z|rar)$/, "archive"],
  [/script|html|css|xml|wasm|x-sh|sql|\.(?:[cm]?[jt]sx?|py|rs|go|sh|wasm)$/, "code"],
  [/^text\/|pdf|ya?ml|toml|\.(?:txt|md|csv|log|pdf|ini|conf)$/, "text"],
];

export function rowIcon(row: ObjectRow): RowIcon | "folder" | "file" {
  if (isFolder(row)) return "folder";
  const type = rowType(row).toLowerCase();
  const subject = /^$|octet-stream$/.test(type) ? row.path.toLowerCase() : type;
  return icons.find(([pattern]) => pattern.test(subject))?.[1] ?? "file";
}

/** Finds the deletion, if any, that deletes an object or a folder of a bucket. */
export function deletionFinder(
  tasks: readonly Task[],
  bucket: string,
): (path: string, isPrefix: boolean) => Task | undefined {
  const deletions = tasks
    .filter((task): task is ObjectTask => task.kind === "delete" && isActive(task))
    .filter((task) => task.bucket === bucket)
    .map((task) => ({ task, keys: new Set(task.keys) }));
  return (path, isPrefix) =>
    deletions.find(
      ({ task, keys }) =>
        (!isPrefix && keys.has(path)) || task.prefixes.some((prefix) => path.startsWith(prefix)),
    )?.task;
}

/** Where the next page begins: after the last key or folder of this page; `null` on the last page. */
export function nextAfter(page: ObjectPage): string | null {
  if (page.cursor === null) return null;
  const object = page.objects.at(-1)?.key;
  const folder = page.folders.at(-1);
  if (object === undefined || folder === undefined) return object ?? folder ?? null;
  return comesAfter(folder, object) ? folder : object;
}

/** Keys are in the order of their UTF-8 bytes, which is the order of their code points. */
function comesAfter(left: string, right: string): boolean {
  const others = Array.from(right);
  const index = Array.from(left).findIndex((point, at) => point !== others[at]);
  const [point, other] = [Array.from(left)[index], others[index]];
  return point !== undefined && (point.codePointAt(0) as number) > (other?.codePointAt(0) ?? -1);
}

/**
 * The keys in the last folder of a page come after the folder, so the server lists this folder on the
 * next page again.
 */
export function withoutRepeatedFolder(page: ObjectPage, after: string): ObjectPage {
  return page.folders[0] === after ? { ...page, folders: page.folders.slice(1) } : page;
}

/** A prefix, as the folder and what a person typed to search in this folder. */
export function splitPrefix(prefix: string): { readonly folder: string; readonly text: string } {
  const end = prefix.lastIndexOf(delimiter) + 1;
  return { folder: prefix.slice(0, end), text: prefix.slice(end) };
}

/** The name of a key or of a folder in its parent. A key that ends in the delimiter has a name too. */
export function lastSegment(path: string): string {
  return path.slice(path.slice(0, -1).lastIndexOf(delimiter) + 1);
}

/** The folder that has the key or the folder. */
export function parentFolder(path: string): string {
  return path.slice(0, path.length - lastSegment(path).length);
}

/** The folders that lead to a folder, and the folder. The bucket is not among them. */
export function breadcrumbs(folder: string) {
  const names = folder.split(delimiter).slice(0, -1);
  return names.map((name, index) => ({
    name,
    prefix: names.slice(0, index + 1).join(delimiter) + delimiter,
  }));
}

/** Whether the target is the key of one object, and not a folder for all that is selected. */
export function hasKeyTarget({ keys, prefixes }: ObjectSelection): boolean {
  return keys.length === 1 && prefixes.length === 0;
}

/**
 * The key of `CopyTask.to`. The server refuses what cannot be done.
 *
 * @param typed what a person typed: a key, or a folder with or without the delimiter at its end. One
 *   object keeps its name if the target is a folder.
 */
export function copyTarget(selection: ObjectSelection, typed: string): string {
  const isPrefix = typed === "" || typed.endsWith(delimiter);
  if (!hasKeyTarget(selection)) return isPrefix ? typed : typed + delimiter;
  const [source = ""] = selection.keys;
  return isPrefix && typed !== source ? typed + lastSegment(source) : typed;
}
