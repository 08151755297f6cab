/**
 * What wrangler says while it reads a derived file. The user has not written that file: so warnings
 * name the original instead, and there is none of `unsafe` bindings, which are ours.
 *
 * Console and environment belong to the process, and several files may be read at once; they are
 * changed with the first and put back with the last.
 */
import { basename } from "node:path";

const methods = ["log", "warn", "error"] as const;
const silencer = "WRANGLER_DISABLE_EXPERIMENTAL_WARNING";

/** Names that are shown instead of names of derived files. */
const shownNames = new Map<string, string>();
let putBack: (() => void) | null = null;

export function speakOf(path: string, original: string): { end(): void } {
  shownNames.set(basename(path), basename(original));
  putBack ??= begin();
  return {
    end() {
      shownNames.delete(basename(path));
      if (shownNames.size > 0) return;
      putBack?.();
      putBack = null;
    },
  };
}

function begin(): () => void {
  const silent = silencer in process.env;
  if (!silent) process.env[silencer] = "1";
  const replaced = methods.map((method) => {
    const before = console[method];
    const rename = (...words: unknown[]): void => before.apply(console, words.map(renamed));
    console[method] = rename;
    return { method, before, rename };
  });
  return () => {
    if (!silent) delete process.env[silencer];
    for (const { method, before, rename } of replaced) {
      // Whoever has replaced it since is left alone.
      if (console[method] === rename) console[method] = before;
    }
  };
}

function renamed(word: unknown): unknown {
  if (typeof word !== "string") return word;
  let text = word;
  for (const [name, shown] of shownNames) text = text.replaceAll(name, shown);
  return text;
}
