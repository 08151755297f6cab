/**
 * A project outside of the repository, with the package as npm would publish it.
 *
 * The other packages (vitest, the pool, wrangler) are links to the repository's `node_modules`, so
 * these tests need no network. `npx node test/tools/matrix.ts` installs them.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const modules = join(root, "node_modules");

export interface Project {
  readonly folder: string;
  write(path: string, text: string): void;
}

/** @param without packages that are missing in the project */
export function makeProject(
  files: Readonly<Record<string, string>>,
  { without = [] }: { without?: readonly string[] } = {},
): Project {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ledge-project-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const name of packageNames()) {
    if (without.includes(name)) continue;
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(modules, name), link, "junction");
  }
  cpSync(packedPackage(), join(folder, "node_modules", "ledge"), { recursive: true });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write("package.json", JSON.stringify({ name: "fresh", type: "module", private: true }));
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { folder, write };
}

/** Without the link to this package, which the build makes (`examples/link.ts`). */
function packageNames(): string[] {
  return readdirSync(modules)
    .filter((name) => !name.startsWith(".") && name !== "ledge")
    .flatMap((name) =>
      name.startsWith("@")
        ? readdirSync(join(modules, name)).map((scoped) => `${name}/${scoped}`)
        : [name],
    );
}

let packed: string | undefined;

/** A folder with the files of `npm pack`. Packing takes seconds, so a process packs once. */
function packedPackage(): string {
  if (packed !== undefined) return packed;
  const folder = mkdtempSync(join(tmpdir(), "ledge-packed-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const archive = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
  execFileSync("tar", ["xzf", archive, "--strip-components=1"], { cwd: folder });
  rmSync(join(folder, archive));
  return (packed = folder);
}

export interface VitestRun {
  readonly status: number | null;
  /** Both output streams, without colours. */
  readonly output: string;
}

/** Runs vitest in a folder and waits for its end. */
export async function runVitest(
  folder: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<VitestRun> {
  const running = startVitest(folder, ["run", ...args], env);
  const status = await running.ended;
  return { status, output: running.output() };
}

export interface RunningVitest {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  output(): string;
  /** Resolves when the output contains `text` at least `times` times. */
  waitForOutput(text: string, times?: number): Promise<void>;
}

export function startVitest(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningVitest {
  const child = spawn(process.execPath, [join(modules, "vitest", "vitest.mjs"), ...args], {
    cwd: folder,
    env: { ...environmentOutsideVitest(), NO_COLOR: "1", CI: "", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  const checks = new Set<() => void>();
  const append = (chunk: Buffer): void => {
    output += chunk.toString();
    for (const check of checks) check();
  };
  child.stdout.on("data", append);
  child.stderr.on("data", append);
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  return {
    process: child,
    ended,
    output: () => output,
    waitForOutput: (text, times = 1) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (output.split(text).length > times) resolve();
        };
        checks.add(check);
        void ended.then(() => reject(new Error(`vitest ended before "${text}":\n${output}`)));
        check();
      }),
  };
}

/** The environment without the variables that the outer vitest sets. */
function environmentOutsideVitest(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|TEST|NODE_ENV|VITE_|DEV|PROD|SSR|MODE)/.test(name),
    ),
  );
}
