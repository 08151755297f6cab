/**
 * What a command leaves behind when it ends, also when a signal ends the command: nothing. A runtime
 * that a command starts must not outlive the command, and a file that is not complete is removed.
 */
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { exitCode } from "./command.ts";

const signalCodes = {
  SIGHUP: exitCode.hangUp,
  SIGINT: exitCode.interrupted,
  SIGTERM: exitCode.terminated,
} as const;
type EndSignal = keyof typeof signalCodes;
const signals = Object.keys(signalCodes) as EndSignal[];

/** Runs `work`, then `cleanUp`. A signal runs `cleanUp` and ends the process; a second does not wait. */
export async function withCleanup<Result>(
  work: () => Promise<Result>,
  cleanUp: () => Promise<void>,
): Promise<Result> {
  let isStopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    const code = signalCodes[signal as EndSignal];
    if (isStopping) process.exit(code);
    isStopping = true;
    void cleanUp().finally(() => process.exit(code));
  };
  for (const signal of signals) process.on(signal, stop);
  try {
    return await work();
  } finally {
    for (const signal of signals) process.off(signal, stop);
    await cleanUp();
  }
}

const temporaryPaths = new Set<string>();

/** Runs `work`, then removes the file or the folder. The end of the process removes it, too. */
export async function withTemporaryPath<Result>(
  path: string,
  work: () => Promise<Result>,
): Promise<Result> {
  if (temporaryPaths.size === 0) process.on("exit", removeTemporaryPaths);
  temporaryPaths.add(path);
  try {
    return await work();
  } finally {
    await rm(path, { recursive: true, force: true });
    temporaryPaths.delete(path);
    if (temporaryPaths.size === 0) process.off("exit", removeTemporaryPaths);
  }
}

function removeTemporaryPaths(): void {
  for (const path of temporaryPaths) rmSync(path, { recursive: true, force: true });
}
