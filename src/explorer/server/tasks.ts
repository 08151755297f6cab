/** Work on many objects, which goes on when the page is closed. */
import type { NewTask, Task } from "../api/tasks.ts";

export interface Tasks {
  list(): readonly Task[];
  /** @throws CallError */
  start(task: NewTask): Promise<Task>;
  /** @throws CallError for a task that is not known, or has ended */
  cancel(id: string): Task;
  /** Ends running tasks after their current object. */
  close(): Promise<void>;
}
