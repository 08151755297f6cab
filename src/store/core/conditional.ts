/**
 * Conditional requests (RFC 7232).
 *
 * A caller gives an object or headers; both become a `Conditional`. All given conditions must
 * hold. Entity tags take precedence over dates (section 6): a date is ignored when the
 * corresponding entity-tag condition is given and holds.
 */

export type EtagPattern =
  | { readonly kind: "any" }
  | { readonly kind: "strong" | "weak"; readonly value: string };

export interface Conditional {
  /** If-Match */
  readonly etagMatches?: readonly EtagPattern[];
  /** If-None-Match */
  readonly etagDoesNotMatch?: readonly EtagPattern[];
  /** If-Unmodified-Since, in milliseconds since the epoch */
  readonly uploadedBefore?: number;
  /** If-Modified-Since, in milliseconds since the epoch */
  readonly uploadedAfter?: number;
  /** Compare whole seconds, because HTTP dates have no fractions. */
  readonly secondsGranularity?: boolean;
}

/** Whether `condition` holds for the current object; `null`: no object exists. */
export function conditionHolds(
  condition: Conditional,
  object: { etag: string; uploaded: number } | null,
): boolean {
  const { etagMatches, etagDoesNotMatch, uploadedBefore, uploadedAfter } = condition;
  if (object === null) return etagMatches === undefined && uploadedAfter === undefined;

  const isTag = (pattern: EtagPattern): boolean =>
    pattern.kind === "any" || pattern.value === object.etag;
  // If-Match compares strongly, If-None-Match weakly (sections 3.1 and 3.2).
  if (etagMatches?.some((pattern) => pattern.kind !== "weak" && isTag(pattern)) === false) {
    return false;
  }
  if (etagDoesNotMatch?.some(isTag)) return false;

  const unit = condition.secondsGranularity ? 1000 : 1;
  const isBefore = (left: number, right: number): boolean =>
    Math.floor(left / unit) < Math.floor(right / unit);
  const modified =
    uploadedAfter === undefined ||
    etagDoesNotMatch !== undefined ||
    isBefore(uploadedAfter, object.uploaded);
  const unmodified =
    uploadedBefore === undefined ||
    etagMatches !== undefined ||
    isBefore(object.uploaded, uploadedBefore);
  return modified && unmodified;
}

/** The pattern of an entity tag in the object form: unquoted, or `*` for any tag. */
export function parseEtag(etag: string): EtagPattern {
  if (etag.length > 1 && etag.startsWith('"') && etag.endsWith('"')) {
    throw new TypeError(`Conditional ETag should not be wrapped in quotes (${etag}).`);
  }
  return etag === "*" ? { kind: "any" } : { kind: "strong", value: etag };
}

/**
 * The patterns of an If-Match or If-None-Match header: `*`, or entity tags separated by commas.
 *
 * The errors are the platform's: plain `Error`s with the platform's texts.
 */
export function parseEtagHeader(name: "if-match" | "if-none-match", header: string): EtagPattern[] {
  const patterns: EtagPattern[] = [];
  let rest = header;
  let commaExpected = false;
  for (;;) {
    rest = rest.replace(/^[ \t]+/, "");
    if (rest.startsWith(",")) {
      rest = rest.slice(1);
      commaExpected = false;
      continue;
    }
    const start = rest.charAt(0);
    if (start !== "*" && start !== "W" && start !== '"') break;
    if (commaExpected)
      throw new Error(`Comma was expected to separate etags. ${unexpected[start]}`);
    if (start === "*") return [{ kind: "any" }];

    const weak = start === "W";
    if (weak && !rest.startsWith('W/"')) {
      throw new Error("Weak etags must start with W/ and their value must be quoted");
    }
    const opening = weak ? 2 : 0;
    const closing = rest.indexOf('"', opening + 1);
    if (closing === -1) throw new Error("Unclosed double quote for Etag");
    patterns.push({ kind: weak ? "weak" : "strong", value: rest.slice(opening + 1, closing) });
    rest = rest.slice(closing + 1);
    commaExpected = true;
  }
  if (patterns.length === 0) throw new Error(`Invalid ETag in ${name} header`);
  return patterns;
}

