/** The files that a plan edits, and their diff. Nothing here writes a file. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, relative, sep } from "node:path";
import type { Note } from "./edits.ts";

export interface FileEdit {
  /** Relative to the folder of the command, with slashes. */
  readonly path: string;
  /** `null` for a new file. */
  readonly before: string | null;
  readonly after: string;
}

/** The edited files, each with its first and its last text. */
export class PlannedFiles {
  readonly folder: string;
  readonly #files = new Map<string, { before: string | null; after: string }>();
  readonly #notes = new Set<string>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The text after the edits so far; `null` without a file. */
  read(path: string): string | null {
    const planned = this.#files.get(path);
    if (planned !== undefined) return planned.after;
    return existsSync(path) ? readFileSync(path, "utf8") : null;
  }

  set(path: string, after: string): void {
    const { before } = this.#files.get(path) ?? { before: this.read(path) };
    this.#files.set(path, { before, after });
  }

  /** A file that does not exist is left out. */
  edit(path: string, edit: (text: string, note: Note) => string): void {
    const current = this.read(path);
    if (current === null) return;
    this.set(
      path,
      edit(current, (note) => this.#notes.add(`${this.#shown(path)}: ${note}`)),
    );
  }

  plan(): { readonly edits: readonly FileEdit[]; readonly notes: readonly string[] } {
    return {
      edits: [...this.#files]
        .filter(([, { before, after }]) => before !== after)
        .map(([path, texts]) => ({ path: this.#shown(path), ...texts })),
      notes: [...this.#notes],
    };
  }

  #shown(path: string): string {
    return relative(this.folder, path).split(sep).join("/");
  }
}

/** The folder, and the folders above it up to `top`. */
export function foldersUpTo(folder: string, top: string): string[] {
  const parent = dirname(folder);
  return folder === top || parent === folder ? [folder] : [folder, ...foldersUpTo(parent, top)];
}

const contextLines = 3;

/** A unified diff, for people who review the edits; `…` stands for lines that are left out. */
export function renderDiff({ path, before, after }: FileEdit): string {
  if (before === null) {
    return [`new file ${path}`, ...splitLines(after).map((line) => `+${line}`)].join("\n");
  }
  const lines = diffLines(splitLines(before), splitLines(after));
  const isShown = lines.map((_, index) =>
    lines
      .slice(Math.max(0, index - contextLines), index + contextLines + 1)
      .some((line) => !line.startsWith(" ")),
  );
  const shown = lines.flatMap((line, index) => {
    if (isShown[index] === true) return [line];
    return index === 0 || isShown[index - 1] === true ? ["…"] : [];
  });
  return [`--- ${path}`, `+++ ${path}`, ...shown].join("\n");
}

function splitLines(text: string): string[] {
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

/** The edits add lines and change single lines: each old line stays at its next place, if there is one. */
function diffLines(before: readonly string[], after: readonly string[]): string[] {
  const lines: string[] = [];
  let removed: string[] = [];
  let next = 0;
  const addUpTo = (end: number): void => {
    lines.push(...removed, ...after.slice(next, end).map((line) => `+${line}`));
    removed = [];
  };
  for (const line of before) {
    const place = after.indexOf(line, next);
    if (place === -1) {
      removed.push(`-${line}`);
      continue;
    }
    addUpTo(place);
    lines.push(` ${line}`);
    next = place + 1;
  }
  addUpTo(after.length);
  return lines;
}
