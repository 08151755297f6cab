/** Keys and prefixes as paths. A folder is a prefix that ends in the delimiter, or the empty prefix. */
import { delimiter } from "../../api/object-list-url.ts";
import type { ObjectSelection } from "../../api/tasks.ts";

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
  const isFolder = typed === "" || typed.endsWith(delimiter);
  if (!hasKeyTarget(selection)) return isFolder ? typed : typed + delimiter;
  const [source = ""] = selection.keys;
  return isFolder && typed !== source ? typed + lastSegment(source) : typed;
}
