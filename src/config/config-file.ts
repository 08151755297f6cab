/**
 * Reads the files that configure a project: `wrangler.toml`, `wrangler.json` or `wrangler.jsonc`,
 * with the position of each value, and `.dev.vars` beside it. Other files give the tables a
 * meaning.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { parseEnv } from "node:util";
import {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type ParseError,
} from "jsonc-parser";
import { parse as parseToml, TomlError } from "smol-toml";
import { nearest } from "../base/nearest.ts";
import { isNestedTooDeep, nestingLevelsMax } from "../base/nesting.ts";
import { isTable, type Path, type Table } from "../base/schema.ts";
import { NotFoundError, UserError } from "../base/user-error.ts";
import { tomlOffsets } from "./toml-positions.ts";

/** Line and column start at 1, as in editors. */
interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

interface ParsedText {
  readonly value: unknown;
  readonly offsetOf: (path: Path) => number | undefined;
}

/** The position of the value at a path, or of the innermost value around it that exists. */
type Locate = (path: Path) => SourcePosition;

export interface ConfigFile {
  readonly path: string;
  readonly table: Table;
  readonly locate: Locate;
}

/** In the order in which wrangler searches. */
const fileNames = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/**
 * Reads the file at `path`; without a path, the file in `folder` or in the nearest folder above.
 *
 * @returns `null` when no file was found
 */
export function readConfigFile(path?: string, folder: string = process.cwd()): ConfigFile | null {
  const found = path === undefined ? findConfigFile(folder) : resolve(folder, path);
  if (found === null) return null;
  if (!existsSync(found)) {
    throw new NotFoundError(`No configuration file exists at ${found}. ${otherFiles(found)}`);
  }
  const text = readFileSync(found, "utf8");
  const parse = found.endsWith(".toml") ? parseTomlText : parseJsonText;
  const { value, offsetOf } = parse(text, found);
  if (!isTable(value)) {
    throw new UserError(`${shownPath(found)} must hold an object: { "name": … }.`);
  }
  return { path: found, table: value, locate: locator(text, offsetOf) };
}

/** @throws UserError with the position of what is not JSON; comments and trailing commas are allowed */
export function readJsonFile(path: string): { readonly value: unknown; readonly locate: Locate } {
  const text = readFileSync(path, "utf8");
  const { value, offsetOf } = parseJsonText(text, path);
  return { value, locate: locator(text, offsetOf) };
}

function locator(text: string, offsetOf: ParsedText["offsetOf"]): Locate {
  return (wanted) => {
    for (let length = wanted.length; length > 0; length--) {
      const offset = offsetOf(wanted.slice(0, length));
      if (offset !== undefined) return positionAt(text, offset);
    }
    return { line: 1, column: 1 };
  };
}

/** What to name instead of a file that does not exist. */
function otherFiles(path: string): string {
  const folder = dirname(path);
  const names = (existsSync(folder) ? readdirSync(folder) : []).filter((name) =>
    /^(?!package|tsconfig).*\.(?:jsonc?|toml)$/.test(name),
  );
  const guess =
    nearest(basename(path), names) ?? fileNames.find((name) => names.includes(name)) ?? null;
  if (guess !== null) return `Did you mean ${shownPath(join(folder, guess))}?`;
  const above = findConfigFile(folder);
  return above === null
    ? "Name a wrangler.jsonc, wrangler.json or wrangler.toml."
    : `The nearest is ${shownPath(above)}.`;
}

/**
 * Reads the secrets for local use. An environment with a file of its own, `.dev.vars.NAME`, does
 * not read the common file.
 *
 * @param envFiles files that are read instead; a later file overrides an earlier one
 * @throws NotFoundError when one of `envFiles` does not exist
 */
export function readDevVariables(
  folder: string,
  environment?: string,
  envFiles: readonly string[] = [],
): Record<string, string> {
  const names = [...(environment === undefined ? [] : [`.dev.vars.${environment}`]), ".dev.vars"];
  const found = names.map((name) => join(folder, name)).find((path) => existsSync(path));
  const paths = envFiles.length > 0 ? envFiles : found === undefined ? [] : [found];
  return Object.assign({}, ...paths.map(readEnvFile)) as Record<string, string>;
}

function readEnvFile(path: string): NodeJS.Dict<string> {
  if (!existsSync(path)) throw new NotFoundError(`There is no file ${path}.`);
  return parseEnv(readFileSync(path, "utf8"));
}

/** The path of a file in a message: relative if the file is below the working folder. */
export function shownPath(path: string, workingFolder: string = process.cwd()): string {
  const short = relative(workingFolder, path);
  return short === "" || short.startsWith("..") || isAbsolute(short) ? path : short;
}

export function positionAt(text: string, offset: number): SourcePosition {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}

export function findConfigFileIn(folder: string): string | null {
  return fileNames.map((name) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

function findConfigFile(folder: string): string | null {
  const parent = dirname(folder);
  return findConfigFileIn(folder) ?? (parent === folder ? null : findConfigFile(parent));
}

const nestingProblem = `is nested more than ${nestingLevelsMax} levels deep`;

function parseTomlText(text: string, path: string): ParsedText {
  try {
    const table = parseToml(text, { maxDepth: nestingLevelsMax });
    // The limit of the parser does not count the parts of a dotted key.
    if (isNestedTooDeep(table)) throw new UserError(`${shownPath(path)} ${nestingProblem}.`);
    let offsets: Map<string, number> | undefined;
    const offsetOf = (part: Path): number | undefined =>
      (offsets ??= tomlOffsets(text)).get(JSON.stringify(part));
    return { value: table, offsetOf };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [line = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    const reason = line.replace(/\.+$/, "");
    throw syntaxError(path, error, `is not TOML: ${reason}`);
  }
}

function parseJsonText(text: string, path: string): ParsedText {
  const tooDeep = findExcessiveNesting(text);
  if (tooDeep !== null) throw syntaxError(path, positionAt(text, tooDeep), nestingProblem);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const reason = jsonReason(printParseErrorCode(error.error));
    throw syntaxError(path, positionAt(text, error.offset), `is not JSON: ${reason}`);
  }
  const offsetOf = (part: Path): number | undefined => {
    const node = root && findNodeAtLocation(root, [...part]);
    // The position of a property is the position of its key.
    return (node?.parent?.type === "property" ? node.parent : node)?.offset;
  };
  return { value: root && (getNodeValue(root) as unknown), offsetOf };
}

/** The offset of the bracket that opens one level too many: the parser calls itself for each level. */
function findExcessiveNesting(text: string): number | null {
  const scanner = createScanner(text, true);
  for (let levels = 0; scanner.getPosition() < text.length;) {
    scanner.scan();
    const at = scanner.getTokenOffset();
    if (text[at] === "}" || text[at] === "]") levels -= 1;
    if ((text[at] === "{" || text[at] === "[") && ++levels > nestingLevelsMax) return at;
  }
  return null;
}

/** `PropertyNameExpected` → `a property name is expected` */
function jsonReason(code: string): string {
  const words = code.replace(/(?!^)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
  const expected = /^(.*) expected$/.exec(words)?.[1];
  if (expected === undefined) return words;
  return expected === "end of file"
    ? "the file should end here, after its object"
    : `a ${expected} is expected`;
}

function syntaxError(path: string, { line, column }: SourcePosition, problem: string): UserError {
  return new UserError(`${shownPath(path)}:${line}:${column} ${problem}.`);
}
