/** Runs programs of the unpacked Ceph: to their end, or as daemons. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface CephPlace {
  /** The folder with the unpacked packages. */
  readonly root: string;
  /** The folder that programs see as /cluster. */
  readonly data: string;
}

const inRoot = fileURLToPath(new URL("in-root.sh", import.meta.url));
const configuration = ["-c", "/cluster/ceph.conf"];

/** @throws Error with the program's output when it fails or takes too long */
export async function runProgram(
  place: CephPlace,
  command: readonly string[],
  millisecondsMax: number,
): Promise<string> {
  const child = spawn(inRoot, argumentsOf(place, command), {
    env: { ...process.env, LEDGE_CEPH_DATA: place.data },
    stdio: ["ignore", "pipe", "pipe"],
    signal: AbortSignal.timeout(millisecondsMax),
    killSignal: "SIGKILL",
  });
  const [output, errors]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  try {
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) throw new Error(`exit code ${code}`);
  } catch (error) {
    const text = Buffer.concat([...output, ...errors]).toString();
    throw new Error(`${command.join(" ")} failed: ${String(error)}\n${text}`, { cause: error });
  }
  return Buffer.concat(output).toString();
}

export class Daemon {
  readonly #place: CephPlace;
  readonly #command: readonly string[];
  readonly #log: string;
  readonly #name: string;
  #child: ChildProcess | null = null;

  constructor(place: CephPlace, name: string, command: readonly string[]) {
    this.#place = place;
    this.#name = name;
    this.#command = command;
    this.#log = join(place.data, `${name}.log`);
  }

  start(): void {
    if (this.#child !== null) throw new Error(`${this.#name} runs already.`);
    const log = openSync(this.#log, "a");
    try {
      this.#child = spawn(inRoot, argumentsOf(this.#place, this.#command), {
        env: { ...process.env, LEDGE_CEPH_DATA: this.#place.data },
        stdio: ["ignore", log, log],
      });
    } finally {
      closeSync(log);
    }
  }

  /** @throws Error when the daemon was started and has ended by itself */
  failIfEnded(): void {
    const child = this.#child;
    if (child === null || !hasEnded(child)) return;
    throw new Error(`${this.#name} has ended: ${child.signalCode ?? child.exitCode}`);
  }

  /** Ends the daemon, without time for it to clean up. Does nothing if it does not run. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || hasEnded(child)) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  logEnd(): string {
    if (!existsSync(this.#log)) return `${this.#name}: no log`;
    return `${this.#name}:\n${readFileSync(this.#log, "utf8").slice(-3000)}`;
  }
}

function argumentsOf(place: CephPlace, [program = "", ...rest]: readonly string[]): string[] {
  // The program that writes the map of monitors takes no configuration.
  return [place.root, program, ...(program === "monmaptool" ? [] : configuration), ...rest];
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
