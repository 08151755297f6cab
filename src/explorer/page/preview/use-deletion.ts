/** Deletes an object, with a notice that undoes the deletion until the deletion begins. */
import type { NewTask, Task } from "../../api/tasks.ts";
import { undoMilliseconds } from "../../api/tasks.ts";
import { callApi, type ApiCallError } from "../api-client.ts";
import { useNotices } from "../state/notices.ts";

interface Deletion {
  readonly bucket: string;
  readonly key: string;
  /** When the deletion is asked for, cancelled, and done. */
  readonly onChanged: () => void;
}

/** @returns whether the server has accepted the deletion */
export function useDeletion(): (deletion: Deletion) => Promise<boolean> {
  const notices = useNotices();
  const showProblem = (error: ApiCallError): void => {
    notices.show(error.message, { tone: "problem" });
  };
  return async ({ bucket, key, onChanged }) => {
    const json: NewTask = { kind: "delete", bucket, keys: [key], prefixes: [] };
    let task: Task;
    try {
      task = await callApi<Task>("/api/tasks", { method: "POST", json });
    } catch (error) {
      showProblem(error as ApiCallError);
      return false;
    }
    const watch = setTimeout(() => {
      watchEnd(task.id).then(({ failures: [failure] }) => {
        if (failure !== undefined) {
          notices.show(`Cannot delete ${key}: ${failure.message}`, { tone: "problem" });
        }
        onChanged();
      }, showProblem);
    }, undoMilliseconds);
    notices.show(`${key} is deleted in ten seconds.`, {
      milliseconds: undoMilliseconds,
      action: {
        label: "Undo",
        act: () => {
          clearTimeout(watch);
          callApi<Task>(`/api/tasks/${encodeURIComponent(task.id)}`, { method: "DELETE" }).then(
            ({ state }) => {
              notices.show(
                state === "cancelled"
                  ? `${key} is not deleted.`
                  : `${key} was deleted before the deletion could be undone.`,
                { tone: state === "cancelled" ? "plain" : "problem" },
              );
              onChanged();
            },
            showProblem,
          );
        },
      },
    });
    onChanged();
    return true;
  };
}

/** How often the state of a deletion that goes on is read. */
const pollMilliseconds = 500;

async function watchEnd(id: string): Promise<Pick<Task, "failures">> {
  for (;;) {
    const tasks = await callApi<readonly Task[]>("/api/tasks");
    const task = tasks.find((other) => other.id === id);
    // The server forgets tasks that ended a while ago.
    if (task === undefined) return { failures: [] };
    if (task.state !== "waiting" && task.state !== "running") return task;
    await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
  }
}
