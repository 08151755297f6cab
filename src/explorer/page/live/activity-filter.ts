/**
 * The filter of the live view, as text: words with spaces between them, all of which must hold.
 *
 *     kind:bucket      request, edge, bucket, query, api, other, or a binding such as kv
 *     is:error         the outcome: ok, not-found or error
 *     source:s3        the program that made the call
 *     >100ms           a duration above this
 *     text, -text      any other word is searched, or must be absent; "quotes" keep spaces
 *
 * Words of the same field are alternatives: `kind:bucket kind:query` shows both kinds. A request is
 * shown if the request or one of its calls fulfils all words. The explorer's own calls are shown with
 * `source:explorer` only.
 */
import { toMilliseconds } from "../../../base/format.ts";
import type { ActivityEntry } from "../../api/activity.ts";
import { groupOf, isError, isOfExplorer, noteOf } from "./entry-words.ts";

type Test = (entry: ActivityEntry) => boolean;

interface ActivityFilter {
  readonly matches: Test;
  /** Why a word has no meaning, or `null`. The word is ignored. */
  readonly problem: string | null;
}

const outcomes = ["ok", "not-found", "error"];

/** Tests of fields, for values in lower case. */
const fields: Readonly<Record<string, (value: string) => Test>> = {
  kind: (value) => (entry) => entry.kind === value || groupOf(entry.kind) === value,
  is: (value) => (entry) =>
    outcomes[isError(entry) ? 2 : entry.outcome === "none" ? 1 : 0] === value,
  source: (value) => (entry) =>
    (entry.kind === "request" ? "script" : entry.source.toLowerCase()).startsWith(value),
};

/** Words as a person has written them: quotes keep spaces inside a word. */
function filterWords(text: string): string[] {
  return text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
}

export function hasWord(text: string, word: string): boolean {
  return filterWords(text).includes(word);
}

/** What a chip beside the text does: the text says everything that is filtered. */
export function toggleWord(text: string, word: string): string {
  const words = filterWords(text);
  const others = words.filter((each) => each !== word);
  return (others.length < words.length ? others : [...words, word]).join(" ");
}

export function parseFilter(text: string): ActivityFilter {
  const tests: Test[] = [];
  const alternatives = new Map<string, Test[]>();
  const absent: string[] = [];
  let showsExplorer = false;
  let problem: string | null = null;
  for (const word of filterWords(text)) {
    const plain = word.replaceAll('"', "").toLowerCase();
    const [, field = "", value = ""] = /^([a-z]+):(.*)$/s.exec(plain) ?? [];
    const fieldTest = word.startsWith('"') ? undefined : fields[field];
    if (word.startsWith(">")) {
      const minimum = readDuration(plain.slice(1));
      if (minimum === null) problem ??= `"${word}" is no duration. Write >100ms or >2s.`;
      else tests.push(({ milliseconds }) => milliseconds > minimum);
    } else if (word.startsWith("-") && plain.length > 1) {
      absent.push(plain.slice(1));
    } else if (fieldTest === undefined) {
      // A URL has a colon, and is no field.
      tests.push((entry) => ownText(entry).includes(plain));
    } else if (field === "is" && value !== "" && !outcomes.includes(value)) {
      problem ??= `"${word}" matches nothing. After "is:" write ${outcomes.join(", ")}.`;
    } else if (value !== "") {
      // A word without a value hides nothing: the person is still typing.
      alternatives.set(field, [...(alternatives.get(field) ?? []), fieldTest(value)]);
      showsExplorer ||= plain === "source:explorer";
    }
  }
  const choices = [...alternatives.values()];
  const fulfils: Test = (entry) =>
    tests.every((test) => test(entry)) && choices.every((some) => some.some((test) => test(entry)));
  const isUnwanted: Test = (entry) => absent.some((words) => ownText(entry).includes(words));
  const matches: Test = (entry) => {
    if ((isOfExplorer(entry) && !showsExplorer) || isUnwanted(entry)) return false;
    const calls = entry.kind === "request" ? entry.calls : [];
    return !calls.some(isUnwanted) && (fulfils(entry) || calls.some(fulfils));
  };
  return { matches, problem };
}

/** Milliseconds of `100ms` and `100`; `null` for other text. */
function readDuration(text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text);
  try {
    const milliseconds = toMilliseconds(text);
    return milliseconds >= 0 ? milliseconds : null;
  } catch {
    return null;
  }
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
  const text = [entry.method, ...parts, noteOf(entry) ?? ""].join("\n").toLowerCase();
  ownTexts.set(entry, text);
  return text;
}
