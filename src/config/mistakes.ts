/**
 * The mistakes of a configuration file. They are collected, so that one run shows them all, and
 * said in the order of the file.
 */
import { UserError } from "../base/user-error.ts";
import { shownPath, type ConfigFile } from "./config-file.ts";
import { fieldName, type Path, type Place } from "./place.ts";

/** Takes a mistake: where it is, and what to do about it, in whole sentences. */
export type Report = (path: Path, problem: string) => void;

export class Mistakes {
  readonly #file: ConfigFile;
  readonly #found: { place: Place; text: string }[] = [];

  constructor(file: ConfigFile) {
    this.#file = file;
  }

  add(path: Path, problem: string): void {
    const place = this.#file.locate(path);
    this.#found.push({ place, text: `${fieldName(path)} ${problem}` });
  }

  throwIfAny(): void {
    if (this.#found.length === 0) return;
    const name = shownPath(this.#file.path);
    const lines = this.#found
      .toSorted((a, b) => a.place.line - b.place.line || a.place.column - b.place.column)
      .map(({ place, text }) => `${name}:${place.line}:${place.column}: ${text}`);
    throw new UserError(lines.join("\n"));
  }
}

/** `is not a key; did you mean …?`, `must be a list` → with a mark at its end */
export function sentence(problem: string): string {
  return /[.?!]$/.test(problem) ? problem : `${problem}.`;
}

/** `a number`, as in "must be text, not a number" */
export function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value === null) return "null";
  if (typeof value === "string") return "text";
  return typeof value === "object" ? "a table" : `a ${typeof value}`;
}
