/**
 * The console of a script. Stack traces name positions in the sources.
 *
 * The runtime knows only the bundle, so the frames of a stack are mapped by the bundle's source map.
 */
import { existsSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { basename, dirname, relative, resolve } from "node:path";
import { activityMark, readInvocation } from "../explorer/activity/invocation.ts";
import { requestEntry } from "../explorer/activity/trace.ts";
import type { ActivityLog } from "../explorer/server/activity-log.ts";
import { logLevels, type LogLevel } from "./dev-options.ts";

interface BundleFiles {
  readonly path: string;
  readonly sourceMapPath: string | undefined;
}

const framePattern = /(?:file:\/\/)?((?:[^\s():]|:(?!\d))+):(\d+):(\d+)/g;

/** Frames of the code that wrangler adds to a script. The properties of an error begin after a brace. */
const wranglerFramePattern =
  /\n\s+at [^\n]*(?:wrangler[\\/]templates|\.wrangler[\\/]tmp)[\\/][^\n]*?(?<brace> \{)?(?=\n|$)/g;
/** A remark of workerd to its authors, about an exception that is printed anyway. */
const runtimeRemarkPattern = /^NOSENTRY reporting trace with exceptions/;

export class ScriptConsole {
  readonly #level: LogLevel;
  #bundle: BundleFiles | null = null;
  #map: SourceMap | null = null;
  /** Receives the lines of the tail worker, if there is one. */
  #onActivity: ((line: string) => void) | null = null;

  constructor(level: LogLevel) {
    this.#level = level;
  }

  useBundle(bundle: BundleFiles): void {
    this.#bundle = bundle;
    this.#map = null;
  }

  /** @param listener receives each line of the tail worker (`plugin/tail-plugins.ts`) */
  observeActivity(listener: (line: string) => void): void {
    this.#onActivity = listener;
  }

  write({ level, message }: { level: string; message: string }): void {
    if (message.startsWith(activityMark)) {
      this.#onActivity?.(message);
      return;
    }
    const known = level === "error" || level === "warn" ? level : "info";
    if (logLevels.indexOf(known) > logLevels.indexOf(this.#level)) return;
    if (runtimeRemarkPattern.test(message)) return;
    const stream = known === "info" ? process.stdout : process.stderr;
    stream.write(`${this.mapStack(message)}\n`);
  }

  /** Replaces positions in the bundle by positions in the sources. */
  mapStack(message: string): string {
    const { path } = this.#bundle ?? {};
    if (path === undefined || !message.includes(`${basename(path)}:`)) return message;
    const mapped = message.replace(
      framePattern,
      (whole, file: string, line: string, column: string) => {
        if (basename(file) !== basename(path)) return whole;
        return this.#sourcePosition(Number(line), Number(column)) ?? whole;
      },
    );
    return mapped.replace(wranglerFramePattern, "$<brace>");
  }

  #sourcePosition(line: number, column: number): string | null {
    const { sourceMapPath } = this.#bundle ?? {};
    if (sourceMapPath === undefined || !existsSync(sourceMapPath)) return null;
    this.#map ??= new SourceMap(
      JSON.parse(readFileSync(sourceMapPath, "utf8")) as SourceMapPayload,
    );
    const entry = this.#map.findEntry(line - 1, column - 1);
    if (!("originalSource" in entry)) return null;
    const root = resolve(dirname(sourceMapPath), this.#map.payload.sourceRoot ?? "");
    const source = relative(process.cwd(), resolve(root, entry.originalSource));
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  }
}

/** A restart of the runtime leaves invocations whose end is never reported. */
const runningMax = 1000;

/**
 * Takes the invocations of the script from the console of the runtime to the explorer. The script has to be
 * observed (`isObserved` in `worker-input.ts`).
 */
export function observeScript(
  console: Pick<ScriptConsole, "observeActivity" | "mapStack">,
  activity: ActivityLog,
): void {
  /** The entries of invocations that still run, by the id of the invocation. */
  const running = new Map<string, number>();
  console.observeActivity((line) => {
    const invocation = readInvocation(line);
    if (invocation === null) return;
    const replaces = running.get(invocation.id);
    const entry = requestEntry(invocation, (stack) => console.mapStack(stack));
    const id = activity.add({ ...entry, ...(replaces !== undefined && { replaces }) });
    running.delete(invocation.id);
    if (!invocation.isRunning) return;
    const [oldest] = running.keys();
    if (running.size >= runningMax && oldest !== undefined) running.delete(oldest);
    running.set(invocation.id, id);
  });
}
