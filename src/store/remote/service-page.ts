/**
 * Pages of keys of an S3 service: ListObjectsV2, from a bound of our own.
 *
 * `start-after` is exclusive. For a bound that is inclusive, the request begins a little before the bound,
 * and what is before the bound is left out here.
 */
import { childrenOf, childText, type XmlElement } from "../../http/xml.ts";
import { compareKeys, utf8Length } from "../core/key.ts";
import { keyBytesMax } from "../core/limits.ts";
import { afterPosition, rollUp, type Bound } from "../core/list-page.ts";
import type { S3Connection } from "./s3-connection.ts";
import { readDocument, refuseAnswer, textDecoderOf } from "./service-answer.ts";

export interface PageQuery {
  readonly prefix: string;
  readonly delimiter: string;
  readonly from: Bound;
  readonly limit: number;
}

/** An object, or a rolled-up prefix with its delimiter. Keys are without the prefix of the bucket. */
export type ListedItem =
  | { readonly kind: "key"; readonly text: string; readonly size: number }
  | { readonly kind: "prefix"; readonly text: string };

export interface ServicePage {
  /** In the order of the keys. */
  readonly items: ListedItem[];
  readonly isTruncated: boolean;
}

/** The last character: no key with a prefix is after the prefix and many of these. */
const lastCharacter = "\u{10ffff}";

/**
 * One page, which is full unless no item follows.
 *
 * A bound can be a key in the middle of a rolled-up prefix. Then a request of its own finds out whether a
 * key follows with this prefix, because some services leave out such a prefix.
 */
export async function readServicePage(
  connection: S3Connection,
  bucketPrefix: string,
  query: PageQuery,
): Promise<ServicePage> {
  const { prefix, delimiter, from, limit } = query;
  const isWithin = !from.inclusive && from.key.startsWith(prefix);
  const rolledUp = isWithin ? rollUp(from.key, prefix, delimiter) : null;
  if (rolledUp === null) return readPage(connection, bucketPrefix, query);
  const inPrefix = { prefix: rolledUp, delimiter: "", from, limit: 1 };
  const { items: found } = await readPage(connection, bucketPrefix, inPrefix);
  const item: ListedItem = { kind: "prefix", text: rolledUp };
  const first = found.length === 0 ? [] : [item];
  const next = afterPosition(item);
  if (next === null) return { items: first, isTruncated: false };
  const rest = { prefix, delimiter, from: next, limit: Math.max(limit - first.length, 1) };
  const page = await readPage(connection, bucketPrefix, rest);
  const items = [...first, ...page.items];
  return { items: items.slice(0, limit), isTruncated: page.isTruncated || items.length > limit };
}

async function readPage(
  connection: S3Connection,
  bucketPrefix: string,
  { prefix, delimiter, from, limit }: PageQuery,
): Promise<ServicePage> {
  const whole = (bucketPrefix + prefix).toWellFormed();
  // No key begins with such a prefix, and some services refuse it.
  if (utf8Length(whole) > keyBytesMax) return { items: [], isTruncated: false };
  const start = startAfter(prefix, from);
  let position: readonly (readonly [string, string])[] =
    start === null ? [] : [["start-after", shortened((bucketPrefix + start).toWellFormed())]];
  const items: ListedItem[] = [];
  // A page of the service is short if some of its items are before the bound.
  for (;;) {
    const answer = await connection.send({
      method: "GET",
      query: [
        ["list-type", "2"],
        ["encoding-type", "url"],
        ["max-keys", String(limit - items.length)],
        ["prefix", whole],
        ...(delimiter === "" ? [] : [["delimiter", delimiter] as const]),
        ...position,
      ],
    });
    if (answer.status !== 200) return refuseAnswer(answer, "list objects");
    const page = parsePage(await readDocument(answer), bucketPrefix);
    items.push(...page.items.filter(({ text }) => isInBound(text, from)));
    if (page.token === null || items.length >= limit) {
      return { items, isTruncated: page.token !== null };
    }
    position = [["continuation-token", page.token]];
  }
}

/** `null` when the prefix is the bound. */
function startAfter(prefix: string, { key, inclusive }: Bound): string | null {
  if (!inclusive) return key;
  return key === prefix ? null : before(key);
}

/** A text before a key that is the end of a prefix (`prefixEnd()`), after most keys with the prefix. */
function before(key: string): string {
  const points = Array.from(key);
  const last = points.pop()?.codePointAt(0) ?? 0;
  const previous = last === 0xe000 ? 0xd7ff : last - 1;
  return previous < 0
    ? points.join("")
    : points.join("") + String.fromCodePoint(previous) + lastCharacter;
}

/** A text that is longer than any key, shortened to a text before it. */
function shortened(text: string): string {
  if (utf8Length(text) <= keyBytesMax) return text;
  const points = Array.from(text.slice(0, keyBytesMax));
  while (!points.join("").isWellFormed() || utf8Length(points.join("")) > keyBytesMax) points.pop();
  return points.join("");
}

function isInBound(text: string, { key, inclusive }: Bound): boolean {
  const order = compareKeys(text, key);
  return order > 0 || (order === 0 && inclusive);
}

function parsePage(
  document: XmlElement,
  bucketPrefix: string,
): { items: ListedItem[]; token: string | null } {
  const decode = textDecoderOf(document);
  const keyOf = (element: XmlElement, name: string): string =>
    decode(childText(element, name) ?? "").slice(bucketPrefix.length);
  const objects = childrenOf(document, "Contents").map((element): ListedItem => ({
    kind: "key",
    text: keyOf(element, "Key"),
    size: Number(childText(element, "Size")),
  }));
  const prefixes = childrenOf(document, "CommonPrefixes").map((element): ListedItem => ({
    kind: "prefix",
    text: keyOf(element, "Prefix"),
  }));
  const isTruncated = childText(document, "IsTruncated")?.trim() === "true";
  return {
    items: [...objects, ...prefixes].toSorted((a, b) => compareKeys(a.text, b.text)),
    token: isTruncated ? childText(document, "NextContinuationToken") : null,
  };
}
