/**
 * A configuration that was derived, as a file that wrangler can read.
 *
 * It lies beside the original for the moment in which it is read, because wrangler takes paths,
 * `.dev.vars` and `.env` from there. Its name holds the process that wrote it, and so the next one
 * can remove what a process that was killed has left.
 */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Table } from "./config-file.ts";

const namePattern = /^\.ledge-(\d+)-\d+\.wrangler\.json$/;
let written = 0;

export interface DerivedFile {
  readonly path: string;
  remove(): void;
}

/** Writes the file, for whoever reads it more than once. It is there until it is removed. */
export function writeDerivedFile(folder: string, table: Table): DerivedFile {
  removeLeft(folder);
  const path = join(folder, `.ledge-${process.pid}-${written++}.wrangler.json`);
  writeFileSync(path, JSON.stringify(table));
  return { path, remove: () => rmSync(path, { force: true }) };
}

/** Lets `read` have the file, which is gone afterwards. */
export async function withDerivedFile<Result>(
  folder: string,
  table: Table,
  read: (path: string) => Promise<Result>,
): Promise<Result> {
  const file = writeDerivedFile(folder, table);
  try {
    return await quietly(() => read(file.path));
  } finally {
    file.remove();
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