const unexpected = {
  "*": "Encountered a wildcard character '*' instead.",
  W:
    "Encountered a weak quotation character 'W' instead. " +
    "This would otherwise indicate the start of a new weak etag.",
  '"':
    "Encountered a double quote character '\"' instead. " +
    "This would otherwise indicate the start of a new strong etag.",
};

/** Headers, or the parameters of a query. */
interface Values {
  get(name: string): string | null | undefined;
}

const conditionNames = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];
/** An entity tag as clients write it that leave out the quotes. */
const bareEtag = /^[^"*,\s]+$/;

/**
 * The conditions of a request over HTTP.
 *
 * @param prefix of the names: empty, or that of the conditions of a copy
 * @returns `undefined` without conditions
 * @throws Error for an entity tag that is not valid
 */
export function conditionsOfHeaders(headers: Values, prefix = ""): Conditional | undefined {
  if (conditionNames.every((name) => headers.get(prefix + name) == null)) return undefined;
  const unmodifiedSince = parseTime(headers.get(`${prefix}if-unmodified-since`));
  const conditions = {
    etagMatches: parseEtags("if-match", headers.get(`${prefix}if-match`)),
    etagDoesNotMatch: parseEtags("if-none-match", headers.get(`${prefix}if-none-match`)),
    uploadedAfter: parseTime(headers.get(`${prefix}if-modified-since`)),
    // Unmodified since a second holds for an object of that second, and `uploadedBefore` does not.
    uploadedBefore: unmodifiedSince === undefined ? undefined : unmodifiedSince + 1000,
  };
  const isEmpty = Object.values(conditions).every((condition) => condition === undefined);
  return isEmpty ? undefined : { ...conditions, secondsGranularity: true };
}

/**
 * The status of a read whose conditions do not hold: 412 when the client wanted one version, 304
 * when the client has this version (RFC 7232 section 6).
 */
export function failedStatus(
  conditions: Conditional,
  object: { readonly etag: string; readonly uploaded: number },
): 304 | 412 {
  const { etagDoesNotMatch: _tags, uploadedAfter: _time, ...wanted } = conditions;
  return conditionHolds(wanted, object) ? 304 : 412;
}

/**
 * The condition of `If-Range`, under which the range of a request counts (RFC 9110 section 13.1.5): an
 * entity tag that matches strongly, or the exact time of the last change.
 *
 * @returns `undefined` without the header. A header that is neither never holds: a whole object is
 *   never wrong
 */
export function parseIfRange(headers: Values): Conditional | undefined {
  const text = headers.get("if-range");
  if (text == null) return undefined;
  if (bareEtag.test(text)) return { etagMatches: [{ kind: "strong", value: text }] };
  const [, weak, value] = /^(W\/)?"([^"]*)"$/.exec(text) ?? [];
  if (value !== undefined) {
    return { etagMatches: [{ kind: weak === undefined ? "strong" : "weak", value }] };
  }
  const time = parseTime(text);
  if (time === undefined) return { etagMatches: [] };
  return { uploadedAfter: time - 1000, uploadedBefore: time + 1000, secondsGranularity: true };
}

function parseEtags(
  name: "if-match" | "if-none-match",
  text: string | null | undefined,
): EtagPattern[] | undefined {
  if (text == null) return undefined;
  return bareEtag.test(text) ? [{ kind: "strong", value: text }] : parseEtagHeader(name, text);
}

/** A date that is not valid is ignored (RFC 7232 sections 3.3 and 3.4). */
function parseTime(text: string | null | undefined): number | undefined {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? undefined : time;
}
