/**
 * The edits that `ledge init` makes in the files of an existing project. Comments, the order of keys,
 * indentation and line ends stay as they are, and an edited file needs no second edit.
 */
import {
  applyEdits,
  findNodeAtLocation,
  modify,
  parse,
  parseTree,
  type JSONPath,
} from "jsonc-parser";
import { parse as parseToml, TomlError } from "smol-toml";
import { linesIf } from "../../base/format.ts";
import { isTable, type Table } from "../../base/schema.ts";
import { adoptBuckets } from "../../config/deployed-buckets.ts";
import { parseInvocation, type LeafCommand } from "../command.ts";

/** Receives a sentence about what an edit leaves to the user. */
export type Note = (sentence: string) => void;

/** The buckets that a part of the file gains. */
interface Addition {
  /** The path of the part: nothing for the top level, or `env` and a name. */
  readonly path: readonly string[];
  readonly entries: readonly Readonly<Record<string, string>>[];
}

/**
 * The configuration file: `store_buckets` beside `r2_buckets`, at the top level and in each
 * environment, and the schema for editors. `r2_buckets` stays for the deploy.
 *
 * @param schemaPath the path of our JSON schema from the folder of the file
 */
export function editConfiguration(
  text: string,
  { isToml, schemaPath }: { readonly isToml: boolean; readonly schemaPath: string },
  note: Note,
): string {
  const parseText = isToml ? parseToml : parse;
  const table = parseText(text) as Table;
  const additions = additionsFor(table, note);
  const withBuckets = isToml ? addToToml(text, additions) : addToJson(text, additions);
  // Text can be inserted into a list or a table that is closed, and then has no effect or is refused.
  const isAdded = (): boolean => {
    try {
      return additionsFor(parseText(withBuckets) as Table).length === 0;
    } catch (error) {
      if (error instanceof TomlError) return false;
      throw error;
    }
  };
  if (!isAdded()) {
    const names = additions.flatMap(({ entries }) => entries.map(({ binding }) => binding));
    note(`store_buckets cannot be added here: add ${names.join(", ")} by hand.`);
    return text;
  }
  return isToml
    ? withTomlSchema(withBuckets, schemaPath)
    : withJsonSchema(withBuckets, table["$schema"], schemaPath);
}

/** The buckets of `r2_buckets` that `store_buckets` does not have, in each part of the file. */
function additionsFor(table: Table, note: Note = () => {}): Addition[] {
  const environments = isTable(table["env"]) ? Object.entries(table["env"]) : [];
  const parts = [
    { path: [], own: table },
    ...environments.map(([name, own]) => ({ path: ["env", name], own: own as Table })),
  ];
  return parts.flatMap(({ path, own }) => {
    const given = Array.isArray(own["store_buckets"]) ? own["store_buckets"] : [];
    const buckets = adoptBuckets(own, given as { binding: string }[], (place, problem) =>
      note(`${[...path, ...place].join(".")} ${problem}.`),
    );
    const entries = buckets.map(({ binding, bucketName, previewBucketName }) => ({
      binding,
      bucket_name: bucketName,
      ...(previewBucketName !== undefined && { preview_bucket_name: previewBucketName }),
    }));
    return entries.length === 0 ? [] : { path, entries };
  });
}

function addToJson(text: string, additions: readonly Addition[]): string {
  return additions.reduce((edited, { path, entries }) => {
    const listPath = [...path, "store_buckets"];
    const part = path.reduce((table, step) => table[step] as Table, parse(edited) as Table);
    const given = part["store_buckets"];
    if (!Array.isArray(given)) return insertBuckets(edited, path, entries.map(oneLine));
    return entries.reduce(
      (each, entry, index) => setJson(each, [...listPath, given.length + index], entry),
      edited,
    );
  }, text);
}

/** `{ "binding": "PHOTOS", "bucket_name": "photos" }` */
function oneLine(entry: Readonly<Record<string, string>>): string {
  const fields = Object.entries(entry).map(([key, value]) => `"${key}": ${JSON.stringify(value)}`);
  return `{ ${fields.join(", ")} }`;
}

function withJsonSchema(text: string, given: unknown, schemaPath: string): string {
  const isReplaced =
    given === undefined || (typeof given === "string" && /\bwrangler\b/.test(given));
  return isReplaced ? setJson(text, ["$schema"], schemaPath, () => 0) : text;
}

