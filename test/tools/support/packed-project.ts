/**
 * A project outside of the repository, with the package as it would be published.
 *
 * What the package does not bring (vitest, the pool, wrangler) are links to the repository's own:
 * nothing is installed, so these tests need no network. `npm run test:matrix` does install.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import {
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

/** @param without packages that the project does not have */
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
  unpack(join(folder, "node_modules", "ledge"));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write("package.json", JSON.stringify({ name: "fresh", type: "module", private: true }));
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { folder, write };
}

function packageNames(): string[] {
  return readdirSync(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@")
        ? readdirSync(join(modules, name)).map((scoped) => `${name}/${scoped}`)
        : [name],
    );
}

/** What `npm pack` puts into the package, unpacked. */
function unpack(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
  execFileSync("tar", ["xzf", packed, "--strip-components=1"], { cwd: folder });
  rmSync(join(folder, packed));
}

export interface VitestRun {
  readonly status: number | null;
  /** Both streams, without colours */
  readonly output: string;
}

/** Runs vitest in a folder, to its end. */
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
  /** Resolves when the output has the text so many times. */
  saw(text: string, times?: number): Promise<void>;
}

export function startVitest(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningVitest {
  const child = spawn(process.execPath, [join(modules, "vitest", "vitest.mjs"), ...args], {
    cwd: folder,
    env: { ...inherited(), NO_COLOR: "1", CI: "", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  const waiting = new Set<() => void>();
  const take = (chunk: Buffer): void => {
    output += chunk.toString();
    for (const look of waiting) look();
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  return {
    process: child,
    ended,
    output: () => output,
    saw: (text, times = 1) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (output.split(text).length > times) resolve();
        };
        waiting.add(look);
        void ended.then(() => reject(new Error(`vitest ended:\n${output}`)));
        look();
      }),
  };
}

/** Without what the vitest around this one has set. */
function inherited(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|TEST|NODE_ENV|VITE_|DEV|PROD|SSR|MODE)/.test(name),
    ),
  );
}
