/** Moved to `frame/tasks.tsx`. This file goes when the list of objects uses `useTasks()` itself. */
import { useEffect, useRef } from "preact/hooks";
import type { CopyTask, ObjectSelection } from "../../api/tasks.ts";
import { useTasks } from "../frame/tasks.tsx";

/** @param onChanged a task has changed objects */
export function useObjectTasks(onChanged: () => void) {
  const { tasks, endedCount, start, tryStart, undo } = useTasks();
  const known = useRef(endedCount);
  useEffect(() => {
    if (known.current !== endedCount) onChanged();
    known.current = endedCount;
  }, [endedCount]);
  return {
    tasks,
    startDeletion: (selection: ObjectSelection): Promise<boolean> =>
      tryStart({ kind: "delete", ...selection }),
    startCopy: (task: CopyTask): Promise<void> => start(task),
    undo,
  };
}
