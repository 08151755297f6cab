/**
 * The child processes of wrangler and Miniflare, which neither hands out: the runtimes and the bundler.
 * Ledge observes them and decides how they end. Each change of Node's own behaviour has an effect that
 * users see; without that, use what Node documents.
 *
 * - **The diagnostics channel `child_process`** (`watchChildren()`). Node announces every process that it
 *   starts, before the process has an id and arguments. If Node stops to announce them: a crashed
 *   script hangs instead of starting again.
 * - **`child.emit` of a runtime** (`holdExit()`): an interrupt from the terminal is no crash. If Node
 *   emits "exit" in another way: Ctrl+C prints a crash.
 * - **`child.spawn` of a program** (`endProgramsWithThisProcess()`): runtimes and the bundler do not end
 *   with a parent that was killed, and what workerd makes has the mode that its umask leaves. Neither
 *   Miniflare nor Node has an option for either. Programs that run already are found by
 *   `process._getActiveHandles()`. If Node renames one of the two: a killed process leaves
 *   its programs, and other users can read databases, where they can enter their folder.
 *
 * `programs.test.ts` notices each of these changes.
 */
import { ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { closeSync, existsSync } from "node:fs";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { openMark } from "./open-mark.ts";

/** Miniflare passes its loopback address to workerd as an argument. */
export const loopbackArgument = "--external-addr=loopback=";
/** The configuration file of a runtime that Ledge starts itself (`state/own-runtime.ts`). */
export const ownConfigName = "ledge-runtime.capnp";

const sharedKey = Symbol.for("ledge.runtimes");

/**
 * Calls `onChild` for each process that starts from now on, before the process has arguments.
 *
 * @returns a function that ends the watch
 */
export function watchChildren(onChild: (child: ChildProcess) => void): () => void {
  const onMessage = (message: unknown): void =>
    onChild((message as { process: ChildProcess }).process);
  subscribe("child_process", onMessage);
  return () => void unsubscribe("child_process", onMessage);
}

/** Observes the runtimes of a Miniflare, which starts another after a reload or a crash. */
export interface RuntimeObserver {
  /** A FIFO that the runtime holds open from its first moment to its end (`state/owner.ts`). */
  readonly mark?: string;
  onStart?(processId: number): void;
  /** The runtime listens at a socket, by the name that Miniflare gives the socket. */
  onListen?(socketName: string, port: number): void;
  /** @param isKilled whether this process has ended the runtime */
  onExit?(isKilled: boolean): void;
}

interface SharedState {
  /** By the port on which each Miniflare listens for its workerd, and by the plugin. */
  readonly observers: Map<number, Map<string, RuntimeObserver>>;
  isWatching: boolean;
  areProgramsBound: boolean;
}

/** Of all copies of Ledge in this process: one of them watches the runtimes, and one starts the programs. */
const shared = ((globalThis as { [sharedKey]?: SharedState })[sharedKey] ??= {
  observers: new Map(),
  isWatching: false,
  areProgramsBound: false,
});

/** For a plugin, which knows its Miniflare by the loopback port. A second call replaces the first. */
export function observeRuntimesAt(
  loopbackPort: number,
  pluginName: string,
  observer: RuntimeObserver,
): void {
  watchRuntimes();
  const observers = shared.observers.get(loopbackPort) ?? new Map<string, RuntimeObserver>();
  shared.observers.set(loopbackPort, observers.set(pluginName, observer));
}

function watchRuntimes(): void {
  if (shared.isWatching) return;
  shared.isWatching = true;
  watchChildren((child) => {
    const observers = (): RuntimeObserver[] => observersOf(child.spawnargs);
    // Before Miniflare's own listener: who waits for the end of Miniflare sees what this leaves.
    child.once("exit", () => {
      for (const observer of observers()) observer.onExit?.(child.killed);
    });
    setImmediate(() => {
      if (child.pid === undefined) return;
      for (const observer of observers()) {
        observer.onStart?.(child.pid);
        followLines(child.stdio[controlPipe], (line) => {
          const { event, socket, port } = JSON.parse(line) as {
            readonly event: string;
            readonly socket: string;
            readonly port: number;
          };
          if (event === "listen") observer.onListen?.(socket, port);
        });
      }
    });
  });
}

function observersOf(args: readonly string[] = []): RuntimeObserver[] {
  const argument = args.find((each) => each.startsWith(loopbackArgument));
  const loopbackPort = Number(argument?.slice(argument.lastIndexOf(":") + 1));
  return [...(shared.observers.get(loopbackPort)?.values() ?? [])];
}

/** workerd writes a line of JSON to this pipe when it listens at a socket. */
export const controlPipe = 3;

/** Waits until the other reader of the stream listens: to read before it does would take its lines. */
function followLines(
  stream: ChildProcess["stdio"][number] | undefined,
  act: (line: string) => void,
): void {
  if (!(stream instanceof Readable)) return;
  let text = "";
  const onData = (chunk: Buffer): void => {
    const lines = (text + chunk.toString()).split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) act(line);
  };
  const follow = (): void => {
    stream.off("newListener", onListener);
    stream.on("data", onData);
  };
  const onListener = (event: string): void => {
    if (event === "data") follow();
  };
  if (stream.listenerCount("data") > 0) follow();
  else stream.on("newListener", onListener);
}

