/**
 * From the words of a command line to what a record says, as the API wants it.
 *
 * The words are those of a zone file, and the shell has taken quotation marks away already: so each
 * word is one, whatever is in it, and a single one may hold all. Host names are whole names, as in
 * the API, and not relative, as in a zone file; only one without a dot belongs to the zone.
 */
import { textKinds, isTextKind } from "../../dns/rules/accept-record.ts";
import { recordTypes } from "../../dns/record/registry.ts";
import type { RdataRequest, RecordType } from "../../dns/record/record-type.ts";
import { ScanError, splitTokens, type Token } from "../../dns/record/tokens.ts";
import { nearest } from "../../base/nearest.ts";
import { UsageError } from "../command.ts";

export interface ContentWords {
  /** As it was written; TXT by another name is allowed. */
  readonly type: string;
  readonly words: readonly string[];
  readonly zoneName: string;
  readonly priority?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** The type in capitals. */
export function parseType(word: string): string {
  const type = word.toUpperCase();
  if (recordTypes.has(type) || isTextKind(type)) return type;
  const known = [...recordTypes.keys(), ...Object.keys(textKinds)];
  const guess = nearest(type, known);
  const meant = guess === null ? "" : `Did you mean ${guess}? `;
  throw new UsageError(`There is no record type "${word}". ${meant}Known are ${known.join(", ")}.`);
}

/** What belongs to the type in a request: `content`, or `data`, and `priority`. */
export function parseContent({ type, words, zoneName, priority }: ContentWords): RdataRequest {
  const known = recordTypes.get(isTextKind(type) ? "TXT" : type) as RecordType;
  if (priority !== undefined && !known.topLevelPriority) {
    throw new UsageError(`--priority is for MX, SRV and URI, not for ${type}.`);
  }
  if (known.type === "TXT") return { content: textContent(words) };
  const tokens = tokensOf(words, known);
  const given = priority === undefined ? tokens : [tokenOf(String(priority)), ...tokens];
  const request = inZone(known.parse(given, ""), known.parse(given, zoneName));
  if (request !== null) return request;
  throw new UsageError(
    `CONTENT of ${type} is ${known.fieldNames.map((name) => formOf(name)).join(" ")}, ` +
      `not "${words.join(" ")}".`,
  );
}

/** One string is the API's to quote and to split; of several each is a string of the record. */
function textContent(words: readonly string[]): string {
  const [only = "", ...more] = words;
  if (more.length === 0) return only;
  return words
    .map((text) => (isQuoted(text) ? text : `"${text.replaceAll(/["\\]/g, "\\$&")}"`))
    .join(" ");
}

function tokensOf(words: readonly string[], { fieldNames }: RecordType): readonly Token[] {
  const [only = "", ...more] = words;
  if (more.length > 0 || fieldNames.length === 1) return words.map(tokenOf);
  try {
    return splitTokens(only);
  } catch (error) {
    if (!(error instanceof ScanError)) throw error;
    throw new UsageError(`CONTENT cannot be read: ${error.message}.`);
  }
}

function tokenOf(text: string): Token {
  return isQuoted(text)
    ? { text: text.slice(1, -1), quoted: true }
    : { text, quoted: /\s/.test(text.replaceAll(quotedPart, "")) };
}

/** In a word such as `alpn="h2, h3"`, where it is not the word that was quoted. */
const quotedPart = /"(?:[^"\\]|\\.)*"/g;

function isQuoted(text: string): boolean {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"');
}

/** The two differ in host names that are not whole: by themselves, and in the zone. */
function inZone(whole: RdataRequest | null, relative: RdataRequest | null): RdataRequest | null {
  if (whole === null || relative === null) return null;
  const choose = (fields: Fields, others: Fields): Fields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => {
        const isHere = value !== others[name] && !String(value).includes(".");
        return [name, isHere ? others[name] : value];
      }),
    );
  const { data } = whole;
  if (data === undefined) return choose(whole as Fields, relative as Fields);
  return { ...whole, data: choose(data as Fields, relative.data as Fields) };
}

/** `key_tag` → `KEY_TAG`; what is the whole of a record has no better name. */
function formOf(field: string): string {
  return field === "content" ? "CONTENT" : field.toUpperCase();
}
