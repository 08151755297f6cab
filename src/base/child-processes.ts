/**
 * The processes that wrangler and Miniflare start: workerd, and the bundler.
 *
 * Neither wrangler nor Miniflare hands out its child processes. Node announces every process that
 * it starts on a diagnostics channel, before the process has an id and arguments.
 */
import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { Readable } from "node:stream";
import {
  identityOf,
  isRuntimeCommand,
  loopbackArgument,
  type ProcessIdentity,
} from "./processes.ts";

/** @returns a function that ends the watch */
function watchChildren(onChild: (child: ChildProcess) => void): () => void {
  const onMessage = (message: unknown): void =>
    onChild((message as { process: ChildProcess }).process);
  subscribe("child_process", onMessage);
  return () => void unsubscribe("child_process", onMessage);
}

/** Observes the runtimes of a Miniflare, which starts another after a reload or a crash. */
export interface RuntimeObserver {
  onStart?(runtime: ProcessIdentity): void;
  /** The runtime listens at a socket, by the name that Miniflare gives the socket. */
  onListen?(socketName: string): void;
  /** @param isKilled whether this process has ended the runtime */
  onExit?(isKilled: boolean): void;
}

/** By the port on which each Miniflare listens for its workerd, and by the plugin. */
const observersByLoopbackPort = new Map<number, Map<string, RuntimeObserver>>();
let isWatchingRuntimes = false;

/**
 * Observes the runtimes that a Miniflare starts from now on. For a plugin, which knows its Miniflare
 * by the loopback port. A second call of the same plugin replaces the first.
 */
export function observeRuntimesAt(
  loopbackPort: number,
  pluginName: string,
  observer: RuntimeObserver,
): void {
  watchRuntimes();
  const observers = observersByLoopbackPort.get(loopbackPort) ?? new Map<string, RuntimeObserver>();
  observersByLoopbackPort.set(loopbackPort, observers.set(pluginName, observer));
}

function watchRuntimes(): void {
  if (isWatchingRuntimes) return;
  isWatchingRuntimes = true;
  watchChildren((child) => {
    const observers = (): RuntimeObserver[] => {
      const loopbackPort = loopbackPortOf(child);
      return loopbackPort === null
        ? []
        : [...(observersByLoopbackPort.get(loopbackPort)?.values() ?? [])];
    };
    // Before Miniflare's own listener: who waits for the end of Miniflare sees what this leaves.
    child.once("exit", () => {
      for (const observer of observers()) observer.onExit?.(child.killed);
    });
    setImmediate(() => {
      if (child.pid === undefined) return;
      for (const observer of observers()) {
        observer.onStart?.(identityOf(child.pid));
        followLines(child.stdio[controlPipe], (line) => {
          const { event, socket } = JSON.parse(line) as { event: string; socket: string };
          if (event === "listen") observer.onListen?.(socket);
        });
      }
    });
  });
}

/** workerd writes a line of JSON to this pipe when it listens at a socket. */
const controlPipe = 3;

/**
 * Calls `act` with the lines of a stream that another part of the program reads. To read before the
 * other part does would take lines from it, so this waits for the listener of the other part.
 */
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
 * Calls `onCrash` when a runtime of Miniflare that starts from now on ends by a signal that its parent has not
 * sent. A runtime that exits by itself could not start, and its parent reports the reason.
 *
 * Miniflare starts a crashed runtime again, but wrangler's proxy in front of the script then has
 * the old address of the script, and requests wait forever. So the dev server needs to know.
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
      if (!watching || loopbackPortOf(child) === null) return tell();
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

/**
 * Calls `onExit` when the child has ended. The listeners of "exit" are called by `tell`, or after a
 * call of `kill()`, whose caller waits for the event.
 */
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

/** Resolves when this process has read all that the runtimes wrote which have ended, while watched. */
export async function endedRuntimesOutput(): Promise<void> {
  await Promise.all(endingOutputs);
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

function isRuntime({ spawnargs }: ChildProcess): boolean {
  return (spawnargs ?? []).some(isRuntimeCommand);
}

function loopbackPortOf({ spawnargs }: ChildProcess): number | null {
  const argument = spawnargs?.find((each) => each.startsWith(loopbackArgument));
  return argument === undefined ? null : Number(argument.slice(argument.lastIndexOf(":") + 1));
}

function isBundler({ spawnfile }: ChildProcess): boolean {
  return /esbuild(\.exe)?$/.test(spawnfile);
}