const tomlSchemaPattern = /^#:schema .*$/m;

/** The directive of the editors that complete TOML. */
function withTomlSchema(text: string, schemaPath: string): string {
  const [given] = tomlSchemaPattern.exec(text) ?? [];
  const eol = lineEnd(text);
  if (given === undefined) return `#:schema ${schemaPath}${eol}${text}`;
  return /\bwrangler\b/.test(given)
    ? text.replace(tomlSchemaPattern, `#:schema ${schemaPath}`)
    : text;
}

function addToToml(text: string, additions: readonly Addition[]): string {
  return additions.reduce((edited, { path, entries }) => {
    const name = (list: string): string => [...path.map(tomlKey), list].join(".");
    const blocks = entries.map((entry) =>
      [
        `[[${name("store_buckets")}]]`,
        ...Object.entries(entry).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
      ].join("\n"),
    );
    return insertAfterTables(edited, `[[${name("r2_buckets")}]]`, blocks.join("\n\n"));
  }, text);
}

function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

/** Inserts a block after the last table with this header, or else at the end of the text. */
function insertAfterTables(text: string, header: string, block: string): string {
  const eol = lineEnd(text);
  const lines = text.split(/\r?\n/);
  const last = lines.findLastIndex((line) => line.trim().startsWith(header));
  const next =
    last === -1 ? -1 : lines.findIndex((line, index) => index > last && /^\s*\[/.test(line));
  let end = next === -1 ? lines.length : next;
  // Blank lines and comments before the next header belong to that header.
  while (end > 0 && /^\s*(?:#.*)?$/.test(lines[end - 1] as string)) end--;
  const rest = end < lines.length ? lines.slice(end) : [""];
  return [...lines.slice(0, end), "", ...block.split("\n"), ...rest].join(eol);
}

export interface Manifest {
  readonly packageManager?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export function parseManifest(text: string): Manifest {
  return parse(text) as Manifest;
}

/** `undefined` without the dependency. */
export function dependencyVersion(
  { dependencies, devDependencies }: Manifest,
  name: string,
): string | undefined {
  return { ...devDependencies, ...dependencies }[name];
}

/**
 * Scripts that run `wrangler dev` or `wrangler types` run ours, if we know all of their options.
 *
 * @param commands our commands with the names of wrangler's
 */
export function editScripts(text: string, commands: readonly LeafCommand[], note: Note): string {
  return Object.entries(parseManifest(text).scripts ?? {}).reduce((each, [name, script]) => {
    const replaced = commands.reduce((line, command) => {
      const pattern = new RegExp(`\\bwrangler ${command.name}(?![\\w:-])([^&|;]*)`, "g");
      return line.replace(pattern, (found, words: string) => {
        try {
          parseInvocation(
            command,
            words.split(/\s+/).filter((word) => word !== ""),
          );
          return `ledge ${command.name}${words}`;
        } catch (error) {
          note(`the script "${name}" stays: ${(error as Error).message}`);
          return found;
        }
      });
    }, script);
    return replaced === script ? each : setJson(each, ["scripts", name], replaced);
  }, text);
}

/** Packages that start wrangler's simulator in the dev server of a framework. */
const frameworkAdapters = [
  "@astrojs/cloudflare",
  "@opennextjs/cloudflare",
  "@sveltejs/adapter-cloudflare",
  "nitro-cloudflare-dev",
];

/** The dev server of such a framework has no place for the store, and would ignore it without a word. */
export function noteFramework(text: string, note: Note): string {
  const manifest = parseManifest(text);
  for (const name of frameworkAdapters) {
    if (dependencyVersion(manifest, name) === undefined) continue;
    note(
      `with ${name}, the framework's own dev server uses wrangler's simulator: "ledge dev" runs the ` +
        "build of the project on the store.",
    );
  }
  return text;
}

/** What `npm init` writes for a project without tests. */
const testPlaceholder = /no test specified/;

/** Adds scripts that the file does not have. */
export function addScripts(text: string, scripts: Readonly<Record<string, string>>): string {
  const given = parseManifest(text).scripts ?? {};
  return Object.entries(scripts).reduce((each, [name, script]) => {
    const current = given[name];
    const isMissing = current === undefined || testPlaceholder.test(current);
    return isMissing ? setJson(each, ["scripts", name], script) : each;
  }, text);
}

/** Replaces the version of a dependency. A version of a workspace or a catalog stands elsewhere. */
export function raiseDependency(text: string, name: string, version: string, note: Note): string {
  const { dependencies } = parseManifest(text);
  const list = dependencies?.[name] === undefined ? "devDependencies" : "dependencies";
  if (/^[\d^~>=*x]/.test(dependencyVersion(parseManifest(text), name) ?? "")) {
    return setJson(text, [list, name], version);
  }
  note(`its ${name} is too old for Ledge: use ${version}.`);
  return text;
}

/** Adds development dependencies that the file does not have. */
export function addDependencies(text: string, versions: Readonly<Record<string, string>>): string {
  const manifest = parseManifest(text);
  return Object.entries(versions).reduce(
    (each, [name, version]) =>
      dependencyVersion(manifest, name) !== undefined
        ? each
        : setJson(each, ["devDependencies", name], version),
    text,
  );
}

/**
 * `tsconfig.json`: the types of the store beside the types of the platform.
 *
 * A project whose types come from `ledge types` needs no edit: the generated file refers to the types
 * of the store. Without a list of types there is nothing to add to.
 */
export function editTsconfig(text: string): string {
  const table: unknown = parse(text);
  const options = isTable(table) ? table["compilerOptions"] : undefined;
  const types: unknown = isTable(options) ? options["types"] : undefined;
  if (!Array.isArray(types) || types.includes("ledge/types")) return text;
  const after = types.findIndex((name) => String(name).startsWith("@cloudflare/workers-types"));
  if (after === -1) return text;
  return setJson(text, ["compilerOptions", "types", after + 1], "ledge/types");
}

/**
 * `.gitignore`: the state, and the files that Ledge derives for wrangler.
 *
 * @param text `null` without a file
 * @param inherited the texts of files in folders above, which also hold
 */
export function editGitignore(text: string | null, inherited: readonly string[]): string | null {
  const lines = [text ?? "", ...inherited].join("\n").split(/\r?\n/);
  const has = (pattern: RegExp): boolean => lines.some((line) => pattern.test(line.trim()));
  const missing = [
    ...linesIf(!has(/^(?:\*\*)?\/?\.wrangler\/?\*{0,2}$/), ".wrangler/"),
    ...linesIf(!has(/^\/?\.ledge-\*/), ".ledge-*"),
  ];
  if (missing.length === 0) return text;
  const eol = lineEnd(text ?? "");
  const start = text === null || /(?:^|\n)$/.test(text) ? (text ?? "") : text + eol;
  return start + missing.map((line) => line + eol).join("");
}

export function lineEnd(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/**
 * Sets a value. A number at the end of the path inserts an item into a list.
 *
 * @param indexOf the place of a new key among the keys of its table; by default the last
 */
function setJson(
  text: string,
  path: JSONPath,
  value: unknown,
  indexOf?: (keys: string[]) => number,
): string {
  const [, indent = "  "] = /^([ \t]+)\S/m.exec(text) ?? [];
  const edits = modify(text, path, value, {
    formattingOptions: {
      insertSpaces: !indent.startsWith("\t"),
      tabSize: indent.length,
      eol: lineEnd(text),
    },
    isArrayInsertion: typeof path.at(-1) === "number",
    getInsertionIndex: indexOf,
  });
  return applyEdits(text, edits);
}

/**
 * Adds `store_buckets` after `r2_buckets` of the same table. `setJson()` would format the value of
 * `r2_buckets` again.
 *
 * @param path the path of the table
 * @param items each bucket, as JSON in one line
 */
function insertBuckets(text: string, path: readonly string[], items: readonly string[]): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const property = root && findNodeAtLocation(root, [...path, "r2_buckets"])?.parent;
  if (property === undefined) return text;
  const end = property.offset + property.length;
  const lineStart = text.lastIndexOf("\n", property.offset) + 1;
  const indent = text.slice(lineStart, property.offset);
  // A property that does not begin its line stands in a table that has one line.
  const isOneLine = /\S/.test(indent);
  const newLine = `${lineEnd(text)}${indent}`;
  const unit = indent.startsWith("\t") ? "\t" : "  ";
  const list =
    items.length === 1 || isOneLine
      ? items.join(", ")
      : `${newLine}${unit}${items.join(`,${newLine}${unit}`)}${newLine}`;
  const separator = isOneLine ? ", " : `,${newLine}`;
  return `${text.slice(0, end)}${separator}"store_buckets": [${list}]${text.slice(end)}`;
}
