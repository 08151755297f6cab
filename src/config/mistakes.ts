/** The mistakes of a configuration file: all of them, in the order of the file. */
import { UserError } from "../base/user-error.ts";
import { shownPath, type ConfigFile } from "./config-file.ts";
import { sentence } from "./schema.ts";
import { fieldName, type Path, type SourcePosition } from "./source-position.ts";

export class Mistakes {
  readonly #file: ConfigFile;
  readonly #found: { readonly position: SourcePosition; readonly text: string }[] = [];

  constructor(file: ConfigFile) {
    this.#file = file;
  }

  add(path: Path, problem: string): void {
    const position = this.#file.locate(path);
    this.#found.push({ position, text: `${fieldName(path)} ${sentence(problem)}` });
  }

  throwIfAny(): void {
    if (this.#found.length === 0) return;
    const name = shownPath(this.#file.path);
    const lines = this.#found
      .toSorted(({ position: a }, { position: b }) => a.line - b.line || a.column - b.column)
      .map(({ position: { line, column }, text }) => `${name}:${line}:${column}: ${text}`);
    throw new UserError(lines.join("\n"));
  }
}
