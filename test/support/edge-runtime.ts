/** `ledge build`, and workerd with the folder that the command makes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { expect, onTestFinished } from "vitest";
import { runInProcess } from "./in-process-command.ts";
import { temporaryProject } from "./project.ts";

export interface EdgeBuild {
  readonly folder: string;
  readonly files: readonly string[];
  readonly workerdPath: string;
  readonly workerdVersion: string;
  readonly statusAddress: string | null;
}

/** A project whose bucket `PHOTOS` is on the remote "cluster". */
export function clusterProject(
  folder: string,
  cluster: object,
  files: Readonly<Record<string, string>>,
): string {
  const configuration = {
    name: "photos",
    main: "index.js",
    compatibility_date: "2026-08-01",
    store_buckets: [{ binding: "PHOTOS", bucket_name: "photos", remote: "cluster" }],
    remotes: { cluster },
  };
  return temporaryProject({ "wrangler.json": JSON.stringify(configuration), ...files }, folder);
}

export async function build(folder: string, ...words: string[]): Promise<EdgeBuild> {
  const { code, out, error } = await runInProcess(folder, ["build", "--json", ...words]);
  expect({ code, error }).toEqual({ code: 0, error: "" });
  return JSON.parse(out) as EdgeBuild;
}

/**
 * workerd with the build, and an environment with these variables only.
 *
 * @param options `atEnd` takes the function that ends workerd. Default: the test ends it
 */
export async function serve(
  { folder, workerdPath, statusAddress }: EdgeBuild,
  environment: Record<string, string>,
  {
    before = [],
    after = [],
    atEnd = onTestFinished,
  }: {
    before?: readonly string[];
    after?: readonly string[];
    atEnd?: (end: () => Promise<void>) => void;
  } = {},
) {
  const sockets = statusAddress === null ? ["http"] : ["http", "status"];
  const addresses = sockets.map((name) => `--socket-addr=${name}=127.0.0.1:0`);
  const words = ["serve", "workerd.capnp", ...addresses, "--control-fd=3"];
  const [program = "", ...others] = [...before, workerdPath, ...words, ...after];
  const child = spawn(program, others, {
    cwd: folder,
    env: environment,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  atEnd(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  const ports = new Map<string, number>();
  const listening = new Promise<void>((resolve) => {
    createInterface(child.stdio[3] as Readable).on("line", (line) => {
      const { socket, port } = JSON.parse(line) as { socket: string; port: number };
      ports.set(socket, port);
      if (ports.size === sockets.length) resolve();
    });
  });
  await Promise.race([listening, ended]);
  const origin = (socket: string) => `http://127.0.0.1:${ports.get(socket)}`;
  return {
    /** Whether workerd has started. */
    isRunning: ports.size === sockets.length,
    pid: child.pid as number,
    port: ports.get("http") as number,
    output: () => output,
    fetch: (path: string, init?: RequestInit) => fetch(`${origin("http")}/${path}`, init),
    status: (path: string) => fetch(`${origin("status")}/${path}`),
    statusPort: ports.get("status"),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
