/** A command on a terminal, which `script` of util-linux makes. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { onTestFinished, vi } from "vitest";

const program = "/usr/bin/script";

/** Other systems have other versions of `script`, or none. */
export const hasTerminal = process.platform === "linux" && existsSync(program);

export class TerminalCommand {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  #output = "";

  /** @param command a command line of the shell */
  constructor(command: string, folder: string, environment: Record<string, string> = {}) {
    this.child = spawn(program, ["-qefc", command, "/dev/null"], {
      cwd: folder,
      // A process group, so that the end of the test ends the command, too.
      detached: true,
      // Not the variables of the tests: Node reads CI, NO_COLOR and others before it colours.
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], TERM: "xterm", ...environment },
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on("data", (chunk: Buffer) => (this.#output += chunk.toString()));
    }
    this.exited = new Promise((resolve) => this.child.once("close", resolve));
    onTestFinished(async () => {
      if (this.child.exitCode === null && this.child.signalCode === null) {
        process.kill(-(this.child.pid as number), "SIGKILL");
      }
      await this.exited;
    });
  }

  /** All output so far, with its escape sequences. */
  get output(): string {
    return this.#output;
  }

  type(text: string): void {
    this.child.stdin?.write(text);
  }

  async waitForOutput(pattern: RegExp): Promise<RegExpExecArray> {
    return vi.waitFor(
      () => {
        const match = pattern.exec(this.#output);
        if (match === null) throw new Error(`No output matches ${pattern}:\n${this.#output}`);
        return match;
      },
      { timeout: 60_000, interval: 20 },
    );
  }
}
