/** `ledge store …` in the process of the test, or as a process of its own. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import { onTestFinished } from "vitest";
import { runForBytes } from "./in-process-command.ts";
import { temporaryFolder } from "./store.ts";
import { bucketEntry, worker } from "./worker.ts";

const program = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly output: Buffer;
  readonly text: string;
  readonly errors: string;
}

/** A project with two buckets, in a folder that the end of the test removes. */
export class StoreProject {
  readonly folder = temporaryFolder();

  constructor() {
    const configuration = {
      name: "project",
      compatibility_date: "2026-08-01",
      store_buckets: [
        { binding: "PHOTOS", bucket_name: "photos" },
        { binding: "ARCHIVE", bucket_name: "archive", storage_class: "InfrequentAccess" },
      ],
    };
    writeFileSync(join(this.folder, "wrangler.jsonc"), JSON.stringify(configuration));
  }

  get persistPath(): string {
    return join(this.folder, ".wrangler/state/v3");
  }

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  write(path: string, content: string | Uint8Array): string {
    const absolute = this.path(path);
    mkdirSync(join(absolute, "../node"), { recursive: true });
    writeFileSync(absolute, content);
    return absolute;
  }

  /** Starts a runtime on the project's state, as a dev server does. */
  async serve(): Promise<Miniflare> {
    const env = { ARCHIVE: bucketEntry({ bucket_name: "archive" }) };
    const miniflare = new Miniflare({
      resourcePersistencePath: this.persistPath,
      workers: [worker("export default {};", { env })],
    });
    let disposed: Promise<void> | undefined;
    const dispose = miniflare.dispose.bind(miniflare);
    miniflare.dispose = () => (disposed ??= dispose());
    onTestFinished(() => miniflare.dispose());
    await miniflare.ready;
    return miniflare;
  }

  /** Starts `ledge store …` as a process of its own, from `dist/cli.js`. */
  start(...words: string[]): RunningCommand {
    return new RunningCommand(this.folder, ["store", ...words]);
  }

  /** Runs `ledge store …` in the process of the test. */
  async store(...words: string[]): Promise<Ended> {
    const { code, out, error } = await runForBytes(this.folder, ["store", ...words]);
    return { code, output: out, text: out.toString(), errors: error };
  }

  async json<Value>(...words: string[]): Promise<Value> {
    const { text } = await this.store(...words, "--json");
    return JSON.parse(text) as Value;
  }
}

export class RunningCommand {
  readonly child: ChildProcess;
  readonly #ended: Promise<Ended>;

  constructor(folder: string, words: readonly string[]) {
    this.child = spawn(process.execPath, [program, ...words], { cwd: folder });
    const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    for (const name of ["stdout", "stderr"] as const) {
      this.child[name]?.on("data", (chunk: Buffer) => chunks[name].push(chunk));
    }
    this.#ended = new Promise((resolve) => {
      this.child.once("close", (code) => {
        const output = Buffer.concat(chunks.stdout);
        const errors = Buffer.concat(chunks.stderr).toString("utf8");
        resolve({ code, output, text: output.toString("utf8"), errors });
      });
    });
    onTestFinished(async () => {
      if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill();
      await this.#ended;
    });
  }

  end(input: string | Uint8Array = ""): Promise<Ended> {
    this.child.stdin?.end(input);
    return this.#ended;
  }

  /** Ends the process without its signal handlers. A runtime that it has started stays. */
  kill(): Promise<Ended> {
    this.child.kill("SIGKILL");
    return this.#ended;
  }
}
