/** A workerd that serves the build, in its place. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Place } from "./places.ts";

export interface RuntimeOptions {
  readonly place: Place;
  /** The program of workerd. */
  readonly workerd: string;
  /** The folder of `ledge build`. */
  readonly build: string;
  /** A folder of this runtime, for large content on its way. */
  readonly spool: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
}

/** workerd writes a line of JSON here when it listens. */
const controlPipe = 3;

export class Runtime {
  readonly name: string;
  readonly #options: RuntimeOptions;
  #process: ChildProcess | undefined;
  #address: string;

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.#address = options.place.address;
    this.name = options.place.name;
  }

  /** `http://10.89.0.11:8080`. A runtime that starts again has the same origin. */
  get origin(): string {
    return `http://${this.#address}`;
  }

  get processId(): number | undefined {
    return this.#process?.pid;
  }

  /** Returns when workerd listens. */
  async start(): Promise<void> {
    const { place, workerd, build, spool, environment, log } = this.#options;
    mkdirSync(spool, { recursive: true });
    const words = [
      ...place.command,
      workerd,
      "serve",
      "workerd.capnp",
      `--socket-addr=http=${this.#address}`,
      // Two runtimes of a machine have two ports.
      "--socket-addr=status=127.0.0.1:0",
      `--directory-path=spool=${spool}`,
      `--control-fd=${controlPipe}`,
    ];
    const child = spawn("env", words, {
      cwd: build,
      env: { ...environment, RUNTIME: place.name, PATH: process.env["PATH"] },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream as Readable).on("line", log);
    }
    const ended = once(child, "exit").then(() => null);
    const port = await Promise.race([listeningPort(child), ended]);
    if (port === null) throw new Error(`workerd did not start in ${place.name}.`);
    this.#address = `${place.address.split(":")[0]}:${port}`;
  }

  /** As a machine that loses its power: nothing is ended in order. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** Resolves when the process ends. */
  async ended(): Promise<void> {
    const child = this.#process;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      await once(child, "exit");
    }
  }
}

function listeningPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    createInterface(child.stdio[controlPipe] as Readable).on("line", (line) => {
      const { socket, port } = JSON.parse(line) as { socket: string; port: number };
      if (socket === "http") resolve(port);
    });
  });
}
