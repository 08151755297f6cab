/**
 * Runtimes that die under us.
 *
 * Miniflare starts one that crashed again, but wrangler's proxy in front of the script has then
 * forgotten where the script is, and requests wait for ever. So the dev server has to hear of it.
 * Nobody tells, except Node: it announces every process that is started.
 */
import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";

const channel = "child_process";

/**
 * Calls `onCrash` when a runtime that is started from now on ends by a signal that its owner has
 * not sent. One that exits by itself could not start, and its owner says why.
 *
 * @returns ends the watch
 */
export function watchRuntimes(onCrash: (signal: string) => void): () => void {
  const onStart = (message: unknown): void => {
    const { process: child } = message as { process: ChildProcess };
    child.once("exit", (_, signal) => {
      const isRuntime = /workerd(\.exe)?$/.test(child.spawnfile);
      if (isRuntime && watching && signal !== null && !child.killed) onCrash(signal);
    });
  };
  let watching = true;
  subscribe(channel, onStart);
  return () => {
    watching = false;
    unsubscribe(channel, onStart);
  };
}
