/**
 * Where the keys and items of a TOML document stand. The parser gives values without places, so
 * this reads the text once more. It is handed only what the parser has accepted, and so it follows
 * the structure of the language without checking it.
 */
import { parse as parseToml } from "smol-toml";
import type { Path } from "./place.ts";

/** Offsets by path, as JSON: of the key for a key, of the value for an item of a list. */
export function tomlPlaces(text: string): Map<string, number> {
  return new TomlScanner(text).document();
}

class TomlScanner {
  readonly #text: string;
  #offset = 0;
  readonly #places = new Map<string, number>();
  /** How many tables each `[[list]]` has so far. */
  readonly #lengths = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
  }

  document(): Map<string, number> {
    let table: Path = [];
    for (this.#blank(); this.#offset < this.#text.length; this.#blank()) {
      const start = this.#offset;
      if (this.#take("[[")) table = this.#listTable(this.#keys(), start);
      else if (this.#take("[")) table = this.#table(this.#keys(), start);
      else this.#pair(table);
      while (this.#take("]"));
    }
    return this.#places;
  }

  #table(keys: readonly string[], offset: number): Path {
    let path: Path = [];
    for (const key of keys) path = this.#enter([...path, key], offset);
    return path;
  }

  #listTable(keys: readonly string[], offset: number): Path {
    const path = [...this.#table(keys.slice(0, -1), offset), keys.at(-1)!];
    const length = this.#lengths.get(JSON.stringify(path)) ?? 0;
    this.#lengths.set(JSON.stringify(path), length + 1);
    this.#note(path, offset);
    return this.#note([...path, length], offset);
  }

  /** A list of tables stands for the last of them. */
  #enter(path: Path, offset: number): Path {
    this.#note(path, offset);
    const length = this.#lengths.get(JSON.stringify(path));
    return length === undefined ? path : [...path, length - 1];
  }

  #note(path: Path, offset: number): Path {
    const name = JSON.stringify(path);
    if (!this.#places.has(name)) this.#places.set(name, offset);
    return path;
  }

  #pair(table: Path): void {
    const start = this.#offset;
    let path = table;
    for (const key of this.#keys()) path = this.#note([...path, key], start);
    this.#take("=");
    this.#blank();
    this.#value(path);
  }

  #value(path: Path): void {
    if (this.#take("[")) {
      let index = 0;
      for (this.#blank(); !this.#take("]"); this.#blank()) {
        this.#value(this.#note([...path, index++], this.#offset));
        this.#blank();
        this.#take(",");
      }
    } else if (this.#take("{")) {
      for (this.#blank(); !this.#take("}"); this.#blank()) {
        this.#pair(path);
        this.#blank();
        this.#take(",");
      }
    } else if (this.#string() === null) {
      this.#match(/[^,\]}#\r\n]*/y);
    }
  }

  /** `a.b."c d"` */
  #keys(): string[] {
    const keys: string[] = [];
    do {
      this.#match(/[ \t]*/y);
      const quoted = this.#string();
      keys.push(
        quoted === null
          ? this.#match(/[A-Za-z0-9_-]+/y)
          : (parseToml(`key = ${quoted}`)["key"] as string),
      );
      this.#match(/[ \t]*/y);
    } while (this.#take("."));
    return keys;
  }

  /** The text of a string with its quotes; `null` where none begins. */
  #string(): string | null {
    return (
      this.#match(/"""(?:\\[^]|[^\\])*?"{3,5}/y) ||
      this.#match(/'''[^]*?'{3,5}/y) ||
      this.#match(/"(?:\\.|[^"\\])*"/y) ||
      this.#match(/'[^']*'/y) ||
      null
    );
  }

  /** Past spaces, line ends and comments. */
  #blank(): void {
    this.#match(/(?:\s|#[^\n]*)*/y);
  }

  #take(token: string): boolean {
    const found = this.#text.startsWith(token, this.#offset);
    if (found) this.#offset += token.length;
    return found;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#offset;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#offset += found.length;
    return found;
  }
}
