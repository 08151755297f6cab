/**
 * Runtimes that outlive their process.
 *
 * workerd is a child of the process that runs Miniflare, and does not notice when that is killed:
 * it goes on, with the databases open and alarms to come. So a note also says which process the
 * runtime is, and whoever finds the note of an owner that is gone ends what it has left.
 */
import { subscribe } from "node:diagnostics_channel";
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { isRunningProcess, type FoundRunRecord } from "./run-record.ts";

/** Whom to tell of the runtimes of each Miniflare, known by its own port. */
const listeners = new Map<number, (processId: number) => void>();

/** Calls `found` with the number of every workerd that a Miniflare starts from now on. */
export function whenRuntimeStarts(loopbackPort: number, found: (processId: number) => void): void {
  if (listeners.size === 0) subscribe("child_process", lookAtChild);
  listeners.set(loopbackPort, found);
}

function lookAtChild(message: unknown): void {
  const { process: child } = message as { process: ChildProcess };
  // It is told of before it is started.
  setImmediate(() => {
    // workerd has to know how to reach its Miniflare, so that is among its arguments.
    const loopback = child.spawnargs?.find((argument) => argument.startsWith(loopbackArgument));
    if (child.pid === undefined || loopback === undefined) return;
    listeners.get(Number(loopback.slice(loopback.lastIndexOf(":") + 1)))?.(child.pid);
  });
}

const loopbackArgument = "--external-addr=loopback=";

/** Ends the runtime of an owner that is gone, if it is still there. */
export async function endOrphan({ owner }: FoundRunRecord): Promise<void> {
  if (owner?.endpoint === undefined || owner.runtimeProcessId === undefined) return;
  const { processId, endpoint, runtimeProcessId } = owner;
  if (isRunningProcess(processId) || !isRunningProcess(runtimeProcessId)) return;
  // A process may have got the number of one that has ended: only the runtime knows the secret.
  if (!(await answers(endpoint.port, endpoint.secret)) || !isWorkerd(runtimeProcessId)) return;
  try {
    process.kill(runtimeProcessId, "SIGKILL");
  } catch {
    // Gone by itself.
  }
}

async function answers(port: number, secret: string): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      headers: { authorization: `Bearer ${secret}` },
      signal: AbortSignal.timeout(answerMilliseconds),
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** As far as the system says what runs where. */
function isWorkerd(processId: number): boolean {
  try {
    return readFileSync(`/proc/${processId}/cmdline`, "utf8").includes("workerd");
  } catch {
    return process.platform !== "linux";
  }
}

const answerMilliseconds = 1000;
