/** What the page says about tasks. */
import type { ObjectSelection, Task } from "../../api/tasks.ts";
import { countedNoun } from "./format.ts";

export function isActive({ state }: Task): boolean {
  return state === "waiting" || state === "running";
}

/** Seconds until a waiting task begins. */
export function secondsLeft(task: Task, now: number): number {
  return Math.max(0, Math.ceil((task.begins - now) / 1000));
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

const verbs: Readonly<Record<Task["kind"], { readonly doing: string; readonly did: string }>> = {
  delete: { doing: "Deleting", did: "Deleted" },
  deleteRecords: { doing: "Deleting", did: "Deleted" },
  copy: { doing: "Copying", did: "Copied" },
  move: { doing: "Moving", did: "Moved" },
};

/** "Deleting 3 objects of photos", "Deleting 1 folder (12 objects in all) of photos", "Deleting A www.example.org" */
export function taskTitle(task: Task): string {
  return `${verbs[task.kind].doing} ${subjectOf(task)}`;
}

function subjectOf(task: Task): string {
  if (task.kind !== "deleteRecords") {
    const hasTotal = task.prefixes.length > 0 && task.total !== null;
    const total = hasTotal ? ` (${countedNoun(task.total ?? 0, "object")} in all)` : "";
    return `${describeSelection(task)}${total} of ${task.bucket}`;
  }
  const [first, ...others] = task.records;
  if (first !== undefined && others.length === 0) return `${first.type} ${first.name}`;
  return `${countedNoun(task.records.length, "record")} of ${task.zoneName}`;
}

/** What an ended task did: "Moved 12 objects, and 2 objects failed." */
export function taskOutcome(task: Task): string {
  const { did } = verbs[task.kind];
  const noun = task.kind === "deleteRecords" ? "record" : "object";
  if (task.state === "cancelled" && task.done === 0) {
    return `Cancelled: no ${noun} was ${did.toLowerCase()}.`;
  }
  const failed = task.failed === 0 ? "" : `, and ${countedNoun(task.failed, noun)} failed`;
  const cancelled = task.state === "cancelled" ? " before the task was cancelled" : "";
  return `${did} ${countedNoun(task.done, noun)}${cancelled}${failed}.`;
}
