/**
 * The small files in a state folder that tell processes of each other: records, locks, sockets. Tests
 * falsify them as a reused process id, a reused port or a clock that was set back would.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** Folders that hold data, not records. */
const dataFolders = /\/(databases|blobs|do|cache)$/;

function recordFiles(folder: string): string[] {
  if (!existsSync(folder) || dataFolders.test(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return lstatSync(path).isDirectory() ? [path, ...recordFiles(path)] : [path];
  });
}

/** All records of the store and of DNS. */
export function recordsOf(persistPath: string): string[] {
  return ["store", "dns"].flatMap((name) => recordFiles(join(persistPath, name)));
}

/**
 * Makes every record name a process and a port that others use now. The recorded start times stay,
 * so they are not those of the process.
 *
 * @returns the number of values that were changed
 */
export function falsifyRecords(
  persistPath: string,
  { processId, port }: { readonly processId: number; readonly port: number },
): number {
  let changes = 0;
  const falsify = (name: string, value: unknown): unknown => {
    if (typeof value !== "number") return value;
    if (/processId$/i.test(name)) changes++;
    else if (/port$/i.test(name)) changes++;
    else return value;
    return /port$/i.test(name) ? port : processId;
  };
  for (const path of recordsOf(persistPath)) {
    if (!lstatSync(path).isFile()) continue;
    const text = readFileSync(path, "utf8");
    if (!text.startsWith("{")) continue;
    writeFileSync(path, JSON.stringify(JSON.parse(text), falsify));
  }
  return changes;
}

/** Dates all records, and a lock as the versions before 0.2 left it after a crash. */
export function dateRecords(persistPath: string, time: Date): void {
  for (const name of ["store", "dns"]) {
    if (existsSync(join(persistPath, name))) {
      mkdirSync(join(persistPath, name, "claiming"), { recursive: true });
    }
  }
  for (const path of recordsOf(persistPath)) {
    if (!lstatSync(path).isSocket()) utimesSync(path, time, time);
  }
}