/**
 * Calls `onCrash` when a runtime of Miniflare that starts from now on ends by a signal that its parent
 * has not sent. Miniflare starts the runtime again, but wrangler's proxy in front of the script then
 * has the old address of the script, and requests wait forever.
 *
 * An interrupt from the terminal reaches the runtimes too, and is no crash. So Miniflare learns of
 * the end of the runtime when `onCrash` calls `tell`, or when Miniflare itself stops the runtime.
 *
 * @returns a function that ends the watch
 */
export function watchCrashes(onCrash: (signal: string, tell: () => void) => void): () => void {
  let watching = true;
  const end = watchChildren((child) =>
    holdExit(child, (signal, tell) => {
      if (!watching || !isOfMiniflare(child.spawnargs)) return tell();
      followOutput(child);
      if (signal === null || child.killed) return tell();
      onCrash(signal, tell);
    }),
  );
  return () => {
    watching = false;
    end();
  };
}

/** The listeners of "exit" are called by `tell`, or after `kill()`, whose caller waits for the event. */
function holdExit(
  child: ChildProcess,
  onExit: (signal: NodeJS.Signals | null, tell: () => void) => void,
): void {
  const emit: (event: string, ...details: unknown[]) => boolean = child.emit.bind(child);
  const kill = child.kill.bind(child);
  child.emit = (event: string, ...details: unknown[]): boolean => {
    if (event !== "exit") return emit(event, ...details);
    let isTold = false;
    const tell = (): void => {
      if (isTold) return;
      isTold = true;
      emit(event, ...details);
    };
    child.kill = (signal) => {
      queueMicrotask(tell);
      return kill(signal);
    };
    onExit(details[1] as NodeJS.Signals | null, tell);
    return true;
  };
}

const endingOutputs = new Set<Promise<unknown>>();

function followOutput(child: ChildProcess): void {
  const ending = once(child, "close").finally(() => endingOutputs.delete(ending));
  endingOutputs.add(ending);
}

/** Resolves when this process has read all that ended runtimes have written. */
export async function endedRuntimesOutput(): Promise<void> {
  await Promise.all(endingOutputs);
}

/** The name of the executable does not tell: MINIFLARE_WORKERD_PATH can name any file. */
function isOfMiniflare(args: readonly string[] = []): boolean {
  return args.some((each) => each.startsWith(loopbackArgument));
}

/** A runtime, or the bundler. */
function isProgram(args: readonly string[]): boolean {
  return isRuntimeProgram(args) || isBundler(args);
}

/** A runtime of Miniflare, or one that Ledge has started itself. */
export function isRuntimeProgram(args: readonly string[]): boolean {
  return isOfMiniflare(args) || args.some((each) => each.endsWith(ownConfigName));
}

export function isBundler(args: readonly string[] = []): boolean {
  return /esbuild.* --service=/.test(args.join(" "));
}

