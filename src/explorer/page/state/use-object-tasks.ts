/** The tasks of the list of objects, and what is said about them. */
import { useRef, useState } from "preact/hooks";
import type { CopyTask, ObjectSelection, Task } from "../../api/tasks.ts";
import type { ApiCallError } from "../api-client.ts";
import { isActive, taskOutcome, taskTitle } from "../objects/task-state.ts";
import { useNotices } from "./notices.ts";
import { useTasks } from "./use-tasks.ts";

/** @param onChanged a task has changed objects */
export function useObjectTasks(onChanged: () => void) {
  const notices = useNotices();
  const [failures, setFailures] = useState<Task>();
  /** The notices with "Undo", by the id of the deletion. */
  const undoNotices = useRef(new Map<string, number>());
  const { tasks, start, cancel } = useTasks((task) => {
    dismissUndo(task.id);
    if (task.failed > 0) {
      const action = { label: "Show failures", act: () => setFailures(task) };
      notices.show(taskOutcome(task), { tone: "problem", action });
    } else {
      notices.show(taskOutcome(task));
    }
    onChanged();
  });
  const dismissUndo = (id: string): void => {
    const notice = undoNotices.current.get(id);
    if (notice !== undefined) notices.dismiss(notice);
    undoNotices.current.delete(id);
  };
  const report = (error: ApiCallError): void => {
    notices.show(error.message, { tone: "problem" });
  };
  const cancelTask = (id: string): void => {
    dismissUndo(id);
    cancel(id).catch(report);
  };
  /** @returns whether the server has accepted the deletion */
  const startDeletion = async (selection: ObjectSelection): Promise<boolean> => {
    try {
      const task = await start({ kind: "delete", ...selection });
      if (task.state !== "waiting") return true;
      const notice = notices.show(taskTitle(task), {
        action: { label: "Undo", act: () => cancelTask(task.id) },
        milliseconds: Math.max(0, task.begins - Date.now()),
      });
      undoNotices.current.set(task.id, notice);
      return true;
    } catch (error) {
      report(error as ApiCallError);
      return false;
    }
  };
  return {
    tasks,
    /** Without the deletions that have a notice with "Undo" of their own. */
    stripTasks: tasks.filter(
      (task) => isActive(task) && !(task.state === "waiting" && undoNotices.current.has(task.id)),
    ),
    startDeletion,
    startCopy: async (task: CopyTask): Promise<void> => {
      await start(task);
    },
    cancelTask,
    undo: (): void => {
      const task = tasks.findLast(({ kind, state }) => kind === "delete" && state === "waiting");
      if (task !== undefined) cancelTask(task.id);
    },
    failures,
    closeFailures: () => setFailures(undefined),
  };
}
