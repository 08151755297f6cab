/** Programs of an installation: run to their end, or run as servers. */
import { spawn, type ChildProcess } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";

/** On a busy machine, a test run of the pool takes minutes. */
const endMilliseconds = 300_000;
const waitMilliseconds = 120_000;
const pollMilliseconds = 100;

const environment = {
  ...process.env,
  NO_COLOR: "1",
  WRANGLER_SEND_METRICS: "false",
  // Keeps Miniflare from fetching request.cf over the network.
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
};

const running = new Set<Program>();
process.once("exit", () => {
  for (const program of running) program.kill();
});

export class Program {
  readonly #child: ChildProcess;
  /** Settles when the program and its process group have closed their output. */
  readonly ended: Promise<unknown>;
  #output = "";

  constructor(
    command: string,
    args: readonly string[],
    folder: string,
    variables: Readonly<Record<string, string>> = {},
  ) {
    this.#child = spawn(command, args, {
      cwd: folder,
      // A process group: its runtimes end with it.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...environment, ...variables },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.#output += stripVTControlCharacters(chunk.toString());
      });
    }
    running.add(this);
    this.ended = once(this.#child, "close").finally(() => running.delete(this));
  }

  get output(): string {
    return this.#output;
  }

  /** The first group of a pattern that the output matches. */
  async waitFor(pattern: RegExp): Promise<string> {
    return eventually(() => {
      const match = pattern.exec(this.#output);
      if (match !== null) return match[1] ?? match[0];
      if (this.#child.exitCode !== null) throw new Ended(`The program ended:\n${this.#output}`);
      throw new Error(`No output matches ${pattern}:\n${this.#output}`);
    });
  }

  /** @throws with the output when the exit code is not 0 */
  async end(): Promise<string> {
    const timer = setTimeout(() => this.kill(), endMilliseconds);
    await this.ended;
    clearTimeout(timer);
    if (this.#child.exitCode !== 0) {
      throw new Error(`The exit code is ${this.#child.exitCode}:\n${this.#output}`);
    }
    return this.#output;
  }

  /** Interrupts the program as a terminal does, and waits for its end. */
  async interrupt(): Promise<void> {
    this.#signal("SIGINT");
    await Promise.race([this.ended, delay(waitMilliseconds, undefined, { ref: false })]);
    this.kill();
  }

  kill(): void {
    this.#signal("SIGKILL");
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-(this.#child.pid as number), signal);
    } catch {
      // No process of the group is left.
    }
  }
}

class Ended extends Error {}

/** Repeats `attempt` until it does not throw. */
export async function eventually<Result>(attempt: () => Result | Promise<Result>): Promise<Result> {
  const end = Date.now() + waitMilliseconds;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end || error instanceof Ended) throw error;
      await delay(pollMilliseconds);
    }
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
