/**
 * The configuration file of an existing project: `store_buckets` beside `r2_buckets`, at the top level
 * and in each environment, and the schema for editors. `r2_buckets` stays for the deploy. Comments
 * and the order of keys stay as they are.
 */
import { parse } from "jsonc-parser";
import { parse as parseToml, TomlError } from "smol-toml";
import { isDeepStrictEqual } from "node:util";
import { adoptBuckets } from "../../config/deployed-buckets.ts";
import { isTable, type Table } from "../../base/schema.ts";
import type { EditedText } from "./edit.ts";
import { insertListAfter, setJson } from "./json-edit.ts";

/** The buckets that a part of the file gains. */
interface Addition {
  /** The path of the part: nothing for the top level, or `env` and a name. */
  readonly path: readonly string[];
  readonly entries: readonly Readonly<Record<string, string>>[];
}

/** @param schemaPath the path of our JSON schema from the folder of the file */
export function editConfiguration(text: string, isToml: boolean, schemaPath: string): EditedText {
  const table = (isToml ? parseToml(text) : parse(text)) as Table;
  const additions = additionsFor(table);
  const withBuckets = isToml ? addToToml(text, additions) : addToJson(text, additions);
  const expected = additions.reduce<Table>(addToTable, table);
  if (!isSameTable(withBuckets, isToml, expected)) {
    const names = additions.flatMap(({ entries }) => entries.map(({ binding }) => binding));
    return {
      text,
      notes: [`store_buckets cannot be added here: add ${names.join(", ")} by hand.`],
    };
  }
  const edited = isToml
    ? withTomlSchema(withBuckets, schemaPath)
    : withJsonSchema(withBuckets, table["$schema"], schemaPath);
  return { text: edited, notes: [] };
}

/** Whether the edit of the text was the edit of the table: a list can stand in a closed table. */
function isSameTable(text: string, isToml: boolean, expected: Table): boolean {
  try {
    return isDeepStrictEqual(plain(isToml ? parseToml(text) : parse(text)), plain(expected));
  } catch (error) {
    if (error instanceof TomlError) return false;
    throw error;
  }
}

/** The tables of the TOML parser have no prototype, which is a difference to others. */
function plain(table: unknown): unknown {
  return JSON.parse(JSON.stringify(table));
}

/** The buckets of `r2_buckets` that `store_buckets` does not have, in each part of the file. */
function additionsFor(table: Table): Addition[] {
  const environments = isTable(table["env"]) ? Object.entries(table["env"]) : [];
  const parts = [
    { path: [], own: table },
    ...environments.map(([name, own]) => ({ path: ["env", name], own: own as Table })),
  ];
  return parts.flatMap(({ path, own }) => {
    const given = Array.isArray(own["store_buckets"]) ? own["store_buckets"] : [];
    const buckets = adoptBuckets(own, given as { binding: string }[], () => {});
    const entries = buckets.map(({ binding, bucketName, previewBucketName }) => ({
      binding,
      bucket_name: bucketName,
      ...(previewBucketName !== undefined && { preview_bucket_name: previewBucketName }),
    }));
    return entries.length === 0 ? [] : { path, entries };
  });
}

function addToTable(table: Table, { path, entries }: Addition): Table {
  const [step, ...rest] = path;
  if (step === undefined) {
    const given = Array.isArray(table["store_buckets"])
      ? (table["store_buckets"] as unknown[])
      : [];
    return { ...table, store_buckets: [...given, ...entries] };
  }
  return { ...table, [step]: addToTable(table[step] as Table, { path: rest, entries }) };
}

function addToJson(text: string, additions: readonly Addition[]): string {
  return additions.reduce((edited, { path, entries }) => {
    const listPath = [...path, "store_buckets"];
    const part = path.reduce((table, step) => table[step] as Table, parse(edited) as Table);
    const given = part["store_buckets"];
    if (!Array.isArray(given)) {
      return insertListAfter(
        edited,
        [...path, "r2_buckets"],
        "store_buckets",
        entries.map(oneLine),
      );
    }
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
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
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
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
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
