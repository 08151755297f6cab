/** The tasks of the server. They are asked for only while a task waits or runs. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { NewTask, Task } from "../../api/tasks.ts";
import { callApi } from "../api-client.ts";
import { isActive } from "../objects/task-state.ts";

const pollMilliseconds = 500;

export interface TaskList {
  readonly tasks: readonly Task[];
  /** @throws ApiCallError */
  readonly start: (task: NewTask) => Promise<Task>;
  /** @throws ApiCallError */
  readonly cancel: (id: string) => Promise<void>;
}

/** @param onEnded is called for each task that the page saw waiting or running, when it ended */
export function useTasks(onEnded: (task: Task) => void): TaskList {
  const [tasks, setTasks] = useState<readonly Task[]>([]);
  const [round, setRound] = useState(0);
  const active = useRef<ReadonlySet<string>>(new Set());
  const ended = useRef(onEnded);
  ended.current = onEnded;

  const receive = useCallback((list: readonly Task[]) => {
    const before = active.current;
    active.current = new Set(list.filter(isActive).map(({ id }) => id));
    setTasks(list);
    for (const task of list) if (before.has(task.id) && !isActive(task)) ended.current(task);
  }, []);

  useEffect(() => {
    const left = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const poll = async (): Promise<void> => {
      try {
        receive(await callApi<readonly Task[]>("/api/tasks", { signal: left.signal }));
      } catch {
        // The list of objects says what is wrong with the server. Known tasks may go on.
      }
      const isWanted = active.current.size > 0 && !left.signal.aborted;
      if (isWanted) timer = setTimeout(() => void poll(), pollMilliseconds);
    };
    void poll();
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [round, receive]);

  const current = useRef(tasks);
  current.current = tasks;
  // A poll that is on its way does not know of the change: another poll begins.
  const change = useCallback(
    (task: Task) => {
      receive([...current.current.filter(({ id }) => id !== task.id), task]);
      setRound((before) => before + 1);
    },
    [receive],
  );
  const start = useCallback(
    async (task: NewTask) => {
      const started = await callApi<Task>("/api/tasks", { method: "POST", json: task });
      // A task can end before its first answer: it was active for the page all the same.
      active.current = new Set([...active.current, started.id]);
      change(started);
      return started;
    },
    [change],
  );
  const cancel = useCallback(
    async (id: string) => {
      change(await callApi<Task>(`/api/tasks/${encodeURIComponent(id)}`, { method: "DELETE" }));
    },
    [change],
  );
  return { tasks, start, cancel };
}
