/** One start of a dev server as a process, and what is measured of it. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findFreePort } from "../../src/base/ports.ts";
import { memoryMebibytes, processorSeconds } from "../process-tree.ts";

export interface Contestant {
  readonly name: string;
  /** Of the program, relative to the repository. */
  readonly program: string;
  readonly options: readonly string[];
  /** Beside the name, the script and the date. */
  readonly config: object;
}

export interface DevMeasurement {
  /** From the start of the process to the answer of the script. */
  readonly startMilliseconds: number;
  /** Of all processes, until then; `null` without /proc. */
  readonly startProcessorSeconds: number | null;
  /** From a save to the answer of the new script. */
  readonly reloadMilliseconds: number;
  /** Of all processes, after the reload; `null` without /proc. */
  readonly memoryMebibytes: number | null;
}

const repository = fileURLToPath(new URL("../../", import.meta.url));
const pollMilliseconds = 5;
const deadlineMilliseconds = 120_000;
/** Before a measurement of a server that is idle. */
const restMilliseconds = 2000;

export function spawnServer(folder: string, words: readonly string[]): ChildProcess {
  return spawn(process.execPath, words, {
    cwd: folder,
    stdio: "ignore",
    // Without these, wrangler waits for the network.
    env: {
      ...process.env,
      WRANGLER_SEND_METRICS: "false",
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
    },
  });
}

export async function measureDevServer(contestant: Contestant): Promise<DevMeasurement> {
  const folder = mkdtempSync(join(tmpdir(), "ledge-bench-dev-"));
  writeProject(folder, contestant);
  const port = await findFreePort(0, "127.0.0.1");
  const url = `http://localhost:${port}/`;
  const started = performance.now();
  const child = spawnServer(folder, commandLine(contestant, port));
  try {
    await waitForAnswer(child, url, "1");
    const startMilliseconds = performance.now() - started;
    const startProcessorSeconds = processorSeconds(child.pid as number);
    await delay(restMilliseconds);
    const saved = performance.now();
    writeScript(folder, "2");
    await waitForAnswer(child, url, "2");
    const reloadMilliseconds = performance.now() - saved;
    await delay(restMilliseconds);
    return {
      startMilliseconds,
      startProcessorSeconds,
      reloadMilliseconds,
      memoryMebibytes: memoryMebibytes(child.pid as number),
    };
  } finally {
    if (child.exitCode === null && child.kill("SIGTERM")) await once(child, "exit");
    rmSync(folder, { recursive: true, force: true });
  }
}

function commandLine({ program, options }: Contestant, port: number): string[] {
  return [join(repository, program), "dev", "--port", String(port), ...options];
}

function writeProject(folder: string, { config }: Contestant): void {
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"), "dir");
  mkdirSync(join(folder, "src"));
  writeScript(folder, "1");
  writeFileSync(
    join(folder, "wrangler.json"),
    JSON.stringify({
      name: "bench",
      main: "src/index.ts",
      compatibility_date: "2026-08-01",
      ...config,
    }),
  );
}

/** The script uses its bucket, so that an answer includes the start of the store. */
function writeScript(folder: string, version: string): void {
  writeFileSync(
    join(folder, "src/index.ts"),
    `export default {
  async fetch(_request: Request, env: { PHOTOS: R2Bucket }): Promise<Response> {
    await env.PHOTOS.put("version", "${version}");
    const object = await env.PHOTOS.get("version");
    return new Response(object?.body);
  },
};
`,
  );
}

async function waitForAnswer(child: ChildProcess, url: string, expected: string): Promise<void> {
  const deadline = performance.now() + deadlineMilliseconds;
  while (performance.now() < deadline && child.exitCode === null) {
    if ((await answer(url)) === expected) return;
    await delay(pollMilliseconds);
  }
  throw new Error(`${child.spawnargs.join(" ")} does not answer "${expected}"`);
}

async function answer(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { headers: { connection: "close" } });
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
}
