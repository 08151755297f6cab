/**
 * The processes that wrangler and Miniflare start: workerd, and the bundler.
 *
 * Neither wrangler nor Miniflare hands out its child processes. Node announces every process that
 * it starts on a diagnostics channel, before the process has an id and arguments.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";

/** @returns a function that ends the watch */
function watchChildren(onChild: (child: ChildProcess) => void): () => void {
  const onMessage = (message: unknown): void =>
    onChild((message as { process: ChildProcess }).process);
  subscribe("child_process", onMessage);
  return () => void unsubscribe("child_process", onMessage);
}

type OnRuntimeStart = (processId: number) => void;

/** By the port on which each Miniflare listens for its workerd. */
const listenersByLoopbackPort = new Map<number, OnRuntimeStart>();
const listenerOfContext = new AsyncLocalStorage<OnRuntimeStart>();
const loopbackArgument = "--external-addr=loopback=";
let isWatchingRuntimes = false;

/**
 * Calls `onStart` with the id of each workerd process that a Miniflare starts from now on. For a
 * plugin, which knows its Miniflare by the loopback port. A second call replaces the first.
 */
export function onRuntimeStart(loopbackPort: number, onStart: OnRuntimeStart): void {
  watchRuntimes();
  listenersByLoopbackPort.set(loopbackPort, onStart);
}

/**
 * Calls `onStart` with the id of the workerd process that `start` starts, and of each workerd
 * process that the same Miniflare starts later in its place.
 */
export function withRuntimeStart<Result>(onStart: OnRuntimeStart, start: () => Result): Result {
  watchRuntimes();
  return listenerOfContext.run(onStart, start);
}

function watchRuntimes(): void {
  if (isWatchingRuntimes) return;
  isWatchingRuntimes = true;
  watchChildren((child) => {
    const listener = listenerOfContext.getStore();
    setImmediate(() => {
      const loopbackPort = loopbackPortOf(child);
      if (child.pid === undefined || loopbackPort === null) return;
      listener?.(child.pid);
      listenersByLoopbackPort.get(loopbackPort)?.(child.pid);
    });
  });
}

/**
 * Calls `onCrash` when a runtime that starts from now on ends by a signal that its parent has not
 * sent. A runtime that exits by itself could not start, and its parent reports the reason.
 *
 * Miniflare starts a crashed runtime again, but wrangler's proxy in front of the script then has
 * the old address of the script, and requests wait forever. So the dev server needs to know.
 *
 * @returns a function that ends the watch
 */
export function watchCrashes(onCrash: (signal: string) => void): () => void {
  let watching = true;
  const end = watchChildren((child) =>
    child.once("exit", (_, signal) => {
      if (watching && signal !== null && !child.killed && isRuntime(child)) onCrash(signal);
    }),
  );
  return () => {
    watching = false;
    end();
  };
}

/** The child processes that start from now on. None is left when the program ends. */
export class ChildProcesses {
  readonly #running = new Set<ChildProcess>();
  readonly #endWatch: () => void;

  constructor() {
    this.#endWatch = watchChildren((child) => {
      this.#running.add(child);
      child.once("exit", () => this.#running.delete(child));
    });
  }

  /** Kills workerd and the bundler where they still run. The bundler would end by itself later. */
  async end(): Promise<void> {
    this.#endWatch();
    const left = Array.from(this.#running).filter((child) => isRuntime(child) || isBundler(child));
    await Promise.all(
      left.map(async (child) => {
        const exited = once(child, "exit");
        if (child.kill("SIGKILL")) await exited;
      }),
    );
  }
}

/** The name of the executable does not tell: MINIFLARE_WORKERD_PATH can name any file. */
function isRuntime(child: ChildProcess): boolean {
  return loopbackPortOf(child) !== null;
}

/** Miniflare passes its loopback address to workerd as an argument. */
function loopbackPortOf({ spawnargs }: ChildProcess): number | null {
  const argument = spawnargs?.find((each) => each.startsWith(loopbackArgument));
  return argument === undefined ? null : Number(argument.slice(argument.lastIndexOf(":") + 1));
}

function isBundler({ spawnfile }: ChildProcess): boolean {
  return /esbuild(\.exe)?$/.test(spawnfile);
}
