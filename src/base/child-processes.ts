/**
 * The processes that wrangler and Miniflare start: runtimes, and the bundler.
 *
 * Nobody tells of them, except Node, which announces every process that is started.
 */
import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";

/** @returns ends the announcements */
function onEachChild(onStart: (child: ChildProcess) => void): () => void {
  const onMessage = (message: unknown): void =>
    onStart((message as { process: ChildProcess }).process);
  subscribe("child_process", onMessage);
  return () => void unsubscribe("child_process", onMessage);
}

/**
 * Calls `onCrash` when a runtime that is started from now on ends by a signal that its owner has
 * not sent. One that exits by itself could not start, and its owner says why.
 *
 * Miniflare starts it again, but wrangler's proxy in front of the script has then forgotten where
 * the script is, and requests wait for ever; so the dev server has to hear of it.
 *
 * @returns ends the watch
 */
export function watchRuntimes(onCrash: (signal: string) => void): () => void {
  let watching = true;
  const end = onEachChild((child) =>
    child.once("exit", (_, signal) => {
      if (watching && signal !== null && !child.killed && isCalled(child, "workerd")) {
        onCrash(signal);
      }
    }),
  );
  return () => {
    watching = false;
    end();
  };
}

/** Keeps account of processes, so that none is left when the program ends. */
export class ChildProcesses {
  readonly #running = new Set<ChildProcess>();
  readonly #endAccount: () => void;

  constructor() {
    this.#endAccount = onEachChild((child) => {
      this.#running.add(child);
      child.once("exit", () => this.#running.delete(child));
    });
  }

  /** Ends those that are left. The bundler would do so by itself, a little later. */
  async end(): Promise<void> {
    this.#endAccount();
    const left = Array.from(this.#running).filter(
      (child) => isCalled(child, "workerd") || isCalled(child, "esbuild"),
    );
    await Promise.all(
      left.map(async (child) => {
        const exited = once(child, "exit");
        if (child.kill("SIGKILL")) await exited;
      }),
    );
  }
}

function isCalled({ spawnfile }: ChildProcess, name: string): boolean {
  return new RegExp(`${name}(\\.exe)?$`).test(spawnfile);
}
