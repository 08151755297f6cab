/** One page of a listing, computed the slow and simple way: a slice of the whole listing. */
import type { Options } from "./arguments.ts";
import { fieldError, storeError } from "./errors.ts";

const limitMax = 1000;

export interface Listing {
  readonly limit: number;
  readonly prefix: string;
  readonly delimiter: string;
  readonly startAfter: string | undefined;
  readonly position: Position | undefined;
  readonly include: ReadonlySet<string>;
}

/** The end of the previous page: after a key, or after all keys of a group. */
type Position = { readonly key: string } | { readonly group: string };

export interface Page {
  readonly keys: string[];
  /** Prefixes with the delimiter at the end. */
  readonly groups: string[];
  readonly next: Position | undefined;
}

export function readListing(options: Options): Listing {
  const include = options["include"];
  if (include !== undefined && !Array.isArray(include)) {
    throw fieldError("include", { on: "ListOptions", type: "Array" });
  }
  for (const value of (include ?? []) as unknown[]) {
    if (value === "httpMetadata" || value === "customMetadata") continue;
    throw new RangeError(`Unsupported include value ${String(value)}`);
  }
  const listing = {
    prefix: readText(options, "prefix") ?? "",
    delimiter: readText(options, "delimiter") ?? "",
    startAfter: readText(options, "startAfter"),
    include: new Set(include as string[] | undefined),
    limit: options["limit"] === undefined ? limitMax : Number(options["limit"]),
  };
  const cursor = readText(options, "cursor");
  if (!(listing.limit >= 1 && listing.limit <= limitMax)) throw storeError("list", 10022);
  return { ...listing, position: cursor === undefined ? undefined : readCursor(cursor) };
}

function readText(options: Options, name: string): string | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  if (typeof text !== "string") throw fieldError(name, { on: "ListOptions", type: "string" });
  return text.toWellFormed();
}

/** A forged cursor is a SyntaxError here; the specification does not define which error it is. */
function readCursor(cursor: string): Position {
  return JSON.parse(cursor) as Position;
}

export function pageOf(keys: Iterable<string>, listing: Listing): Page {
  const { prefix, delimiter, startAfter, position, limit } = listing;
  const items = new Map<string, Position>();
  for (const key of sortUtf8([...keys].filter((each) => each.startsWith(prefix)))) {
    if (startAfter !== undefined && compareUtf8(key, startAfter) <= 0) continue;
    if (position && "key" in position && compareUtf8(key, position.key) <= 0) continue;
    const found = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    const group = found < 0 ? undefined : key.slice(0, found + delimiter.length);
    if (position && "group" in position) {
      if (group === position.group || compareUtf8(key, position.group) < 0) continue;
    }
    items.set(
      group === undefined ? `key ${key}` : `group ${group}`,
      group === undefined ? { key } : { group },
    );
  }
  const all = [...items.values()];
  const page = all.slice(0, limit);
  return {
    keys: page.flatMap((item) => ("key" in item ? [item.key] : [])),
    groups: page.flatMap((item) => ("group" in item ? [item.group] : [])),
    next: all.length > page.length ? page.at(-1) : undefined,
  };
}

function sortUtf8(keys: readonly string[]): string[] {
  return keys
    .map((key) => ({ key, bytes: Buffer.from(key) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ key }) => key);
}

function compareUtf8(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
