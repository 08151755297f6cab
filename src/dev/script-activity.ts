/** The invocations of the script, on their way from the console of the runtime to the explorer. */
import { readInvocation } from "../explorer/activity/invocation.ts";
import { requestEntry } from "../explorer/activity/trace.ts";
import type { ActivityLog } from "../explorer/server/activity-log.ts";
import type { ScriptConsole } from "./script-console.ts";

/** A restart of the runtime leaves invocations whose end is never reported. */
const runningMax = 1000;

/** The script has to be observed (`isObserved` in `worker-input.ts`). */
export function observeScript(
  console: Pick<ScriptConsole, "observeActivity">,
  activity: ActivityLog,
): void {
  /** The entries of invocations that still run, by the id of the invocation. */
  const running = new Map<string, number>();
  console.observeActivity((line) => {
    const invocation = readInvocation(line);
    if (invocation === null) return;
    const replaces = running.get(invocation.id);
    const entry = requestEntry(invocation);
    const id = activity.add({ ...entry, ...(replaces !== undefined && { replaces }) });
    running.delete(invocation.id);
    if (!invocation.isRunning) return;
    const [oldest] = running.keys();
    if (running.size >= runningMax && oldest !== undefined) running.delete(oldest);
    running.set(invocation.id, id);
  });
}
