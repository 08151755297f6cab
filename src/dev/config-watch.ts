/**
 * Watches the files that configure a project: the configuration file, and the secrets beside it.
 *
 * The folder is watched and not the files, because editors save by putting another file in the
 * place of the old one. What has not changed in content is no change.
 */
import { existsSync, readFileSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Editors write more than once for a save. */
const settleMilliseconds = 50;

/** @returns ends the watch */
export function watchConfig(path: string, onChange: () => void): () => void {
  const folder = dirname(path);
  const isWatched = (name: string): boolean =>
    name === basename(path) || /^\.(?:dev\.vars|env)(?:\.|$)/.test(name);
  const contents = new Map<string, string>();
  const hasChanged = (name: string): boolean => {
    const content = contentOf(join(folder, name));
    // A file that is gone for a moment is being replaced.
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
  // A folder that goes away ends the watch, and nothing else.
  watcher.on("error", () => {});
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

function contentOf(path: string): string | null {
  try {
    return existsSync(path) ? readFileSync(path, "utf8") : null;
  } catch {
    return null;
  }
}
