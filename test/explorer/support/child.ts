/** A child process that runs a program of this folder and prints one line. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export interface Child {
  /** The line that the program has printed. */
  readonly line: string;
  /** Kills the process, which can do nothing about it. */
  kill(): Promise<void>;
}

export async function startChild(program: string, ...args: string[]): Promise<Child> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  onTestFinished(kill);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { line, kill };
}
