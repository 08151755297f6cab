/**
 * The tasks of the server, in every view: a deletion that waits can be undone, a task that runs shows
 * its progress, and a task that ends says what it did. The tasks belong to the server, so that a page
 * that is loaded again, or another tab, shows the same tasks with the same "Undo".
 *
 * The list of tasks is asked for while a task waits or runs, and when the server says that it changed.
 */
import { createContext, type ComponentChildren } from "preact";
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { NewTask, Task } from "../../api/tasks.ts";
import { callApi, type ApiCallError } from "../api-client.ts";
import { Dialog } from "./dialog.tsx";
import { useChanges } from "./events.ts";
import { formatCount, shownKey } from "./format.ts";
import { useNotices } from "./notices.tsx";
import { Progress } from "./parts.tsx";
import { isActive, secondsLeft, taskOutcome, taskTitle } from "./task-words.ts";

const pollMilliseconds = 500;

interface Tasks {
  /** Waiting and running tasks, and those that ended lately. */
  readonly tasks: readonly Task[];
  /** How many tasks ended while the page looked: what they changed is to be loaded again. */
  readonly endedCount: number;
  /** @throws ApiCallError */
  readonly start: (task: NewTask) => Promise<void>;
  /** A refusal becomes a notice. @returns whether the server has accepted the task */
  readonly tryStart: (task: NewTask) => Promise<boolean>;
  readonly cancel: (id: string) => void;
  /** Cancels the last deletion that waits, if there is one. */
  readonly undo: () => void;
}

const TasksContext = createContext<Tasks>({
  tasks: [],
  endedCount: 0,
  start: () => Promise.resolve(),
  tryStart: () => Promise.resolve(false),
  cancel: () => {},
  undo: () => {},
});

export function useTasks(): Tasks {
  return useContext(TasksContext);
}

export function TasksProvider({ children }: { readonly children: ComponentChildren }) {
  const notices = useNotices();
  const [failures, setFailures] = useState<Task>();
  const [endedCount, setEndedCount] = useState(0);
  const { tasks, start, cancel } = useTaskList((task) => {
    const isFailed = task.failed > 0;
    notices.show(taskOutcome(task), {
      ...(isFailed && {
        tone: "problem",
        action: { label: "Show failures", act: () => setFailures(task) },
      }),
    });
    setEndedCount((before) => before + 1);
  });
  const shared = useMemo<Tasks>(() => {
    const report = (error: ApiCallError): false => {
      notices.show(error.message, { tone: "problem" });
      return false;
    };
    const cancelTask = (id: string): void => void cancel(id).catch(report);
    return {
      tasks,
      endedCount,
      start,
      tryStart: (task) => start(task).then(() => true, report),
      cancel: cancelTask,
      undo: () => {
        const last = tasks.findLast(({ state }) => state === "waiting");
        if (last !== undefined) cancelTask(last.id);
      },
    };
  }, [tasks, endedCount, start, cancel, notices]);
  return (
    <TasksContext.Provider value={shared}>
      {children}
      {failures !== undefined && (
        <TaskFailures task={failures} onClose={() => setFailures(undefined)} />
      )}
    </TasksContext.Provider>
  );
}

/** @param onEnded is called for each task that the page saw waiting or running, when it ended */
function useTaskList(onEnded: (task: Task) => void) {
  const [tasks, setTasks] = useState<readonly Task[]>([]);
  const [round, setRound] = useState(0);
  const active = useRef<ReadonlySet<string>>(new Set());
  const current = useRef({ tasks, onEnded });
  current.current = { tasks, onEnded };
  const receive = useCallback((list: readonly Task[]) => {
    const before = active.current;
    active.current = new Set(list.filter(isActive).map(({ id }) => id));
    setTasks(list);
    for (const task of list) {
      if (before.has(task.id) && !isActive(task)) current.current.onEnded(task);
    }
  }, []);
  useEffect(() => {
    const left = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const poll = async (): Promise<void> => {
      try {
        receive(await callApi<readonly Task[]>("/api/tasks", { signal: left.signal }));
      } catch {
        // The view says what is wrong with the server. Known tasks may go on.
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
  // A poll that is on its way does not know of a change: another poll begins.
  const pollAgain = useCallback(() => setRound((before) => before + 1), []);
  useChanges(({ topic }) => topic === "tasks", pollAgain);
  const change = useCallback(
    (task: Task) => {
      receive([...current.current.tasks.filter(({ id }) => id !== task.id), task]);
      pollAgain();
    },
    [receive, pollAgain],
  );
  const start = useCallback(
    async (task: NewTask) => {
      const started = await callApi<Task>("/api/tasks", { method: "POST", json: task });
      // A task can end before its first answer: it was active for the page all the same.
      active.current = new Set([...active.current, started.id]);
      change(started);
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

/** The tasks that wait or run, beside the notices. */
export function TaskList() {
  const { tasks, cancel } = useTasks();
  const active = tasks.filter(isActive);
  return (
    <>
      {/* The seconds and the progress change too often to be read out. */}
      <p class="visually-hidden" role="status">
        {active.map((task) => taskTitle(task)).join(", ")}
      </p>
      {active.length > 0 && (
        <ul class="tasks" aria-label="Tasks">
          {active.map((task) => (
            <li key={task.id} class="notice">
              <p>
                {taskTitle(task)} <TaskProgress task={task} />
              </p>
              <button type="button" class="button" onClick={() => cancel(task.id)}>
                {task.state === "waiting" ? "Undo" : "Cancel"}
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function TaskProgress({ task }: { readonly task: Task }) {
  if (task.state === "waiting") return <>in {secondsLeft(task, Date.now())} s</>;
  const ended = task.done + task.failed;
  const text =
    task.total === null
      ? `${formatCount(ended)} done`
      : `${formatCount(ended)} of ${formatCount(task.total)}`;
  return <Progress label={taskTitle(task)} value={ended} max={task.total} text={text} />;
}

interface TaskFailuresProps {
  readonly task: Task;
  readonly onClose: () => void;
}

function TaskFailures({ task, onClose }: TaskFailuresProps) {
  const others = task.failed - task.failures.length;
  return (
    <Dialog title={taskOutcome(task)} onClose={onClose}>
      <ul class="task-failures">
        {task.failures.map(({ key, message }) => (
          <li key={key}>
            <span class="code">{shownKey(key)}</span>
            <p>{message}</p>
          </li>
        ))}
      </ul>
      {others > 0 && <p>{formatCount(others)} more failed.</p>}
      <div class="dialog-actions">
        <button type="button" class="button primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
