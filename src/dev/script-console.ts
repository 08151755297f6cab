/**
 * The console of a script. Stack traces name positions in the sources.
 *
 * The runtime knows only the bundle, so the frames of a stack are mapped by the bundle's source map.
 */
import { existsSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { basename, dirname, join, relative, resolve } from "node:path";
import { edgeEntry } from "../explorer/activity/call-entries.ts";
import { activityMark, readInvocation, requestEntry } from "../explorer/activity/trace.ts";
import { readWay, type EdgeWay } from "../edge/core/way.ts";
import type { ActivityLog } from "../explorer/server/activity-log.ts";
import { logLevels, type LogLevel } from "./dev-options.ts";

interface BundleFiles {
  readonly path: string;
  /** Relative to a folder that need not be the working directory of this process. */
  readonly sourceMapPath: string | undefined;
}

/** An exception that a request has thrown, with a stack by the source map. */
interface ThrownException {
  /** Of the request, if it is known. */
  readonly url: string | undefined;
  /** `RangeError: too far` */
  readonly text: string;
  readonly stack: string;
}

interface ScriptObserver {
  /** Receives each line of the tail worker (`plugin/tail-plugins.ts`). */
  onActivity(line: string): void;
  onException(exception: ThrownException): void;
  onWay(way: EdgeWay): void;
}

const framePattern = /(?:file:\/\/)?((?:[^\s():]|:(?!\d))+):(\d+):(\d+)/g;

/** Frames of the code that wrangler adds to a script. The properties of an error begin after a brace. */
const wranglerFramePattern =
  /\n\s+at [^\n]*(?:wrangler[\\/]templates|\.wrangler[\\/]tmp)[\\/][^\n]*?(?<brace> \{)?(?=\n|$)/g;
/**
 * Remarks of workerd to its authors: about an exception that is printed anyway, about objects that a restore of the state
 * ends (`dev-state.ts`), and about alarms that their objects do not have after it.
 */
const runtimeRemarkPattern =
  /^NOSENTRY (?:reporting trace with exception|SQLite alarm handler canceled)|^(?:uncaught exception; |exception = ).*\b(?:Application called abortAllDurableObjects|The state of the bucket is being restored)/;

export class ScriptConsole {
  readonly #level: LogLevel;
  /** Of each script, by the path of the bundle. The map is read when it is needed. */
  readonly #bundles = new Map<string, BundleFiles & { map?: SourceMap }>();
  #observer: ScriptObserver | null = null;
  /** Receives the way of each request for a name. */
  onWay: (way: EdgeWay) => void = () => {};

  constructor(level: LogLevel) {
    this.#level = level;
  }

  useBundle(bundle: BundleFiles): void {
    // The latest is the last.
    this.#bundles.delete(bundle.path);
    this.#bundles.set(bundle.path, { path: bundle.path, sourceMapPath: bundle.sourceMapPath });
  }

  observe(observer: ScriptObserver): void {
    this.#observer = observer;
  }

  addException(exception: ThrownException): void {
    this.#observer?.onException(exception);
  }

  write({ level, message }: { level: string; message: string }): void {
    if (message.startsWith(activityMark)) {
      this.#observer?.onActivity(message);
      return;
    }
    const way = readWay(message);
    if (way !== null) {
      this.onWay(way);
      this.#observer?.onWay(way);
      return;
    }
    const known = level === "error" || level === "warn" ? level : "info";
    if (logLevels.indexOf(known) > logLevels.indexOf(this.#level)) return;
    if (runtimeRemarkPattern.test(message)) return;
    const stream = known === "info" ? process.stdout : process.stderr;
    stream.write(`${this.mapStack(message)}\n`);
  }

  /** Replaces positions in a bundle by positions in the sources. */
  mapStack(message: string): string {
    const isStack = this.#bundles.keys().some((path) => message.includes(`${basename(path)}:`));
    if (!isStack) return message;
    const mapped = message.replace(
      framePattern,
      (whole, file: string, line: string, column: string) =>
        this.#sourcePosition(file, Number(line), Number(column)) ?? whole,
    );
    return mapped.replace(wranglerFramePattern, "$<brace>");
  }

  #sourcePosition(file: string, line: number, column: number): string | null {
    const alike = [...this.#bundles.values()].filter(
      ({ path }) => basename(path) === basename(file),
    );
    const bundle = alike.find(({ path }) => path === file) ?? alike.at(-1);
    if (bundle?.sourceMapPath === undefined) return null;
    const mapPath = join(dirname(bundle.path), basename(bundle.sourceMapPath));
    if (!existsSync(mapPath)) return null;
    bundle.map ??= new SourceMap(JSON.parse(readFileSync(mapPath, "utf8")) as SourceMapPayload);
    const entry = bundle.map.findEntry(line - 1, column - 1);
    if (!("originalSource" in entry)) return null;
    const root = resolve(dirname(mapPath), bundle.map.payload.sourceRoot ?? "");
    const source = relative(process.cwd(), resolve(root, entry.originalSource));
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  }
}

/** A restart of the runtime leaves invocations whose end is never reported. */
const rememberedMax = 1000;

/**
 * Takes the invocations of the script, and requests for names, from the console of the runtime to the explorer. The script has to be
 * observed (`isObserved` in `worker-input.ts`).
 */
export function observeScript(
  console: Pick<ScriptConsole, "observe" | "mapStack">,
  activity: ActivityLog,
): void {
  /** The entries of invocations that still run, by the id of the invocation. */
  const running = new Map<string, number>();
  const failures = new FailedRequests(activity);
  console.observe({
    onActivity: (line) => {
      const invocation = readInvocation(line);
      if (invocation === null) return;
      const replaces = running.get(invocation.id);
      const entry = requestEntry(invocation, (stack) => console.mapStack(stack));
      const id = activity.add({ ...entry, ...(replaces !== undefined && { replaces }) });
      running.delete(invocation.id);
      if (invocation.isRunning) remember(running, invocation.id, id);
      else failures.add({ id, entry });
    },
    onException: (exception) => failures.addException({ ...exception, at: Date.now() }),
    onWay: (way) => void activity.add(edgeEntry(way)),
  });
}

function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  const [oldest] = map.keys();
  if (map.size >= rememberedMax && oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}

/** The longest time between the end of a request and the event of its exception, on a busy machine. */
const distanceMilliseconds = 3000;

interface Failure {
  readonly id: number;
  readonly entry: ReturnType<typeof requestEntry>;
}

interface RaisedException extends ThrownException {
  readonly at: number;
}

/**
 * wrangler catches what a request throws, and answers with the status 500: the trace of the request has no
 * exception. wrangler reports the exception before or after the trace. An exception belongs to the first
 * request of its URL that has none.
 */
class FailedRequests {
  readonly #activity: ActivityLog;
  readonly #failures: Failure[] = [];
  /** The trace of a request comes late if the script works on after the response (`waitUntil()`). */
  readonly #exceptions: RaisedException[] = [];

  constructor(activity: ActivityLog) {
    this.#activity = activity;
  }

  add(failure: Failure): void {
    const { status, exceptions } = failure.entry;
    if (status !== 500 || exceptions?.length !== 0) return;
    const exception = take(this.#exceptions, (each) => areOfOneRequest(failure, each));
    if (exception === undefined) push(this.#failures, failure);
    else this.#activity.add(explainedEntry(failure, exception));
  }

  addException(exception: RaisedException): void {
    const failure = take(this.#failures, (each) => areOfOneRequest(each, exception));
    if (failure === undefined) push(this.#exceptions, exception);
    else this.#activity.add(explainedEntry(failure, exception));
  }
}

function areOfOneRequest({ entry }: Failure, { at, url }: RaisedException): boolean {
  const distance = Math.abs(entry.at + entry.milliseconds - at);
  // The tail worker shortens a long URL (`plugin/tail-plugins.ts`).
  const isShort = entry.url.endsWith("…") && url?.startsWith(entry.url.slice(0, -1));
  const isSame = url === undefined || url === entry.url || isShort === true;
  return distance < distanceMilliseconds && isSame;
}

function push<Item>(items: Item[], item: Item): void {
  if (items.length >= rememberedMax) items.shift();
  items.push(item);
}

/** Removes the first item that matches. */
function take<Item>(items: Item[], matches: (item: Item) => boolean): Item | undefined {
  const index = items.findIndex(matches);
  return index < 0 ? undefined : items.splice(index, 1)[0];
}

function explainedEntry({ id, entry }: Failure, { text, stack }: ThrownException) {
  const [, name = "Error", message = text] = /^(\w+): (.*)$/s.exec(text) ?? [];
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  const shown = frames.join("\n").replaceAll(`${process.cwd()}/`, "");
  const note = text.split("\n", 1).join();
  return { ...entry, note, exceptions: [{ name, message, stack: shown }], replaces: id };
}
