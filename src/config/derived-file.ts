/**
 * A configuration that was derived, as a file that wrangler can read.
 *
 * It lies beside the original for the moment in which it is read, because wrangler takes paths,
 * `.dev.vars` and `.env` from there. Its name holds the process that wrote it, and so the next one
 * can remove what a process that was killed has left.
 */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../base/processes.ts";
import type { Table } from "./config-file.ts";
import { speakOf } from "./derived-file-warnings.ts";
import type { ProjectConfig } from "./read-config.ts";

const namePattern = /^\.ledge-(\d+)-\d+\.wrangler\.json$/;
let written = 0;

interface DerivedFile {
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
  { folder, path: original }: ProjectConfig,
  table: Table,
  read: (path: string) => Promise<Result>,
): Promise<Result> {
  const file = writeDerivedFile(folder, table);
  const said = speakOf(file.path, original ?? "wrangler.json");
  try {
    return await read(file.path);
  } finally {
    said.end();
    file.remove();
  }
}

function removeLeft(folder: string): void {
  for (const name of readdirSync(folder)) {
    const owner = namePattern.exec(name)?.[1];
    if (owner !== undefined && !isAlive({ processId: Number(owner) })) {
      rmSync(join(folder, name), { force: true });
    }
  }
}
