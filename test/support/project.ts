/** A project of a user, in a folder of its own, with this package installed. */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./store.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const installed = join(root, "node_modules");

export function temporaryProject(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  install(folder);
  return folder;
}

/** What `npm install` would do, by links to what is here; `ledge` is among them. */
export function install(folder: string): void {
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  for (const name of readdirSync(installed)) {
    if (!name.startsWith("."))
      symlinkSync(join(installed, name), join(folder, "node_modules", name));
  }
}

export interface Finished {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs a command of the project, or one of ours: `ledge types`. */
export function run(folder: string, command: string, ...words: string[]): Promise<Finished> {
  const [file, ...first] =
    command === "ledge"
      ? [process.execPath, join(root, "dist/cli.js")]
      : [join(installed, ".bin", command)];
  return new Promise((resolve) => {
    const child = execFile(
      file,
      [...first, ...words],
      { cwd: folder, encoding: "utf8", timeout: 100_000 },
      (error, out, errors) =>
        resolve({ code: error === null ? 0 : (child.exitCode ?? -1), out, error: errors }),
    );
  });
}
