/**
 * The offsets of the keys and the list items of a TOML document.
 *
 * smol-toml, the parser that wrangler uses too, gives values without positions. So this file scans
 * the text a second time, and only when a mistake has to be shown. The scan sees only text that
 * the parser has accepted: it follows the structure and checks nothing
 * (`docs/decisions/0014-one-schema-for-configuration.md`).
 */
import { parse as parseToml } from "smol-toml";
import type { Path } from "../base/schema.ts";

const string = /"""(?:\\[^]|[^\\])*?"{3,5}|'''[^]*?'{3,5}|"(?:\\.|[^"\\])*"|'[^']*'/y;
const bareKey = /[A-Za-z0-9_-]+/y;
const bareValue = /[^,\]}#\r\n]*/y;
const spaces = /[ \t]*/y;
const spacesAndComments = /(?:\s|#[^\n]*)*/y;

/**
 * @returns offsets by path, as JSON: of the key, or of the value for an item of a list; for a table
 * with a header, of the header
 */
export function tomlOffsets(text: string): Map<string, number> {
  const offsets = new Map<string, number>();
  /** The number of tables so far of each `[[list]]`. */
  const lengths = new Map<string, number>();
  let offset = 0;

  const match = (pattern: RegExp): string => {
    pattern.lastIndex = offset;
    const found = pattern.exec(text)?.[0] ?? "";
    offset += found.length;
    return found;
  };
  const take = (token: string): boolean => {
    const found = text.startsWith(token, offset);
    if (found) offset += token.length;
    return found;
  };
  const record = (path: Path, start: number): Path => {
    const name = JSON.stringify(path);
    if (!offsets.has(name)) offsets.set(name, start);
    return path;
  };

  /** `a.b."c d"` */
  const readKeys = (): string[] => {
    const keys: string[] = [];
    do {
      match(spaces);
      const quoted = match(string);
      keys.push(quoted === "" ? match(bareKey) : (parseToml(`key = ${quoted}`)["key"] as string));
      match(spaces);
    } while (take("."));
    return keys;
  };

  const readPair = (table: Path): void => {
    const start = offset;
    let path = table;
    for (const key of readKeys()) path = record([...path, key], start);
    take("=");
    match(spacesAndComments);
    readValue(path);
  };

  const readValue = (path: Path): void => {
    if (take("[")) {
      let index = 0;
      readItems("]", () => readValue(record([...path, index++], offset)));
    } else if (take("{")) {
      readItems("}", () => readPair(path));
    } else if (match(string) === "") {
      match(bareValue);
    }
  };

  const readItems = (end: string, readItem: () => void): void => {
    for (match(spacesAndComments); !take(end); match(spacesAndComments)) {
      readItem();
      match(spacesAndComments);
      take(",");
    }
  };

  /** In a header, the name of a `[[list]]` stands for its last table. */
  const readHeader = (start: number): Path => {
    const isList = take("[[");
    if (!isList) take("[");
    const keys = readKeys();
    let path: Path = [];
    for (const [index, key] of keys.entries()) {
      path = record([...path, key], start);
      const name = JSON.stringify(path);
      const isNew = isList && index === keys.length - 1;
      if (isNew) lengths.set(name, (lengths.get(name) ?? 0) + 1);
      const length = lengths.get(name);
      if (length !== undefined) path = [...path, length - 1];
      if (isNew) record(path, start);
    }
    while (take("]"));
    return path;
  };

  let table: Path = [];
  for (match(spacesAndComments); offset < text.length; match(spacesAndComments)) {
    if (text[offset] === "[") table = readHeader(offset);
    else readPair(table);
  }
  return offsets;
}
