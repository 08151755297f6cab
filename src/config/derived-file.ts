/**
 * A configuration that was derived, as a file that wrangler can read.
 *
 * It lies beside the original for the moment in which it is read, because wrangler takes paths,
 * `.dev.vars` and `.env` from there. Its name holds the process that wrote it, and so the next one
 * can remove what a process that was killed has left.
 */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Table } from "./config-file.ts";
import type { ProjectConfig } from "./read-config.ts";

const namePattern = /^\.ledge-(\d+)-\d+\.wrangler\.json$/;
let written = 0;

/** Lets `read` have the file, which is gone afterwards. */
export async function withDerivedFile<Result>(
  { folder, path: original }: ProjectConfig,
  table: Table,
  read: (path: string) => Promise<Result>,
): Promise<Result> {
  removeLeft(folder);
  const path = join(folder, `.ledge-${process.pid}-${written++}.wrangler.json`);
  writeFileSync(path, JSON.stringify(table));
  try {
    const shown = original ?? join(folder, "wrangler.json");
    return await quietly(() => renamed(path, shown, () => read(path)));
  } finally {
    rmSync(path, { force: true });
  }
}

function removeLeft(folder: string): void {
  for (const name of readdirSync(folder)) {
    const owner = namePattern.exec(name)?.[1];
    if (owner !== undefined && !isRunning(Number(owner))) {
      rmSync(join(folder, name), { force: true });
    }
  }
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** wrangler warns of `unsafe`, which the user has not written. */
const silencer = "WRANGLER_DISABLE_EXPERIMENTAL_WARNING";

async function quietly<Result>(act: () => Promise<Result>): Promise<Result> {
  if (silencer in process.env) return act();
  process.env[silencer] = "1";
  try {
    return await act();
  } finally {
    delete process.env[silencer];
  }
}

const speakers = ["log", "warn", "error"] as const;

/** What wrangler says of the file, it says of the original. */
async function renamed<Result>(
  path: string,
  shown: string,
  act: () => Promise<Result>,
): Promise<Result> {
  const before = speakers.map((name) => console[name]);
  for (const [index, name] of speakers.entries()) {
    console[name] = (...said: unknown[]) =>
      before[index]?.(
        ...said.map((word) =>
          typeof word === "string" ? word.replaceAll(basename(path), basename(shown)) : word,
        ),
      );
  }
  try {
    return await act();
  } finally {
    for (const [index, name] of speakers.entries()) console[name] = before[index]!;
  }
}
