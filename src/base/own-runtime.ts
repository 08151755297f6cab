/**
 * A runtime that Ledge starts itself: workerd with a configuration file, without Miniflare.
 *
 * The owner of a folder needs a runtime without a script. Miniflare would be most of its cost: to
 * load Miniflare takes half a second of processor time, and the workers that Miniflare adds to each
 * runtime take three times the memory of ours.
 *
 * workerd is started again when it ends by itself, at the same ports.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Config } from "miniflare";
import { capnpText } from "./capnp-text.ts";
import { writeWhole } from "./folder-owner.ts";
import { removeSocket } from "./folder-sockets.ts";
import { workerdPath } from "./miniflare.ts";
import { keepRuntimeFilesPrivate } from "./private-files.ts";
import { identityOf, ownConfigName, type ProcessIdentity } from "./processes.ts";

export interface OwnRuntimeOptions {
  /** Where the configuration file is while workerd starts: a folder that this process owns. */
  readonly folder: string;
  readonly config: Pick<Config, "services"> & { readonly sockets: readonly OwnSocket[] };
  /** Called for each process of workerd, before the process opens anything. */
  readonly onStart: (runtime: ProcessIdentity) => void;
  /** Called for each process, when it listens at all sockets. The port is 0 for a Unix socket. */
  readonly onListen: (ports: ReadonlyMap<string, number>) => void;
  /** Receives the lines that the workers print. */
  readonly onOutput: (line: string) => void;
}

interface OwnSocket {
  readonly name: string;
  readonly address: string;
  readonly service: { readonly name: string; readonly entrypoint?: string };
}

const unixPrefix = "unix:";
/** workerd writes a line of JSON to this pipe when it listens at a socket. */
const controlPipe = 3;
/** Between two attempts to start a workerd that does not start again. */
const retryMilliseconds = 1_000;

export class OwnRuntime {
  readonly #options: OwnRuntimeOptions;
  /** Where workerd listens, after its first start. */
  #ports: ReadonlyMap<string, number> = new Map();
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

  portOf(socketName: string): number {
    return this.#ports.get(socketName) ?? 0;
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
    const { folder, config, onStart, onListen, onOutput } = this.#options;
    const path = join(folder, ownConfigName);
    writeWhole(path, configText(config));
    // A workerd that was killed before its socket got another name has left the socket.
    for (const { address } of config.sockets) {
      if (address.startsWith(unixPrefix)) removeSocket(address.slice(unixPrefix.length));
    }
    try {
      const child = startWorkerd([...this.#arguments(), path]);
      this.#process = child;
      const ended = once(child, "close");
      const startLines: string[] = [];
      let pass = (line: string): void => void startLines.push(line);
      for (const stream of [child.stdout, child.stderr]) {
        createInterface(stream as Readable).on("line", (line) => pass(line));
      }
      if (child.pid !== undefined) onStart(identityOf(child.pid));
      const ports = await Promise.race([listening(child, config.sockets.length), ended]);
      if (!(ports instanceof Map)) throw new Error(startFailure(startLines));
      this.#ports = ports;
      for (const line of startLines) onOutput(line);
      pass = onOutput;
      void ended.then(() => this.#restart());
      onListen(ports);
    } catch (error) {
      this.#process?.kill("SIGKILL");
      throw error;
    } finally {
      rmSync(path, { force: true });
    }
  }

  /** The ports of the last start, so that clients find the next workerd. */
  #arguments(): string[] {
    const sockets = [...this.#ports].filter(([, port]) => port !== 0);
    return sockets.map(([name, port]) => {
      const { address } = this.#options.config.sockets.find((each) => each.name === name)!;
      return `--socket-addr=${name}=${address.replace(/:\d+$/, `:${port}`)}`;
    });
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
  const config = { services, sockets: sockets.map((socket) => ({ ...socket, http: {} })) };
  return `using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = ${capnpText(config)};\n`;
}

function startWorkerd(args: readonly string[]): ChildProcess {
  keepRuntimeFilesPrivate();
  const child = spawn(workerdPath(), ["serve", `--control-fd=${controlPipe}`, ...args], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    windowsHide: true,
    env: { ...process.env, TZ: "UTC" },
  });
  endWithThisProcess(child);
  return child;
}

/** The port of each socket. Never settles if workerd ends before. */
function listening(child: ChildProcess, count: number): Promise<Map<string, number>> {
  const ports = new Map<string, number>();
  return new Promise((resolve) => {
    createInterface(child.stdio[controlPipe] as Readable).on("line", (line) => {
      const { event, socket, port } = JSON.parse(line) as ControlMessage;
      if (event === "listen") ports.set(socket, port);
      if (ports.size === count) resolve(ports);
    });
  });
}

interface ControlMessage {
  readonly event: string;
  readonly socket: string;
  readonly port: number;
}

function startFailure(lines: readonly string[]): string {
  const reason = lines.length === 0 ? "It has printed nothing." : lines.join("\n");
  return `The runtime (workerd) does not start. ${reason}`;
}

function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

const running = new Set<ChildProcess>();
/** The signals that end a process, with their numbers. */
const endSignals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

/** workerd does not notice the end of its parent. */
function endWithThisProcess(child: ChildProcess): void {
  if (running.size === 0) {
    process.on("exit", killRunning);
    for (const signal of Object.keys(endSignals)) process.on(signal, endBySignal);
  }
  running.add(child);
  child.once("exit", () => {
    running.delete(child);
    if (running.size > 0) return;
    process.off("exit", killRunning);
    for (const signal of Object.keys(endSignals)) process.off(signal, endBySignal);
  });
}

function killRunning(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Without a listener Node would end by itself, and another listener decides what the signal does. */
function endBySignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  process.exit(128 + endSignals[signal as keyof typeof endSignals]);
}
