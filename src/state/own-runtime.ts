/**
 * A runtime that Ledge starts itself: workerd with a configuration file, without Miniflare.
 *
 * The owner of a folder needs a runtime without a script. Miniflare would be most of its cost: to
 * load Miniflare takes half a second of processor time.
 *
 * The runtime listens at Unix sockets only, and holds the mark of the folder (`owner.ts`). workerd is
 * started again when it ends by itself.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Config } from "miniflare";
import { capnpText, workerdConfigFile } from "../base/capnp-text.ts";
import { writeWhole } from "../base/private-files.ts";
import { removeSocket } from "./sockets.ts";
import { workerdPath } from "../base/miniflare.ts";
import { openMark } from "../base/open-mark.ts";
import { controlPipe, endProgramsWithThisProcess, ownConfigName } from "../base/programs.ts";
import { takeStartTurn } from "./lock.ts";
import { markPath } from "./owner.ts";

export interface OwnRuntimeOptions {
  /** Where the configuration file is while workerd starts: a folder that this process owns. */
  readonly folder: string;
  readonly config: Pick<Config, "services"> & { readonly sockets: readonly OwnSocket[] };
  /** Prepares the databases for each start of workerd, in the turn of the folder's runtime. */
  readonly beforeStart?: () => Promise<void>;
  /** Called before each start of workerd. */
  readonly onStart?: (() => void) | undefined;
  /** Called for each process, when it listens at all sockets. */
  readonly onListen: () => void | Promise<void>;
  /** Receives the lines that the workers print. */
  readonly onOutput: (line: string) => void;
}

interface OwnSocket {
  readonly name: string;
  readonly path: string;
  readonly service: { readonly name: string; readonly entrypoint?: string };
}

/** Between two attempts to start a workerd that does not start again. */
const retryMilliseconds = 1_000;

export class OwnRuntime {
  readonly #options: OwnRuntimeOptions;
  #process: ChildProcess | undefined;
  #isStopped = false;

  private constructor(options: OwnRuntimeOptions) {
    this.#options = options;
  }

  /** Starts workerd, and returns when it listens at all sockets. */
  static async start(options: OwnRuntimeOptions): Promise<OwnRuntime> {
    const runtime = new OwnRuntime(options);
    await runtime.#launch();
    return runtime;
  }

  /** Returns when workerd has ended. A write that was acknowledged is on the disk. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const running = this.#process;
    if (running === undefined) return;
    const exited = hasExited(running) ? undefined : once(running, "exit");
    running.kill("SIGKILL");
    await exited;
  }

  async #launch(): Promise<void> {
    const { folder, config, beforeStart, onStart, onListen, onOutput } = this.#options;
    const path = join(folder, ownConfigName);
    const endTurn = await takeStartTurn(folder);
    try {
      await beforeStart?.();
      writeWhole(path, configText(config));
      // A workerd that was killed before its socket got another name has left the socket.
      for (const socket of config.sockets) removeSocket(socket.path);
      onStart?.();
      const child = startWorkerd(path, folder);
      this.#process = child;
      const ended = once(child, "close");
      const startLines: string[] = [];
      let pass = (line: string): void => void startLines.push(line);
      for (const stream of [child.stdout, child.stderr]) {
        createInterface(stream as Readable).on("line", (line) => pass(line));
      }
      const first = await Promise.race([listening(child, config.sockets.length), ended]);
      if (first !== "listening") throw new Error(startFailure(startLines));
      for (const line of startLines) onOutput(line);
      pass = onOutput;
      void ended.then(() => this.#restart());
      await onListen();
    } catch (error) {
      this.#process?.kill("SIGKILL");
      throw error;
    } finally {
      rmSync(path, { force: true });
      endTurn();
    }
  }

  async #restart(): Promise<void> {
    while (!this.#isStopped) {
      try {
        return await this.#launch();
      } catch (error) {
        if (this.#isStopped) return;
        this.#options.onOutput((error as Error).message);
        await delay(retryMilliseconds, undefined, { ref: false });
      }
    }
  }
}

function configText({ services, sockets }: OwnRuntimeOptions["config"]): string {
  const config = {
    services,
    sockets: sockets.map(({ path, ...socket }) => ({
      ...socket,
      address: `unix:${path}`,
      http: {},
    })),
  };
  return workerdConfigFile(capnpText(config));
}

function startWorkerd(configPath: string, folder: string): ChildProcess {
  endProgramsWithThisProcess();
  const marks = openMark(markPath(folder));
  try {
    return spawn(workerdPath(), ["serve", `--control-fd=${controlPipe}`, configPath], {
      stdio: ["ignore", "pipe", "pipe", "pipe", ...marks],
      windowsHide: true,
      env: { ...process.env, TZ: "UTC" },
    });
  } finally {
    for (const mark of marks) closeSync(mark);
  }
}

/** Never settles if workerd ends before it listens at all sockets. */
function listening(child: ChildProcess, count: number): Promise<"listening"> {
  let listeners = 0;
  return new Promise((resolve) => {
    createInterface(child.stdio[controlPipe] as Readable).on("line", (line) => {
      const { event } = JSON.parse(line) as { readonly event: string };
      if (event === "listen" && ++listeners === count) resolve("listening");
    });
  });
}

function startFailure(lines: readonly string[]): string {
  const reason = lines.length === 0 ? "It has printed nothing." : lines.join("\n");
  return `The runtime (workerd) does not start. ${reason}`;
}

function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
