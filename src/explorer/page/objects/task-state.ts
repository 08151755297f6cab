/** Tasks as the page shows them: which are active, which rows they delete, and what they did. */
import type { NewTask, ObjectSelection, Task } from "../../api/tasks.ts";
import type { ObjectRow } from "./object-rows.ts";

export function isActive(task: Task): boolean {
  return task.state === "waiting" || task.state === "running";
}

/** What a task is about: "3 objects", "1 folder and 2 objects". */
export function describeSelection({
  keys,
  prefixes,
}: Pick<ObjectSelection, "keys" | "prefixes">): string {
  const parts = [];
  if (prefixes.length > 0) parts.push(countedNoun(prefixes.length, "folder"));
  if (keys.length > 0 || prefixes.length === 0) parts.push(countedNoun(keys.length, "object"));
  return parts.join(" and ");
}

export function countedNoun(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

const counts = new Intl.NumberFormat("en");

export function formatCount(count: number): string {
  return counts.format(count);
}

const verbs: Readonly<Record<NewTask["kind"], { readonly doing: string; readonly did: string }>> = {
  delete: { doing: "Deleting", did: "Deleted" },
  copy: { doing: "Copying", did: "Copied" },
  move: { doing: "Moving", did: "Moved" },
};

/** "Deleting 3 objects" */
export function taskTitle(task: Pick<Task, "kind" | "keys" | "prefixes">): string {
  return `${verbs[task.kind].doing} ${describeSelection(task)}`;
}

/** What an ended task did: "Moved 12 objects, and 2 objects failed." */
export function taskOutcome(task: Task): string {
  const { did } = verbs[task.kind];
  if (task.state === "cancelled" && task.done === 0)
    return `Cancelled: no object was ${did.toLowerCase()}.`;
  const failed = task.failed === 0 ? "" : `, and ${countedNoun(task.failed, "object")} failed`;
  const cancelled = task.state === "cancelled" ? " before the task was cancelled" : "";
  return `${did} ${countedNoun(task.done, "object")}${cancelled}${failed}.`;
}

/** Seconds until a waiting task begins. */
export function secondsLeft(task: Task, now: number): number {
  return Math.max(0, Math.ceil((task.begins - now) / 1000));
}

/** Finds the deletion, if any, that deletes an object or a folder of a bucket. */
export function deletionFinder(
  tasks: readonly Task[],
  bucket: string,
): (row: Pick<ObjectRow, "kind" | "path">) => Task | undefined {
  const deletions = tasks
    .filter((task) => task.kind === "delete" && task.bucket === bucket && isActive(task))
    .map((task) => ({ task, keys: new Set(task.keys) }));
  return ({ kind, path }) =>
    deletions.find(
      ({ task, keys }) =>
        (kind === "object" && keys.has(path)) ||
        task.prefixes.some((prefix) => path.startsWith(prefix)),
    )?.task;
}
