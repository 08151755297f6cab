/**
 * The project's configuration file: `wrangler.toml`, `wrangler.json` or `wrangler.jsonc`, as it
 * was written, and where in it each value stands. What its tables mean is for those to say who
 * use them.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import {
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type ParseError,
} from "jsonc-parser";
import { parse as parseToml, TomlError } from "smol-toml";
import { UserError } from "../base/user-error.ts";
import { placeAt, type Path, type Place } from "./place.ts";
import { tomlPlaces } from "./toml-places.ts";

export type Table = Readonly<Record<string, unknown>>;

export interface ConfigFile {
  readonly path: string;
  readonly table: Table;
  /** Of a value, or of the nearest one around it that is there. */
  readonly locate: (path: Path) => Place;
}

/** In the order in which wrangler looks for them. */
const fileNames = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/**
 * The configuration file at `path`, or the one in this folder or the nearest above it; `null`
 * when there is none.
 */
export function readConfigFile(path?: string, folder: string = process.cwd()): ConfigFile | null {
  const found = path === undefined ? findConfigFile(folder) : resolve(folder, path);
  if (found === null) return null;
  if (!existsSync(found)) {
    throw new UserError(`There is no configuration file at ${found}: give the path of one.`);
  }
  const text = readFileSync(found, "utf8");
  return found.endsWith(".toml") ? toml(text, found) : jsonc(text, found);
}

/** A file's name in a message: short when it is at hand. */
export function shownPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") || isAbsolute(short) ? path : short;
}

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function findConfigFile(folder: string): string | null {
  for (const name of fileNames) {
    if (existsSync(join(folder, name))) return join(folder, name);
  }
  const parent = dirname(folder);
  return parent === folder ? null : findConfigFile(parent);
}

function toml(text: string, path: string): ConfigFile {
  const table = parsedToml(text, path);
  let places: ReturnType<typeof tomlPlaces> | undefined;
  return {
    path,
    table,
    locate(wanted) {
      places ??= tomlPlaces(text);
      for (let length = wanted.length; length > 0; length--) {
        const offset = places.get(JSON.stringify(wanted.slice(0, length)));
        if (offset !== undefined) return placeAt(text, offset);
      }
      return { line: 1, column: 1 };
    },
  };
}

function parsedToml(text: string, path: string): Table {
  try {
    return parseToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    throw syntaxError({ path, language: "TOML", place: error, reason: reason as string });
  }
}

function jsonc(text: string, path: string): ConfigFile {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const reason = jsonReason(printParseErrorCode(error.error));
    throw syntaxError({ path, language: "JSON", place: placeAt(text, error.offset), reason });
  }
  const table: unknown = root && getNodeValue(root);
  if (root === undefined || !isTable(table)) {
    throw new UserError(`${shownPath(path)} must hold an object: { "name": … }.`);
  }
  return {
    path,
    table,
    locate(wanted) {
      for (let length = wanted.length; length > 0; length--) {
        const node = findNodeAtLocation(root, wanted.slice(0, length));
        // A value's property begins with its key.
        const shown = node?.parent?.type === "property" ? node.parent : node;
        if (shown !== undefined) return placeAt(text, shown.offset);
      }
      return { line: 1, column: 1 };
    },
  };
}

/** `PropertyNameExpected` → `a property name is expected` */
function jsonReason(code: string): string {
  const words = code.replace(/(?!^)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
  const expected = /^(.*) expected$/.exec(words)?.[1];
  return expected === undefined ? words : `a ${expected} is expected`;
}

function syntaxError(error: {
  path: string;
  language: string;
  place: Place;
  reason: string;
}): UserError {
  const { path, language, place, reason } = error;
  return new UserError(
    `${shownPath(path)}:${place.line}:${place.column} is not ${language}: ${reason}.`,
  );
}
