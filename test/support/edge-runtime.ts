/** `ledge build`, and workerd with the folder that the command makes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { expect, onTestFinished } from "vitest";
import { run } from "./project.ts";

export interface EdgeBuild {
  readonly folder: string;
  readonly files: readonly string[];
  readonly workerdPath: string;
  readonly workerdVersion: string;
}

export async function build(folder: string, ...words: string[]): Promise<EdgeBuild> {
  const { code, out, error } = await run(folder, "ledge", "build", "--json", ...words);
  expect({ code, error }).toEqual({ code: 0, error: "" });
  return JSON.parse(out) as EdgeBuild;
}

/** workerd with the build, and an environment with these variables only. */
export async function serve(
  { folder, workerdPath }: EdgeBuild,
  environment: Record<string, string>,
) {
  const child = spawn(
    workerdPath,
    ["serve", "workerd.capnp", "--socket-addr=http=127.0.0.1:0", "--control-fd=3"],
    { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe", "pipe"] },
  );
  const ended = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  const listening = new Promise<number>((resolve) => {
    createInterface(child.stdio[3] as Readable).on("line", (line) =>
      resolve((JSON.parse(line) as { port: number }).port),
    );
  });
  const port = await Promise.race([listening, ended.then(() => null)]);
  const origin = `http://127.0.0.1:${port}`;
  return {
    /** Whether workerd has started. */
    isRunning: port !== null,
    output: () => output,
    fetch: (path: string, init?: RequestInit) => fetch(`${origin}/${path}`, init),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
