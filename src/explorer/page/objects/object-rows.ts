/**
 * The rows of a page of a list: folders first, then objects in the order that a person chose; what a row
 * says about itself; and where the next page begins.
 */
import type { ListedObject, ObjectPage } from "../../api/buckets.ts";
import type { ObjectSelection, ObjectTask, Task } from "../../api/tasks.ts";
import { countedNoun } from "../frame/format.ts";
import { isActive } from "../frame/task-words.ts";
import type { ObjectSort } from "../location.ts";

export type ObjectRow =
  | { readonly kind: "folder"; readonly id: string; readonly path: string }
  | {
      readonly kind: "object";
      readonly id: string;
      readonly path: string;
      readonly object: ListedObject;
    };

export type SortColumn = "key" | "size" | "uploaded";

/**
 * The server sorts by key, in an order of bytes that text comparison in a browser does not have.
 * Objects with an equal size or time stay in this order.
 */
export function objectRows(page: ObjectPage, sort: ObjectSort): readonly ObjectRow[] {
  const folders = page.folders.map((path): ObjectRow => ({
    kind: "folder",
    id: folderId(path),
    path,
  }));
  const { column, isDescending } = parseSort(sort);
  const objects =
    column === "key"
      ? page.objects
      : page.objects.toSorted((left, right) =>
          isDescending ? right[column] - left[column] : left[column] - right[column],
        );
  const rows = objects.map((object): ObjectRow => ({
    kind: "object",
    id: `object ${object.key}`,
    path: object.key,
    object,
  }));
  return sort === "-key" ? [...folders.toReversed(), ...rows.toReversed()] : [...folders, ...rows];
}

export function folderId(path: string): string {
  return `folder ${path}`;
}

function parseSort(sort: ObjectSort): {
  readonly column: SortColumn;
  readonly isDescending: boolean;
} {
  return {
    column: sort.replace("-", "") as SortColumn,
    isDescending: sort.startsWith("-"),
  };
}

/** The order after a click on the header of a column: the other direction, or the column's usual direction. */
export function nextSort(sort: ObjectSort, column: SortColumn): ObjectSort {
  const current = parseSort(sort);
  if (current.column === column) return current.isDescending ? column : `-${column}`;
  // The largest and the newest objects are what people look for.
  return column === "key" ? "key" : `-${column}`;
}

export function selectionOf(bucket: string, rows: readonly ObjectRow[]): ObjectSelection {
  const paths = (kind: ObjectRow["kind"]): readonly string[] =>
    rows.filter((row) => row.kind === kind).map(({ path }) => path);
  return { bucket, keys: paths("object"), prefixes: paths("folder") };
}

/** "10 folders, 15 objects" */
export function countRows(rows: readonly ObjectRow[]): string {
  const folders = rows.filter(({ kind }) => kind === "folder").length;
  const objects = rows.length - folders;
  const counts = folders === 0 ? [] : [countedNoun(folders, "folder")];
  if (objects > 0 || folders === 0) counts.push(countedNoun(objects, "object"));
  return counts.join(", ");
}

/** The content type without parameters. */
export function rowType(row: ObjectRow): string {
  return row.kind === "folder" ? "Folder" : (row.object.contentType?.split(";", 1)[0] ?? "").trim();
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
  if (row.kind === "folder") return "folder";
  const type = rowType(row).toLowerCase();
  const subject = /^$|octet-stream$/.test(type) ? row.path.toLowerCase() : type;
  return icons.find(([pattern]) => pattern.test(subject))?.[1] ?? "file";
}

/** Finds the deletion, if any, that deletes an object or a folder of a bucket. */
export function deletionFinder(
  tasks: readonly Task[],
  bucket: string,
): (row: Pick<ObjectRow, "kind" | "path">) => Task | undefined {
  const deletions = tasks
    .filter((task): task is ObjectTask => task.kind === "delete" && isActive(task))
    .filter((task) => task.bucket === bucket)
    .map((task) => ({ task, keys: new Set(task.keys) }));
  return ({ kind, path }) =>
    deletions.find(
      ({ task, keys }) =>
        (kind === "object" && keys.has(path)) ||
        task.prefixes.some((prefix) => path.startsWith(prefix)),
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
  const [leftPoints, rightPoints] = [Array.from(left), Array.from(right)];
  for (const [index, point] of leftPoints.entries()) {
    const other = rightPoints[index];
    if (other === undefined) return true;
    const difference = (point.codePointAt(0) as number) - (other.codePointAt(0) as number);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

/**
 * The keys in the last folder of a page come after the folder, so the server lists this folder on the
 * next page again.
 */
export function withoutRepeatedFolder(page: ObjectPage, after: string): ObjectPage {
  return page.folders[0] === after ? { ...page, folders: page.folders.slice(1) } : page;
}
