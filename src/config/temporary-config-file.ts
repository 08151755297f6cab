/**
 * A temporary configuration file, for functions of wrangler that take a path and not a table.
 *
 * The file stands beside the original, because wrangler resolves paths, `.dev.vars` and `.env` from
 * its folder. Its name holds the id of the process that wrote it: the next process removes files
 * that a killed process has left.
 */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../base/processes.ts";
import type { ProjectConfig } from "./read-config.ts";
import type { Table } from "./schema.ts";
import { showOriginalName } from "./temporary-config-warnings.ts";

const namePattern = /^\.ledge-(\d+)-\d+\.wrangler\.json$/;
let writtenCount = 0;

interface TemporaryConfigFile {
  readonly path: string;
  remove(): void;
}

/** Writes the file. The caller removes it. */
export function writeTemporaryConfig(folder: string, table: Table): TemporaryConfigFile {
  removeStaleFiles(folder);
  const path = join(folder, `.ledge-${process.pid}-${writtenCount++}.wrangler.json`);
  writeFileSync(path, JSON.stringify(table));
  return { path, remove: () => rmSync(path, { force: true }) };
}

/** Writes the file, calls `read` with its path, and removes the file. */
export async function withTemporaryConfig<Result>(
  { folder, path: original }: ProjectConfig,
  table: Table,
  read: (path: string) => Promise<Result>,
): Promise<Result> {
  const file = writeTemporaryConfig(folder, table);
  const restore = showOriginalName(file.path, original ?? "wrangler.json");
  try {
    return await read(file.path);
  } finally {
    restore();
    file.remove();
  }
}

function removeStaleFiles(folder: string): void {
  for (const name of readdirSync(folder)) {
    const writer = namePattern.exec(name)?.[1];
    if (writer !== undefined && !isAlive({ processId: Number(writer) })) {
      rmSync(join(folder, name), { force: true });
    }
  }
}
