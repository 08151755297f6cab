/** Watches the files of a project: the files that configure it, and the sources of its script. */
import { existsSync, readFileSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Editors write a file more than once for a save. */
const settleMilliseconds = 50;

/**
 * Calls `onChange` when the content of the configuration file at `path` changes, or of the secrets
 * beside it.
 *
 * The folder is watched and not the files, because editors save by replacing the old file with a
 * new file.
 *
 * @returns a function that ends the watch
 */
export function watchConfig(path: string, onChange: () => void): () => void {
  const folder = dirname(path);
  const isWatched = (name: string): boolean =>
    name === basename(path) || /^\.(?:dev\.vars|env)(?:\.|$)/.test(name);
  const contents = new Map<string, string>();
  const hasChanged = (name: string): boolean => {
    const content = readIfPresent(join(folder, name));
    // A file that is missing for a moment is being replaced.
    if (content === null || contents.get(name) === content) return false;
    contents.set(name, content);
    return true;
  };
  hasChanged(basename(path));

  let timer: NodeJS.Timeout | undefined;
  const touched = new Set<string>();
  const watcher = watch(folder, (_, name) => {
    if (name === null || !isWatched(name)) return;
    touched.add(name);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const changed = Array.from(touched, hasChanged).includes(true);
      touched.clear();
      if (changed) onChange();
    }, settleMilliseconds);
  });
  // The watch ends when the folder is removed; the dev server continues.
  watcher.on("error", () => {});
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

/**
 * Calls `onChange` once, when a file in the folder of `script` or below changes.
 *
 * @returns a function that ends the watch
 */
export function watchSourcesOnce(script: string, onChange: () => void): () => void {
  const folder = dirname(script);
  // A folder with packages has too many files to watch.
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

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
