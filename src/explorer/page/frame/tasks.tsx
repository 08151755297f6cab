/**
 * The tasks of the server, in every view: a deletion that waits can be undone, a task that runs shows
 * its progress, and a task that ends says what it did. The tasks belong to the server, so that a page
 * that is loaded again, or another tab, shows the same tasks with the same "Undo".
 */
import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { NewTask, Task } from "../../api/tasks.ts";
import { callApi, type ApiCallError } from "../api-client.ts";
import { Dialog } from "./dialog.tsx";
import { useFetched } from "./events.ts";
import { formatCount, shownKey } from "./format.ts";
import { useNotices } from "./notices.tsx";
import { Button, Progress } from "./parts.tsx";
import { isActive, secondsLeft, taskOutcome, taskTitle } from "./task-words.ts";

interface Tasks {
  /** Waiting and running tasks, and those that ended lately. */
  readonly tasks: readonly Task[];
  /** @throws ApiCallError */
  readonly start: (task: NewTask) => Promise<void>;
  /** A refusal becomes a notice. @returns whether the server has accepted the task */
  readonly tryStart: (task: NewTask) => Promise<boolean>;
  readonly cancel: (id: string) => void;
  /** Cancels the last deletion that waits, if there is one. */
  readonly undo: () => void;
}

const TasksContext = createContext<Tasks | null>(null);
const noTasks: readonly Task[] = [];

export function useTasks(): Tasks {
  return useContext(TasksContext) as Tasks;
}

export function TasksProvider({ children }: { readonly children: ComponentChildren }) {
  const { show } = useNotices();
  const [failures, setFailures] = useState<Task>();
  const { data: tasks = noTasks, reload } = useFetched<readonly Task[]>(
    (signal) => callApi("/api/tasks", { signal }),
    "tasks",
    ({ topic }) => topic === "tasks",
  );
  /** The tasks whose end is told. A task that was started here may have ended when it is first listed. */
  const awaited = useRef(new Set<string>());
  useEffect(() => {
    for (const task of tasks) {
      if (isActive(task)) awaited.current.add(task.id);
      else if (awaited.current.delete(task.id)) {
        const action = { label: "Show failures", act: () => setFailures(task) };
        show(taskOutcome(task), task.failed > 0 ? { tone: "problem", action } : {});
      }
    }
  }, [tasks]);
  const shared = useMemo<Tasks>(() => {
    const report = (error: ApiCallError): false => {
      show(error.message, { tone: "problem" });
      return false;
    };
    const start = async (task: NewTask): Promise<void> => {
      const { id } = await callApi<Task>("/api/tasks", { method: "POST", json: task });
      awaited.current.add(id);
      reload();
    };
    const cancel = (id: string): void => {
      const path = `/api/tasks/${encodeURIComponent(id)}`;
      void callApi(path, { method: "DELETE" }).catch(report).finally(reload);
    };
    return {
      tasks,
      start,
      tryStart: (task) => start(task).then(() => true, report),
      cancel,
      undo: () => {
        const last = tasks.findLast(({ state }) => state === "waiting");
        if (last !== undefined) cancel(last.id);
      },
    };
  }, [tasks]);
  return (
    <TasksContext.Provider value={shared}>
      {children}
      {failures !== undefined && (
        <TaskFailures task={failures} onClose={() => setFailures(undefined)} />
      )}
    </TasksContext.Provider>
  );
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
              <Button onClick={() => cancel(task.id)}>
                {task.state === "waiting" ? "Undo" : "Cancel"}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function TaskProgress({ task }: { readonly task: Task }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (task.state !== "waiting") return;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [task.state]);
  if (task.state === "waiting") return <>in {secondsLeft(task, now)} s</>;
  const ended = task.done + task.failed;
  const total = task.total === null ? "done" : `of ${formatCount(task.total)}`;
  const text = `${formatCount(ended)} ${total}`;
  return <Progress label={taskTitle(task)} value={ended} max={task.total} text={text} />;
}

function TaskFailures({ task, onClose }: { readonly task: Task; readonly onClose: () => void }) {
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
        <Button tone="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
