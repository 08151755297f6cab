/**
 * From the TYPE and CONTENT of a command line to the fields of the record API.
 *
 * CONTENT is written as in a zone file, but the shell has removed the quotation marks: each word of
 * the command line is one token, and a single word may hold all tokens. Host names are full names,
 * as in the API; only a host name without a dot is relative to the zone.
 */
import { nearest } from "../../base/nearest.ts";
import { UserError } from "../../base/user-error.ts";
import type { ApiRecord } from "../../dns/client/api-client.ts";
import type { RdataRequest, RecordType } from "../../dns/record/record-type.ts";
import { recordType, recordTypes } from "../../dns/record/types.ts";
import { ScanError, splitTokens, type Token } from "../../dns/record/tokens.ts";
import { isTextKind, textKinds } from "../../dns/record/mail-policy.ts";
import { UsageError } from "../command.ts";
import { contentText } from "./record-text.ts";

export interface ContentWords {
  /** A result of `parseType()`. */
  readonly type: string;
  readonly words: readonly string[];
  readonly zoneName: string;
  readonly priority?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the type in upper case. SPF, DKIM and DMARC count as types. */
export function parseType(word: string): string {
  const type = word.toUpperCase();
  if (recordTypes.has(type) || isTextKind(type)) return type;
  const known = [...recordTypes.keys(), ...Object.keys(textKinds)];
  const guess = nearest(type, known);
  const hint = guess === null ? "" : `Did you mean ${guess}? `;
  throw new UsageError(
    `There is no record type "${word}". ${hint}The types are ${known.join(", ")}.`,
  );
}

/** The type of the stored record: TXT for SPF, DKIM and DMARC. */
export function storedType(type: string): string {
  return isTextKind(type) ? "TXT" : type;
}

/** Returns the fields of a request that depend on the type: `content` or `data`, and `priority`. */
export function parseContent({ type, words, zoneName, priority }: ContentWords): RdataRequest {
  const known = recordTypes.get(storedType(type)) as RecordType;
  if (priority !== undefined && !known.topLevelPriority) {
    throw new UsageError(`--priority is for MX, SRV and URI, not for ${type}.`);
  }
  if (known.type === "TXT") return { content: textContent(words) };
  const tokens = tokensOf(words, known);
  const allTokens = priority === undefined ? tokens : [tokenOf(String(priority)), ...tokens];
  const request = expandHosts(known.parse(allTokens, ""), known.parse(allTokens, zoneName));
  if (request !== null) return request;
  throw new UsageError(
    `CONTENT of ${type} is ${known.fieldNames.map((name) => name.toUpperCase()).join(" ")}, ` +
      `not "${words.join(" ")}".`,
  );
}

/** The API quotes and splits a single word. Of several words, each is one string of the record. */
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
    throw new UsageError(`Cannot read CONTENT: ${error.message}.`);
  }
}

function tokenOf(text: string): Token {
  return isQuoted(text)
    ? { text: text.slice(1, -1), quoted: true }
    : { text, quoted: /\s/.test(text.replaceAll(quotedPart, "")) };
}

/** The quoted part of a word such as `alpn="h2, h3"`, which is not quoted as a whole. */
const quotedPart = /"(?:[^"\\]|\\.)*"/g;

function isQuoted(text: string): boolean {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"');
}

/**
 * Chooses between two readings of the same tokens, one with host names as they are and one with host
 * names relative to the zone: the second holds for host names without a dot.
 */
function expandHosts(
  plain: RdataRequest | null,
  relative: RdataRequest | null,
): RdataRequest | null {
  if (plain === null || relative === null) return null;
  const choose = (fields: Fields, others: Fields): Fields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => {
        const isRelative = value !== others[name] && !String(value).includes(".");
        return [name, isRelative ? others[name] : value];
      }),
    );
  const { data } = plain;
  if (data === undefined) return choose(plain as Fields, relative as Fields);
  return { ...plain, data: choose(data as Fields, relative.data as Fields) };
}

/** Matches records whose content means the same as the words, or is listed in the same words. */
export function contentMatcher(content: ContentWords): (record: ApiRecord) => boolean {
  const listed = content.words.join(" ");
  const wanted = normalisedContent(content) ?? listed;
  return (record) => {
    const text = contentText(record);
    return text === wanted || text === listed || record.content === listed.toLowerCase();
  };
}

/** The content as `contentText()` shows it; `null` for incomplete content, as MX without priority. */
function normalisedContent(content: ContentWords): string | null {
  const definition = recordType(content.type);
  try {
    const rdata = definition.accept(parseContent(content), "", () => {});
    if (rdata === undefined) return null;
    const priority = definition.topLevelPriority ? `${String(rdata["priority"])} ` : "";
    return priority + definition.content(rdata);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return null;
  }
}
