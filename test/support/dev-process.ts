/**
 * A dev server on a project in a temporary folder: `ledge dev` as users run it, a child process; or `startDev()` in the
 * process of the test, for tests whose subject is not the process, in half of the processor time.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, vi } from "vitest";
import { startDev } from "../../dist/index.js";
import { hasProc, readProcesses } from "./processes.ts";
import { temporaryFolder } from "./store.ts";

/** Path of the built command line. */
export const ledge = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** Options of `vi.waitFor()`. Runtimes start slowly on a busy machine. */
export const waitOptions = { timeout: 80_000, interval: 50 };

/** Creates a folder with these files. A value that is not text is written as JSON. */
export function createProject(files: Record<string, string | object>): string {
  const folder = temporaryFolder();
  symlinkSync(modules, join(folder, "node_modules"), "dir");
  for (const [name, content] of Object.entries(files)) write(join(folder, name), content);
  return folder;
}

export function write(path: string, content: string | object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content, null, 2));
}

/** What a dev server says, without colours. */
abstract class DevOutput {
  /** So far. */
  output = "";

  /** Waits until the output from position `since` on matches `pattern`. */
  async waitForOutput(pattern: RegExp, since = 0): Promise<RegExpExecArray> {
    return vi.waitFor(() => {
      const match = pattern.exec(this.output.slice(since));
      if (match === null) throw new Error(`No output matches ${pattern}:\n${this.output}`);
      return match;
    }, waitOptions);
  }

  /** The script's address, as soon as the server prints it. */
  async url(): Promise<string> {
    return (await this.waitForOutput(/^Ready +(\S+)$/m))[1] as string;
  }
}

type DevOptions = NonNullable<Parameters<typeof startDev>[0]>;

/** `startDev()` on free ports. Its output is that of Ledge, without the messages of wrangler and of the script. */
export class DevServer extends DevOutput {
  #stop = async (): Promise<void> => {};

  static async start(folder: string, options: DevOptions = {}): Promise<DevServer> {
    const server = new DevServer();
    const ports = { port: 0, s3Port: 0, explorerPort: 0, dnsPort: 0, dnsApiPort: 0 };
    const log = (text: string): void => void (server.output += `${text}\n`);
    const dev = await startDev({ folder, ...ports, log, logLevel: "none", ...options });
    server.#stop = () => dev.stop();
    onTestFinished(() => server.end());
    await dev.ready;
    return server;
  }

  end(): Promise<void> {
    return this.#stop();
  }
}

export class DevProcess extends DevOutput {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;

  constructor(
    command: string,
    args: readonly string[],
    folder: string,
    environment: Record<string, string> = {},
  ) {
    super();
    this.child = spawn(command, args, {
      cwd: folder,
      // A process group, as a terminal creates it: signals reach the runtime too.
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1", WRANGLER_SEND_METRICS: "false", ...environment },
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        // A terminal ends lines with CR LF.
        this.output += stripVTControlCharacters(chunk.toString()).replaceAll("\r", "");
      });
    }
    this.exited = new Promise((resolve) => this.child.once("close", (code) => resolve(code)));
    onTestFinished(async () => {
      if (this.hasProcesses()) process.kill(-this.pid, "SIGKILL");
      await this.exited;
    });
  }

  get pid(): number {
    return this.child.pid as number;
  }

  /** Whether a process of the group is still running. */
  hasProcesses(): boolean {
    try {
      process.kill(-this.pid, 0);
    } catch {
      return false;
    }
    // A process that has ended stays in the table as a zombie until its parent waits for it.
    return !hasProc || readProcesses().some(({ groupId }) => groupId === this.pid);
  }

  /** Runtimes and the bundler end some milliseconds after their process. */
  async processesEnd(): Promise<void> {
    await vi.waitUntil(() => !this.hasProcesses(), waitOptions);
  }

  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    process.kill(this.pid, signal);
    return this.exited;
  }
}

/** Starts `ledge dev` on free ports. */
export function ledgeDev(folder: string, ...args: string[]): DevProcess {
  const ports = ["port", "s3-port", "explorer-port", "dns-port", "dns-api-port"].flatMap((name) => [
    `--${name}`,
    "0",
  ]);
  return new DevProcess(process.execPath, [ledge, "dev", ...ports, ...args], folder);
}

/** Repeats the request until the response is this JSON value. */
export async function waitForAnswer(url: string, expected: unknown): Promise<void> {
  await vi.waitFor(async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(5000) });
    expect(await response.json()).toEqual(expected);
  }, waitOptions);
}
