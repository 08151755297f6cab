/** Waits for the sources to change while nobody else watches them. */
import { existsSync, watch } from "node:fs";
import { dirname, join } from "node:path";

/** Editors write more than once for a save. */
const settleMilliseconds = 50;

/**
 * Calls `onChange` once, when something beside the script changes or below it.
 *
 * @returns ends the watch
 */
export function onceSourcesChange(script: string, onChange: () => void): () => void {
  const folder = dirname(script);
  // Beside the packages of a project there are too many files below to watch.
  const recursive = !existsSync(join(folder, "node_modules"));
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(folder, { recursive }, () => {
    timer ??= setTimeout(() => {
      watcher.close();
      onChange();
    }, settleMilliseconds);
  });
  watcher.on("error", () => {});
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}