const shell = "/bin/sh";

/**
 * From now on, runtimes and the bundler end when this process ends, however this process ends, and
 * only their user can read what they make.
 *
 * A shell starts the program: the shell sets the umask, leaves a watcher, and becomes the program, whose
 * process id and signals are those of the shell. The watcher reads a pipe to which this process writes a
 * line when the program has ended. A pipe that ends without a line is the end of this process, and the
 * watcher kills the program. So no process is ever ended by a process id that a file has kept.
 *
 * The program ignores the signals that a terminal sends to each process of a group. This process receives
 * them, too, and ends the program. If the program ended first, wrangler would report a lost build or a lost
 * runtime, or would wait for it. On Windows and in a container without a shell the program starts as it is.
 */
export function endProgramsWithThisProcess(): void {
  if (shared.areProgramsBound || !existsSync(shell)) return;
  shared.areProgramsBound = true;
  for (const child of runningChildren()) if (isProgram(child.spawnargs)) watchOver(child);
  // Node publishes the object of a child process before it starts the process.
  watchChildren((started) => {
    const child = started as SpawningProcess;
    const start = child.spawn.bind(child);
    child.spawn = (options) => {
      const { file, args = [] } = options;
      // Node reports a file that does not exist.
      if (!isProgram(args) || !existsSync(file)) return start(options);
      const marks = observersOf(args).flatMap(({ mark }) => openMark(mark));
      try {
        return spawnBound(child, start, { ...options, stdio: [...streamsOf(options), ...marks] });
      } finally {
        for (const mark of marks) closeSync(mark);
      }
    };
  });
}

/** wrangler starts its proxy before it loads a plugin. */
function runningChildren(): ChildProcess[] {
  const { _getActiveHandles: handles } = process as { _getActiveHandles?: () => unknown[] };
  return (handles?.call(process) ?? []).filter((handle) => handle instanceof ChildProcess);
}

function watchOver(child: ChildProcess): void {
  const stdio: StdioOptions = ["pipe", "ignore", "ignore"];
  const watcher = spawn(shell, ["-c", watchProgram, String(child.pid)], { stdio });
  const pipe = watcher.stdin as Socket;
  pipe.on("error", () => {});
  pipe.unref();
  watcher.unref();
  child.once("exit", () => pipe.end("\n"));
}

function streamsOf({ stdio = "pipe" }: SpawnOptions): readonly unknown[] {
  return typeof stdio === "string" ? [stdio, stdio, stdio] : stdio;
}

function spawnBound(
  child: SpawningProcess,
  start: SpawningProcess["spawn"],
  options: SpawnOptions & { readonly stdio: readonly unknown[] },
): unknown {
  const { file, args = [], stdio } = options;
  const pipe = stdio.length;
  const bound = [shell, "-c", startProgram(pipe), "ledge", file, ...args.slice(1)];
  const started = start({ ...options, file: shell, args: bound, stdio: stdio.concat("pipe") });
  const watcher = child.stdio?.[pipe] as Socket | undefined;
  watcher?.on("error", () => {}).resume();
  watcher?.unref();
  // "close" comes after "exit", when the watcher has ended, too.
  child.once("exit", () => watcher?.ref().end("\n"));
  return started;
}

/** Kills the process with the id that is its first argument, when its standard input ends without a line. */
const watchProgram = `trap "" HUP INT TERM; read -r _ || kill -9 "$0"`;

/** The watcher has no other file of the program: who reads from a program sees the program's end. */
function startProgram(pipe: number): string {
  const others = Array.from({ length: pipe - 2 }, (_, index) => `${index + 3}>&-`).join(" ");
  return `umask 077
trap "" HUP INT
${shell} -c '${watchProgram}' $$ <&${pipe} >/dev/null 2>&1 ${others} &
exec ${pipe}<&-
exec "$@"`;
}

interface SpawnOptions {
  readonly file: string;
  readonly args?: readonly string[];
  readonly stdio?: string | readonly unknown[];
}

type SpawningProcess = ChildProcess & { spawn(options: SpawnOptions): unknown };
