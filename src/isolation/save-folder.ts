/** The folder with the copies of a runtime's files. */
import { constants, copyFileSync, linkSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

export class SaveFolder {
  readonly #path: string;
  #count = 0;

  constructor(path: string) {
    mkdirSync(path, { recursive: true });
    this.#path = path;
  }

  #pathOf(name: string): string {
    return join(this.#path, name);
  }

  /** Copies a file. Returns the name of the copy. */
  copy(path: string): string {
    const name = this.#nextName();
    copyFileSync(path, this.#pathOf(name), constants.COPYFILE_FICLONE);
    return name;
  }

  /** A copy of a file that never changes: another name for it, where the disk has such names. */
  link(path: string): string {
    const name = this.#nextName();
    link(path, this.#pathOf(name));
    return name;
  }

  copyBack(name: string, path: string): void {
    copyFileSync(this.#pathOf(name), path, constants.COPYFILE_FICLONE);
  }

  linkBack(name: string, path: string): void {
    link(this.#pathOf(name), path);
  }

  /** Removes all copies except these. */
  keep(names: ReadonlySet<string>): void {
    for (const name of readdirSync(this.#path)) {
      if (!names.has(name)) rmSync(this.#pathOf(name));
    }
  }

  #nextName(): string {
    return String(++this.#count);
  }
}

function link(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
  }
}
