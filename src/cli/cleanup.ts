/** A runtime that a command starts must not outlive the command. */
import { exitCode } from "./command.ts";

/** Runs `work`, then `cleanUp`. SIGINT and SIGTERM run `cleanUp` and end the process. */
export async function withCleanup<Result>(
  work: () => Promise<Result>,
  cleanUp: () => Promise<void>,
): Promise<Result> {
  const stop = (signal: NodeJS.Signals): void => {
    const code = signal === "SIGINT" ? exitCode.interrupted : exitCode.terminated;
    void cleanUp().finally(() => process.exit(code));
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    return await work();
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    await cleanUp();
  }
}
