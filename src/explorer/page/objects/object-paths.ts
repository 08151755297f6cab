/**
 * Keys and prefixes as paths. A folder is a prefix that ends in the delimiter, or the empty prefix. The
 * target of a copy, a move or a rename is a key or a folder, by the rules of `CopyTask`.
 */
import { delimiter } from "../../api/object-list-url.ts";
import type { ObjectSelection } from "../../api/tasks.ts";

/** A prefix, as the folder and what a person typed to search in this folder. */
export interface FolderSearch {
  readonly folder: string;
  readonly text: string;
}

export function splitPrefix(prefix: string): FolderSearch {
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

export interface Breadcrumb {
  readonly name: string;
  readonly prefix: string;
}

/** The folders that lead to a folder, and the folder. The bucket is not among them. */
export function breadcrumbs(folder: string): readonly Breadcrumb[] {
  const crumbs: Breadcrumb[] = [];
  let start = 0;
  for (let end = folder.indexOf(delimiter); end !== -1; end = folder.indexOf(delimiter, start)) {
    crumbs.push({ name: folder.slice(start, end), prefix: folder.slice(0, end + 1) });
    start = end + 1;
  }
  return crumbs;
}

/** In bytes of UTF-8, as the store has it. */
const keyBytesMax = 1024;

type Target = { readonly key: string } | { readonly problem: string };

/** Whether the target is the key of one object, and not a folder for all that is selected. */
export function hasKeyTarget({ keys, prefixes }: ObjectSelection): boolean {
  return keys.length === 1 && prefixes.length === 0;
}

/**
 * @param typed what a person typed: a key, or a folder with or without the delimiter at its end. One
 *   object keeps its name if the target is a folder.
 */
export function copyTarget(
  selection: ObjectSelection,
  to: { readonly bucket: string; readonly typed: string },
): Target {
  const { typed } = to;
  const isSameBucket = to.bucket === selection.bucket;
  const [source] = selection.keys;
  if (source !== undefined && hasKeyTarget(selection)) {
    const isFolder = typed === "" || typed.endsWith(delimiter);
    const key = isFolder && typed !== source ? typed + lastSegment(source) : typed;
    if (isSameBucket && key === source) {
      return {
        problem: "The object has this key already. Enter another key or choose another bucket.",
      };
    }
    return checked(key);
  }
  const folder = typed === "" || typed.endsWith(delimiter) ? typed : typed + delimiter;
  const isInside = selection.prefixes.some((prefix) => folder.startsWith(prefix));
  if (isSameBucket && isInside) {
    return { problem: "A folder cannot go into itself. Enter another folder." };
  }
  const paths = [...selection.keys, ...selection.prefixes];
  if (isSameBucket && paths.some((path) => parentFolder(path) === folder)) {
    return {
      problem:
        "The objects are in this folder already. Enter another folder or choose another bucket.",
    };
  }
  return checked(folder);
}

function checked(key: string): Target {
  const bytes = new TextEncoder().encode(key).length;
  if (bytes <= keyBytesMax) return { key };
  return {
    problem: `A key has at most ${keyBytesMax} bytes, and this key has ${bytes}. Enter a shorter key.`,
  };
}
