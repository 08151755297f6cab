/** Prefixes as folders. A folder is a prefix that ends in the delimiter, or the empty prefix. */
import { delimiter } from "../../api/object-list-url.ts";

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
