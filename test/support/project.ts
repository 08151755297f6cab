/** A user's project in a temporary folder, with this package installed. */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./store.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const installed = join(root, "node_modules");

/** @param folder a folder that the caller removes; by default one that is removed with the test */
export function temporaryProject(
  files: Readonly<Record<string, string>>,
  folder = temporaryFolder(),
): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  install(folder);
  return folder;
}

/** Links the packages of this repository, `ledge` included, as `npm install` would install them. */
export function install(folder: string): void {
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  for (const name of readdirSync(installed)) {
    if (!name.startsWith("."))
      symlinkSync(join(installed, name), join(folder, "node_modules", name));
  }
}

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs `ledge`, or a command of an installed package. */
export function run(folder: string, command: string, ...args: string[]): Promise<CommandResult> {
  const [file, ...program] =
    command === "ledge"
      ? [process.execPath, join(root, "dist/cli.js")]
      : [join(installed, ".bin", command)];
  return new Promise((resolve) => {
    const child = execFile(
      file,
      [...program, ...args],
      { cwd: folder, encoding: "utf8", timeout: 100_000 },
      (error, out, errors) =>
        resolve({ code: error === null ? 0 : (child.exitCode ?? -1), out, error: errors }),
    );
  });
}
