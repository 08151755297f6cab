/**
 * Errors of system calls, injected into a running workerd by `strace`. The store calls workerd, and
 * workerd calls the kernel: this is the lowest place at which a test can make the disk fail.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { isRuntimeProcess, processTree } from "../../support/processes.ts";

export interface Injection {
  /** System calls, as `strace` names them. */
  readonly calls: string;
  readonly error: "ENOSPC" | "EIO";
  /** Which of the calls fails, from 1; with `"+"`, this one and all later ones. */
  readonly when: `${number}` | `${number}+`;
}

/** Why errors cannot be injected on this machine; `null` when they can. */
export function injectionProblem(): string | null {
  if (process.platform !== "linux") return "strace exists only for Linux";
  const target = spawn("sleep", ["60"], { stdio: "ignore" });
  try {
    // strace ends with its tracee. A timeout means that it could attach.
    const { error, stderr } = spawnSync("strace", ["-p", String(target.pid)], {
      encoding: "utf8",
      timeout: 2000,
      killSignal: "SIGINT",
    });
    if (error?.message.includes("ENOENT") === true) {
      return "strace is not installed";
    }
    return stderr.includes("attached") ? null : `strace cannot attach: ${stderr.trim()}`;
  } finally {
    target.kill("SIGKILL");
  }
}

/** The workerd processes below this process. */
export function workerdBelow(): number[] {
  const runtimes = processTree(process.pid).filter(isRuntimeProcess);
  return runtimes.map(({ processId }) => processId);
}

/** Makes system calls of a process fail while `work` runs. Returns how many failed. */
export async function withInjection(
  processId: number,
  { calls, error, when }: Injection,
  work: () => Promise<void>,
): Promise<number> {
  const tracer = spawn(
    "strace",
    [
      "-f",
      "-qq",
      "-p",
      String(processId),
      "-e",
      `trace=${calls}`,
      "-e",
      `inject=${calls}:error=${error}:when=${when}`,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let output = "";
  tracer.stderr?.setEncoding("utf8").on("data", (text: string) => (output += text));
  await isTraced(processId, tracer);
  try {
    await work();
  } finally {
    tracer.kill("SIGINT");
    await new Promise((resolve) => tracer.once("close", resolve));
  }
  return output.split("(INJECTED)").length - 1;
}

/** Waits until the kernel names the tracer. */
async function isTraced(processId: number, tracer: ChildProcess): Promise<void> {
  for (;;) {
    const threads = readdirSync(`/proc/${processId}/task`);
    const tracers = threads.map((thread) =>
      /^TracerPid:\s+(\d+)/m.exec(readFileSync(`/proc/${processId}/task/${thread}/status`, "utf8")),
    );
    if (tracers.every((found) => Number(found?.[1]) === tracer.pid)) return;
    if (tracer.exitCode !== null) throw new Error("strace has ended: it cannot attach");
    await delay(5);
  }
}
