/**
 * A process that a test kills: in its own process group, with a mark that finds its descendants
 * after its death (`process-table.ts`).
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";
import {
  describeProcesses,
  isRuntimeProcess,
  killProcesses,
  markedProcesses,
  markVariable,
  processTree,
  waitForEnd,
  type ProcessEntry,
} from "../../support/processes.ts";

/** Runtimes start slowly on a busy machine. */
const startMilliseconds = 100_000;

export interface FaultProcessOptions {
  readonly folder?: string;
  readonly environment?: Record<string, string>;
}

export class FaultProcess {
  readonly mark = randomUUID();
  readonly child: ChildProcess;
  /** The exit code; `null` after a signal. */
  readonly exited: Promise<number | null>;
  #output = "";
  #onOutput = new Set<() => void>();
  hasExited = false;

  /** @param command of the program; a `.ts` file runs in Node */
  constructor(command: readonly string[], { folder, environment }: FaultProcessOptions = {}) {
    const [file, ...args] = /\.[jt]s$/.test(command[0] as string)
      ? [process.execPath, ...command]
      : command;
    this.child = spawn(file as string, args, {
      ...(folder !== undefined && { cwd: folder }),
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      env: {
        ...process.env,
        NO_COLOR: "1",
        WRANGLER_SEND_METRICS: "false",
        ...environment,
        [markVariable]: this.mark,
      },
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.#output += stripVTControlCharacters(chunk.toString());
        for (const listener of this.#onOutput) listener();
      });
    }
    this.child.stdin?.on("error", () => {});
    this.exited = new Promise((resolve) =>
      // All output has arrived, unless an orphan keeps the pipe open.
      this.child.once("exit", (code) => {
        this.hasExited = true;
        setImmediate(() => {
          for (const listener of this.#onOutput) listener();
          resolve(code);
        });
      }),
    );
    onTestFinished(() => this.killAll());
  }

  get processId(): number {
    return this.child.pid as number;
  }

  get output(): string {
    return this.#output;
  }

  send(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  /**
   * Waits for output from position `since` on.
   *
   * @throws when the process ends without this output
   */
  waitForOutput(pattern: RegExp, since = 0): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#onOutput.delete(look);
      };
      const look = (): void => {
        const match = pattern.exec(this.#output.slice(since));
        if (match !== null) {
          finish();
          resolve(match);
        } else if (this.hasExited) fail(`Process ${this.processId} ended without`);
      };
      const fail = (what: string): void => {
        finish();
        reject(new Error(`${what} output that matches ${pattern}:\n${this.#output}`));
      };
      const timer = setTimeout(() => fail("No"), startMilliseconds);
      this.#onOutput.add(look);
      look();
    });
  }

  /** The process and all its descendants, also those whose parents have died. */
  processes(): ProcessEntry[] {
    // Another process can have the id of a process that has ended.
    const tree = this.hasExited ? [] : processTree(this.processId);
    const ids = new Set(tree.map(({ processId }) => processId));
    return [...tree, ...markedProcesses(this.mark).filter(({ processId }) => !ids.has(processId))];
  }

  runtimes(): ProcessEntry[] {
    return this.processes().filter(isRuntimeProcess);
  }

  /** SIGKILL for the process only: its descendants become orphans. */
  async killParent(): Promise<void> {
    await killProcesses(this.processes().filter(({ processId }) => processId === this.processId));
    await this.exited;
  }

  /** SIGKILL for the process and all its descendants. */
  async killAll(): Promise<void> {
    // A parent can start another process between the look and the kill.
    for (let left = this.processes(); left.length > 0; left = this.processes()) {
      await killProcesses(left);
    }
    await this.exited;
  }

  /** SIGTERM, and the wait for the end of the process. */
  async stop(): Promise<void> {
    this.child.kill("SIGTERM");
    await this.exited;
  }

  /** Waits until no process is left. @returns a description of the processes that are left */
  async processesLeft(): Promise<string[]> {
    const left = await waitForEnd(this.processes());
    return left.length === 0 ? [] : describeProcesses(left).split("\n");
  }
}
