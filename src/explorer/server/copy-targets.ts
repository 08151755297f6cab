/** Where the objects of a copy or of a move go, and which requests cannot be fulfilled. */
import type { CopyTask, ObjectSelection } from "../api/tasks.ts";
import { quoted } from "./bucket-access.ts";
import { CallError } from "./call.ts";

/**
 * The selection without what is named twice: keys in selected folders, and folders in selected
 * folders.
 *
 * @throws CallError for a selection without objects, and for a folder without a name
 */
export function plainSelection<Selection extends Pick<ObjectSelection, "keys" | "prefixes">>(
  selection: Selection,
): Selection {
  const { keys, prefixes } = selection;
  if (keys.length === 0 && prefixes.length === 0) {
    throw new CallError(400, "The request names no objects and no folders.");
  }
  // All objects of a bucket would be below it: more than a person has selected.
  if (prefixes.includes("")) throw new CallError(400, "The name of a folder must not be empty.");
  const folders = new Set(prefixes);
  const isInside = (text: string, isFolder: boolean): boolean => {
    if (folders.size === 0) return false;
    const end = isFolder ? text.length - 1 : text.length;
    for (let length = 1; length <= end; length++) {
      if (folders.has(text.slice(0, length))) return true;
    }
    return false;
  };
  return {
    ...selection,
    keys: [...new Set(keys)].filter((key) => !isInside(key, false)),
    prefixes: [...folders].filter((prefix) => !isInside(prefix, true)),
  };
}

/**
 * @param task with a plain selection
 * @returns the key of the copy of each object
 * @throws CallError when a target is its own source, when a folder would be in itself, and when two
 *   sources have one target
 */
export function copyTargets(task: CopyTask): (key: string) => string {
  const { keys, prefixes, to, kind } = task;
  const verb = kind === "copy" ? "copied" : "moved";
  const isSameBucket = task.bucket === to.bucket;
  const [only] = keys;
  const isSingle = keys.length === 1 && prefixes.length === 0;
  const taken = new Set<string>();
  for (const source of [...keys, ...prefixes]) {
    const target = isSingle ? to.key : to.key + lastSegment(source);
    if (isSameBucket && target === source) {
      throw new CallError(409, `${quoted(source)} is there already. Choose another place.`);
    }
    if (taken.has(target)) {
      throw new CallError(
        409,
        `Two of the selected names end in "${lastSegment(source)}", and would both be ` +
          `${quoted(target)}. Choose one of them.`,
      );
    }
    taken.add(target);
  }
  for (const prefix of isSameBucket ? prefixes : []) {
    if (!(to.key + lastSegment(prefix)).startsWith(prefix)) continue;
    throw new CallError(409, `The folder ${quoted(prefix)} cannot be ${verb} into itself.`);
  }
  if (isSingle) return (key) => (key === only ? to.key : to.key + lastSegment(key));
  const moved = prefixes.map((prefix) => [prefix, to.key + lastSegment(prefix)] as const);
  return (key) => {
    const found = moved.find(([prefix]) => key.startsWith(prefix));
    if (found === undefined) return to.key + lastSegment(key);
    const [prefix, target] = found;
    return target + key.slice(prefix.length);
  };
}

/** `c` of `a/b/c`, and `b/` of `a/b/`. */
export function lastSegment(path: string): string {
  return path.slice(path.replace(/\/$/, "").lastIndexOf("/") + 1);
}
