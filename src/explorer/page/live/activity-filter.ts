/**
 * The filter of the live view, as text: words with spaces between them, all of which must hold.
 *
 *     kind:bucket      request, bucket, query, api or other
 *     is:error         the outcome: ok, none or error
 *     bucket:photos    calls of a bucket; key:, name:, source:, method: and status: are alike
 *     zone:example.com queries of the name and of names below
 *     >100ms           a duration above this
 *     show:explorer    the explorer's own calls too, which are hidden otherwise
 *     text, -text      any other word is searched, or must be absent; "quotes" keep spaces
 *
 * Words of the same field are alternatives: `kind:bucket kind:query` shows both kinds. A request is
 * shown if the request or one of its calls fulfils all words.
 */
import { toMilliseconds } from "../../../base/format.ts";
import type { ActivityEntry, CallEntry } from "../../api/activity.ts";

export const entryKinds = ["request", "bucket", "query", "api", "other"] as const;
export type EntryKind = (typeof entryKinds)[number];

/** The name of the explorer in `CallEntry.source`. */
const explorerSource = "explorer";

export interface ActivityFilter {
  /** What each field must be: one of the values. */
  readonly fields: ReadonlyMap<Field, readonly string[]>;
  /** In lower case */
  readonly texts: readonly string[];
  readonly absentTexts: readonly string[];
  readonly millisecondsMin: number;
  readonly showsExplorer: boolean;
  /** Why a word has no meaning, or `null`. The word is ignored. */
  readonly problem: string | null;
}

const fieldTests = {
  kind: (entry, value) => entry.kind === value,
  is: (entry, value) => (isError(entry) ? "error" : entry.outcome) === value,
  bucket: (entry, value) => entry.kind === "bucket" && entry.place.toLowerCase() === value,
  zone: (entry, value) =>
    entry.kind === "query" && `.${entry.subject.toLowerCase()}`.endsWith(`.${value}`),
  key: (entry, value) => entry.kind === "bucket" && entry.subject.toLowerCase().includes(value),
  name: (entry, value) => entry.kind === "query" && entry.subject.toLowerCase().includes(value),
  source: (entry, value) =>
    entry.kind !== "request" && entry.source.toLowerCase().startsWith(value),
  method: (entry, value) => entry.method.toLowerCase() === value,
  status: (entry, value) =>
    entry.kind === "request" && matchesStatus(entry.status, value.replaceAll("x", "")),
} satisfies Record<string, (entry: ActivityEntry, value: string) => boolean>;
type Field = keyof typeof fieldTests;

/** The values of the fields that have few. */
const fieldValues: Partial<Record<Field | "show", readonly string[]>> = {
  kind: entryKinds,
  is: ["ok", "none", "error"],
  show: [explorerSource],
};

/** Words as a person has written them: quotes keep spaces inside a word. */
export function filterWords(text: string): string[] {
  return text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
}

export function parseFilter(text: string): ActivityFilter {
  const fields = new Map<Field, string[]>();
  const texts: string[] = [];
  const absentTexts: string[] = [];
  let millisecondsMin = 0;
  let showsExplorer = false;
  let problem: string | null = null;
  for (const word of filterWords(text)) {
    const plain = word.replaceAll('"', "").toLowerCase();
    const [, field, value] = /^([a-z]+):(.*)$/s.exec(plain) ?? [];
    if (word.startsWith(">")) {
      const milliseconds = readMinimum(plain);
      if (milliseconds === null) problem ??= `"${word}" is no duration. Write >100ms or >2s.`;
      else millisecondsMin = milliseconds;
    } else if (word.startsWith("-") && plain.length > 1) {
      absentTexts.push(plain.slice(1));
    } else if (word.startsWith('"') || field === undefined || value === undefined) {
      if (plain !== "") texts.push(plain);
    } else if (field === "show" || Object.hasOwn(fieldTests, field)) {
      // A word without a value hides nothing: the person is still typing.
      if (value === "") continue;
      const known = fieldValues[field as Field | "show"];
      if (known !== undefined && !known.includes(value)) {
        problem ??= `"${word}" matches nothing. After "${field}:" write ${known.join(", ")}.`;
      } else if (field === "show") showsExplorer = true;
      else fields.set(field as Field, [...(fields.get(field as Field) ?? []), value]);
    } else {
      // A URL has a colon, and is no field.
      texts.push(plain);
    }
  }
  return { fields, texts, absentTexts, millisecondsMin, showsExplorer, problem };
}

/** Milliseconds of `>100ms` and `>100`; `null` for other text. */
export function readMinimum(word: string): number | null {
  const text = word.slice(1);
  if (/^\d+$/.test(text)) return Number(text);
  try {
    const milliseconds = toMilliseconds(text);
    return milliseconds >= 0 ? milliseconds : null;
  } catch {
    return null;
  }
}

export function matchesFilter(filter: ActivityFilter, entry: ActivityEntry): boolean {
  if (isOfExplorer(entry) && !filter.showsExplorer && !asksForExplorer(filter)) return false;
  if (filter.absentTexts.some((text) => wholeText(entry).includes(text))) return false;
  return (
    fulfils(filter, entry) ||
    (entry.kind === "request" && entry.calls.some((call) => fulfils(filter, call)))
  );
}

export function isOfExplorer(entry: ActivityEntry): entry is CallEntry {
  return entry.kind !== "request" && entry.source === explorerSource;
}

/** A response that says that the server failed is an error, even if the script threw none. */
export function isError(entry: ActivityEntry): boolean {
  return entry.outcome === "error" || (entry.kind === "request" && (entry.status ?? 0) >= 500);
}

function asksForExplorer({ fields }: ActivityFilter): boolean {
  return fields.get("source")?.includes(explorerSource) === true;
}

function fulfils(filter: ActivityFilter, entry: ActivityEntry): boolean {
  if (filter.millisecondsMin > 0 && entry.milliseconds <= filter.millisecondsMin) return false;
  for (const [field, values] of filter.fields) {
    if (!values.some((value) => fieldTests[field](entry, value))) return false;
  }
  if (filter.texts.length === 0) return true;
  const own = ownText(entry);
  return filter.texts.every((text) => own.includes(text));
}

function matchesStatus(status: number | null, start: string): boolean {
  return status !== null && start !== "" && String(status).startsWith(start);
}

/** The texts of entries, which are searched again with each letter that is typed. */
const ownTexts = new WeakMap<ActivityEntry, string>();

function ownText(entry: ActivityEntry): string {
  const known = ownTexts.get(entry);
  if (known !== undefined) return known;
  const parts =
    entry.kind === "request"
      ? [entry.url, String(entry.status ?? ""), ...entry.logs.map((log) => log.text)]
      : [entry.place, entry.subject, entry.source];
  const text = [entry.method, ...parts, entry.note ?? ""].join("\n").toLowerCase();
  ownTexts.set(entry, text);
  return text;
}

function wholeText(entry: ActivityEntry): string {
  if (entry.kind !== "request") return ownText(entry);
  return [entry, ...entry.calls].map(ownText).join("\n");
}
