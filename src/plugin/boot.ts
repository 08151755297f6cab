/**
 * Who is using a persist folder.
 *
 * Each run of a runtime leaves a note with its boot id, the process that owns it and that
 * process's temporary folder. A note whose process is gone, or whose folder is, belongs to a run
 * that has ended, and what that run left half-done may be collected (`core/blob-name.ts`).
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeBoot } from "../store/core/blob-name.ts";

interface Note {
  readonly processId: number;
  readonly temporaryFolder: string;
}

export function newBoot(): string {
  return makeBoot(Date.now(), randomBytes(4).toString("hex"));
}

/**
 * Notes that `boot` runs on `folder`, in place of an earlier run of the same runtime.
 *
 * @returns other boots on the same folder that may still be going on
 */
export function noteBoot(boot: string, folder: string, temporaryFolder: string): string[] {
  const notes = join(folder, "boots");
  mkdirSync(notes, { recursive: true });
  const alive: string[] = [];
  for (const name of readdirSync(notes)) {
    if (name === boot) continue;
    const note = readNote(join(notes, name));
    const ours = note?.temporaryFolder === temporaryFolder;
    if (note !== null && !ours && isRunning(note)) alive.push(name);
    else rmSync(join(notes, name), { force: true });
  }
  const note: Note = { processId: process.pid, temporaryFolder };
  writeFileSync(join(notes, boot), JSON.stringify(note));
  return alive;
}

/** `null` for a note that was cut short: its run ended before it began. */
function readNote(path: string): Note | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Note;
  } catch {
    return null;
  }
}

function isRunning({ processId, temporaryFolder }: Note): boolean {
  if (!existsSync(temporaryFolder)) return false;
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // A process of somebody else's cannot be signalled, but it is there.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
