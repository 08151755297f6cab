/** `ledge dns …` in the process of the test, or as a process of its own. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { startDns, type RunningDns, type StartDnsOptions } from "../../dist/index.js";
import { runInProcess, type Ran } from "./in-process-command.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** Runs `ledge dns …` as a process of its own, from `dist/cli.js`. */
export async function runDns(
  folder: string,
  words: readonly string[],
  input?: string,
): Promise<Ran> {
  const child = spawn(process.execPath, [cli, "dns", ...words], { cwd: folder });
  child.stdin.end(input);
  const [out, error, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on("close", resolve)),
  ]);
  return { code, out, error };
}

/** A folder with a configuration file, and commands that run in it. */
export class DnsProject {
  readonly folder = mkdtempSync(join(tmpdir(), "ledge-dns-command-"));
  /** After `serve()`. */
  running!: RunningDns;

  constructor(dns: Readonly<Record<string, unknown>> = {}) {
    writeFileSync(join(this.folder, "wrangler.json"), JSON.stringify({ name: "project", dns }));
  }

  /** Runs `ledge dns …` in the process of the test. */
  run(...words: string[]): Promise<Ran> {
    return runInProcess(this.folder, ["dns", ...words]);
  }

  /** Serves the zones while the tests of a suite run, and then removes the folder. */
  serve(options: StartDnsOptions = { dnsPort: 0 }): void {
    const configPath = join(this.folder, "wrangler.json");
    beforeAll(async () => {
      this.running = await startDns({ configPath, port: 0, log: () => {}, ...options });
    });
    afterAll(async () => {
      await this.running.stop();
      this.remove();
    });
  }

  /** Runs a command that must end with this code and without a result, and returns its message. */
  async fails(code: number, ...words: string[]): Promise<string> {
    const ran = await this.run(...words);
    if (ran.code === code && ran.out === "") return ran.error;
    throw new Error(`ledge dns ${words.join(" ")}: ${ran.code}\n${ran.out}${ran.error}`);
  }

  /** Runs a command that must succeed, and returns its output. */
  async ok(...words: string[]): Promise<string> {
    const { code, out, error } = await this.run(...words);
    if (code !== 0) throw new Error(`ledge dns ${words.join(" ")}: ${code}\n${error}`);
    return out;
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- the JSON of any command
  async json(...words: string[]): Promise<any> {
    return JSON.parse(await this.ok(...words, "--json"));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
