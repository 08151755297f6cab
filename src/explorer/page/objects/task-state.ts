/** Which rows tasks delete. */
import type { ObjectTask, Task } from "../../api/tasks.ts";
import { isActive } from "../frame/task-words.ts";
import type { ObjectRow } from "./object-rows.ts";

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
