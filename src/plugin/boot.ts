/**
 * Which runs of a runtime use a persist folder.
 *
 * Each leaves a note, named after its boot, with the process that owns it and that process's
 * temporary folder. A note whose process is gone, or whose folder is, belongs to a run that has
 * ended, and the next one to start takes the note away. What a boot without a note has left
 * half-done may be collected (`core/blob-name.ts`).
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Note {
  readonly processId: number;
  readonly temporaryFolder: string;
}

export function newBoot(): string {
  return randomBytes(8).toString("hex");
}

/** Leaves a note of `boot` in `notes`, and takes those away whose runs have ended. */
export function noteBoot(boot: string, notes: string, temporaryFolder: string): void {
  mkdirSync(notes, { recursive: true });
  // Miniflare makes the folder only when it needs it, and removes it in any case.
  mkdirSync(temporaryFolder, { recursive: true });
  const note: Note = { processId: process.pid, temporaryFolder };
  writeFileSync(join(notes, boot), JSON.stringify(note));

  for (const name of readdirSync(notes)) {
    if (name === boot) continue;
    const other = readNote(join(notes, name));
    // A runtime that restarts has another boot, and the folder it had before.
    const replaced = other?.temporaryFolder === temporaryFolder;
    if (other === null || replaced || !isRunning(other)) {
      rmSync(join(notes, name), { recursive: true, force: true });
    }
  }
}

/** `null` for what is no note, or was cut short: its run ended before it began. */
function readNote(path: string): Note | null {
  try {
    const note = JSON.parse(readFileSync(path, "utf8")) as Partial<Note> | null;
    const { processId, temporaryFolder } = note ?? {};
    if (typeof processId !== "number" || typeof temporaryFolder !== "string") return null;
    return { processId, temporaryFolder };
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
