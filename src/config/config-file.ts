/**
 * The project's configuration file: `wrangler.toml`, `wrangler.json` or `wrangler.jsonc`, as it
 * was written. What its tables mean is for those to say who use them.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse as parseJsonc, printParseErrorCode, type ParseError } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { UserError } from "../plugin/user-error.ts";

export type Table = Readonly<Record<string, unknown>>;

export interface ConfigFile {
  readonly path: string;
  readonly table: Table;
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
  return { path: found, table: found.endsWith(".toml") ? toml(text, found) : jsonc(text, found) };
}

/** A top-level table, replaced by the one of the environment where that has one. */
export function configTable(
  { path, table }: ConfigFile,
  name: string,
  environment?: string,
): Table | undefined {
  let value = table[name];
  if (environment !== undefined) {
    const environments = (table["env"] ?? {}) as Record<string, Table>;
    const chosen = environments[environment];
    if (chosen === undefined) {
      const known = Object.keys(environments).map((key) => `"${key}"`);
      throw new UserError(
        `${path} has no environment "${environment}". ` +
          (known.length === 0 ? "It has none at all." : `It has ${known.join(", ")}.`),
      );
    }
    value = chosen[name] ?? value;
  }
  if (value === undefined) return undefined;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Table;
  throw new UserError(`${path}: "${name}" must be a table.`);
}

function findConfigFile(folder: string): string | null {
  for (const name of fileNames) {
    if (existsSync(join(folder, name))) return join(folder, name);
  }
  const parent = dirname(folder);
  return parent === folder ? null : findConfigFile(parent);
}

function toml(text: string, path: string): Table {
  try {
    return parseToml(text);
  } catch (error) {
    throw new UserError(`${path} is not TOML: ${(error as Error).message}`);
  }
}

function jsonc(text: string, path: string): Table {
  const errors: ParseError[] = [];
  const value: unknown = parseJsonc(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split("\n").length;
    throw new UserError(`${path}:${line} is not JSON: ${printParseErrorCode(error.error)}.`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Table;
  throw new UserError(`${path} must hold an object.`);
}
