/** A server of the benchmark, in a process of its own: `servers/` has the programs. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Where a server listens. A program of `servers/` prints it as its first line, in JSON. */
export interface ServerAddress {
  readonly port: number;
  /** The path of the bucket: `/bench`. */
  readonly path: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** How many deletes between two turns the server takes at once. Default: 8 */
  readonly deletesAtOnce?: number;
}

/** `process` is ours with `durability = "process"`, for rows that compare the durability. */
export const serverNames = ["ours", "process", "miniflare", "s3rver", "bare"] as const;
export type ServerName = (typeof serverNames)[number];

const programs: Record<ServerName, string> = {
  ours: "./servers/ledge.ts",
  process: "./servers/ledge-process.ts",
  miniflare: "./servers/miniflare.ts",
  s3rver: "./servers/s3rver.ts",
  bare: "./servers/bare.ts",
};

export class ServerProcess {
  readonly name: ServerName;
  readonly address: ServerAddress;
  readonly #process: ChildProcess;

  private constructor(name: ServerName, address: ServerAddress, child: ChildProcess) {
    this.name = name;
    this.address = address;
    this.#process = child;
  }

  /** @param folder where the server keeps its state */
  static async start(name: ServerName, folder: string): Promise<ServerProcess> {
    const program = fileURLToPath(new URL(programs[name], import.meta.url));
    const flags = ["--disable-warning=ExperimentalWarning"];
    const child = spawn(process.execPath, [...flags, program, folder], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const lines = createInterface({ input: child.stdout });
    const [line] = (await Promise.race([
      once(lines, "line"),
      once(child, "exit").then(() => [""]),
    ])) as [string];
    if (line === "") throw new Error(`The server "${name}" has ended before it listened`);
    return new ServerProcess(name, JSON.parse(line) as ServerAddress, child);
  }

  get processId(): number {
    return this.#process.pid as number;
  }

  /** A server ends when its standard input does. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    this.#process.stdin?.end();
    await once(this.#process, "exit");
  }
}

/** For the programs: prints the address, and resolves when the benchmark has ended the input. */
export async function serveUntilEnd(address: ServerAddress): Promise<void> {
  console.log(JSON.stringify(address));
  process.stdin.resume();
  await once(process.stdin, "end");
}
