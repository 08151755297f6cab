/** The tasks that wait or run, with their progress. */
import type { Task } from "../../api/tasks.ts";
import { formatCount, secondsLeft, taskOutcome, taskTitle } from "../objects/task-state.ts";
import { Dialog } from "./dialog.tsx";

interface TaskStripProps {
  readonly tasks: readonly Task[];
  readonly bucket: string;
  readonly onCancel: (task: Task) => void;
}

export function TaskStrip({ tasks, bucket, onCancel }: TaskStripProps) {
  if (tasks.length === 0) return null;
  return (
    <ul class="task-strip" aria-label="Tasks">
      {tasks.map((task) => (
        <li key={task.id} class="task panel">
          <span class="task-title">
            {taskTitle(task)}
            {task.bucket !== bucket && (
              <>
                {" "}
                of <bdi>{task.bucket}</bdi>
              </>
            )}
          </span>
          <TaskProgress task={task} />
          <button type="button" class="button" onClick={() => onCancel(task)}>
            {task.state === "waiting" && task.kind === "delete" ? "Undo" : "Cancel"}
          </button>
        </li>
      ))}
    </ul>
  );
}

function TaskProgress({ task }: { readonly task: Task }) {
  if (task.state === "waiting") {
    return <span class="task-progress">begins in {secondsLeft(task, Date.now())} s</span>;
  }
  const ended = task.done + task.failed;
  if (task.total === null) {
    return <span class="task-progress">{formatCount(ended)} done, counting the objects…</span>;
  }
  return (
    <span class="task-progress">
      <progress max={task.total} value={ended} aria-label={taskTitle(task)} />
      {formatCount(ended)} of {formatCount(task.total)}
    </span>
  );
}

interface TaskFailuresProps {
  readonly task: Task;
  readonly onClose: () => void;
}

export function TaskFailures({ task, onClose }: TaskFailuresProps) {
  const others = task.failed - task.failures.length;
  return (
    <Dialog title={taskOutcome(task)} onClose={onClose}>
      <ul class="task-failures">
        {task.failures.map(({ key, message }) => (
          <li key={key}>
            <span class="code">{key}</span>
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
