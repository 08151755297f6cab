/** `onlyIf` as an object and as headers (RFC 7232, sections 3 and 6). */
import { readDate, type Options } from "./arguments.ts";
import { fieldError } from "./errors.ts";

interface Conditional {
  readonly etagMatches?: readonly Tag[] | undefined;
  readonly etagDoesNotMatch?: readonly Tag[] | undefined;
  readonly uploadedBefore?: number | undefined;
  readonly uploadedAfter?: number | undefined;
  readonly wholeSeconds: boolean;
}

/** An entity tag. `*` matches any object. */
type Tag = "*" | { readonly value: string; readonly weak: boolean };

export function readConditional(value: unknown, on: string): Conditional {
  if (value === undefined || value === null) return { wholeSeconds: false };
  if (value instanceof Headers) return readConditionalHeaders(value);
  if (typeof value !== "object") {
    throw fieldError("onlyIf", { on, type: "Conditional or Headers" });
  }
  const fields = value as Options;
  return {
    etagMatches: readTag(fields, "etagMatches"),
    etagDoesNotMatch: readTag(fields, "etagDoesNotMatch"),
    uploadedBefore: readInstant(fields, "uploadedBefore"),
    uploadedAfter: readInstant(fields, "uploadedAfter"),
    wholeSeconds: Boolean(fields["secondsGranularity"]),
  };
}

function readTag(fields: Options, name: string): Tag[] | undefined {
  const tag = fields[name];
  if (tag === undefined) return undefined;
  if (typeof tag !== "string") throw fieldError(name, { on: "Conditional", type: "string" });
  if (tag === "*") return ["*"];
  if (tag.startsWith('"') && tag.endsWith('"')) {
    throw new TypeError(`Conditional ETag should not be wrapped in quotes (${tag}).`);
  }
  return [{ value: tag, weak: false }];
}

function readInstant(fields: Options, name: string): number | undefined {
  const date = fields[name];
  return date === undefined ? undefined : readDate(date, { name, on: "Conditional" });
}

function readConditionalHeaders(headers: Headers): Conditional {
  return {
    etagMatches: readTagList(headers.get("if-match")),
    etagDoesNotMatch: readTagList(headers.get("if-none-match")),
    uploadedBefore: readHttpDate(headers.get("if-unmodified-since")),
    uploadedAfter: readHttpDate(headers.get("if-modified-since")),
    wholeSeconds: true,
  };
}

const tagPattern = '(?:\\*|(?:W/)?"[^"]*")';
const tagListPattern = new RegExp(`^${tagPattern}(?:\\s*,\\s*${tagPattern})*$`);

function readTagList(header: string | null): Tag[] | undefined {
  if (header === null) return undefined;
  // The platform has an error text for each mistake; the specification defines none.
  if (!tagListPattern.test(header)) throw new Error(`Not a list of entity tags: ${header}`);
  return Array.from(header.matchAll(/\*|(W\/)?"([^"]*)"/g), ([text, weak, value]) =>
    text === "*" ? "*" : { value: value ?? "", weak: weak !== undefined },
  );
}

/** RFC 7232, section 3.3: an invalid date is ignored. */
function readHttpDate(header: string | null): number | undefined {
  const date = header === null ? Number.NaN : Date.parse(header);
  return Number.isNaN(date) ? undefined : date;
}

export function holds(
  conditional: Conditional,
  object: { etag: string; uploaded: number } | undefined,
): boolean {
  const { etagMatches, etagDoesNotMatch, uploadedBefore, uploadedAfter } = conditional;
  if (object === undefined) return etagMatches === undefined && uploadedAfter === undefined;

  const instant = (milliseconds: number): number =>
    conditional.wholeSeconds ? Math.floor(milliseconds / 1000) : milliseconds;
  const uploaded = instant(object.uploaded);
  const matches = etagMatches?.some(
    (tag) => tag === "*" || (!tag.weak && tag.value === object.etag),
  );
  const differs = etagDoesNotMatch?.every((tag) => tag !== "*" && tag.value !== object.etag);
  return (
    matches !== false &&
    differs !== false &&
    (uploadedAfter === undefined || instant(uploadedAfter) < uploaded || differs === true) &&
    (uploadedBefore === undefined || uploaded < instant(uploadedBefore) || matches === true)
  );
}
