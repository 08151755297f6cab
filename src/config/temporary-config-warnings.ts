/**
 * Rewrites wrangler's output about a temporary configuration file. The user has not written that
 * file, so warnings name the original file instead. wrangler's warning about `unsafe` bindings is
 * switched off, because the user has not written those either.
 *
 * The console and the environment belong to the whole process, and several files can be in use at
 * once: the first file changes both, and the last file restores them.
 */
import { basename } from "node:path";

const methods = ["log", "warn", "error"] as const;
const noUnsafeWarning = "WRANGLER_DISABLE_EXPERIMENTAL_WARNING";

/** Names of original files, by the names of temporary files. */
const originalNames = new Map<string, string>();
let restoreProcess: (() => void) | null = null;

/** @returns ends the rewriting for this file */
export function showOriginalName(path: string, original: string): () => void {
  originalNames.set(basename(path), basename(original));
  restoreProcess ??= changeProcess();
  return () => {
    originalNames.delete(basename(path));
    if (originalNames.size > 0) return;
    restoreProcess?.();
    restoreProcess = null;
  };
}

function changeProcess(): () => void {
  const isSet = noUnsafeWarning in process.env;
  if (!isSet) process.env[noUnsafeWarning] = "1";
  const replaced = methods.map((method) => {
    const before = console[method];
    const rewrite = (...values: unknown[]): void => before.apply(console, values.map(rename));
    console[method] = rewrite;
    return { method, before, rewrite };
  });
  return () => {
    if (!isSet) delete process.env[noUnsafeWarning];
    for (const { method, before, rewrite } of replaced) {
      // A method that other code has replaced meanwhile stays as it is.
      if (console[method] === rewrite) console[method] = before;
    }
  };
}

function rename(value: unknown): unknown {
  if (typeof value !== "string") return value;
  let text = value;
  for (const [name, original] of originalNames) text = text.replaceAll(name, original);
  return text;
}
