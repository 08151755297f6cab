/**
 * Conditional requests (RFC 9110, section 13).
 *
 * A request may require an entity tag or a modification time of the current object. Tags take
 * precedence over dates. The order of evaluation is that of section 13.2.2.
 */

/** The validators of the current object. */
export interface Validators {
  /** With quotes, as in the headers. */
  httpEtag: string;
  uploaded: Date;
}

export type Verdict = "proceed" | "not modified" | "failed";

export function isConditional(headers: Headers): boolean {
  return ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"].some((name) =>
    headers.has(name),
  );
}

/** Evaluates the conditions of `headers`. `current` is `null` when there is no object. */
export function checkPreconditions(
  method: string,
  headers: Headers,
  current: Validators | null,
): Verdict {
  const reading = method === "GET" || method === "HEAD";

  const ifMatch = headers.get("if-match");
  const unmodifiedSince = httpDate(headers.get("if-unmodified-since"));
  if (ifMatch !== null) {
    if (!listsTag(ifMatch, current, "strong")) return "failed";
  } else if (unmodifiedSince !== null && current !== null) {
    if (seconds(current.uploaded) > unmodifiedSince) return "failed";
  }

  const ifNoneMatch = headers.get("if-none-match");
  const modifiedSince = httpDate(headers.get("if-modified-since"));
  if (ifNoneMatch !== null) {
    if (listsTag(ifNoneMatch, current, "weak")) return reading ? "not modified" : "failed";
  } else if (reading && modifiedSince !== null && current !== null) {
    if (seconds(current.uploaded) <= modifiedSince) return "not modified";
  }
  return "proceed";
}

/**
 * Whether `Range` applies to the current object (`If-Range`, section 13.1.5). Otherwise a download
 * that continues after the object was replaced would mix the bytes of two objects.
 */
export function rangeApplies(headers: Headers, current: Validators): boolean {
  const ifRange = headers.get("if-range")?.trim();
  if (ifRange === undefined) return true;
  const date = httpDate(ifRange);
  return date === null ? ifRange === current.httpEtag : date === seconds(current.uploaded);
}

function listsTag(header: string, current: Validators | null, strength: "strong" | "weak") {
  if (current === null) return false;
  if (header.trim() === "*") return true;
  return Array.from(header.matchAll(/(W\/)?("[^"]*")/g)).some(
    ([, weak, tag]) => tag === current.httpEtag && (weak === undefined || strength === "weak"),
  );
}

/** Seconds since the epoch; `null` for an invalid date, which is ignored. */
function httpDate(header: string | null): number | null {
  const time = header?.endsWith("GMT") ? Date.parse(header) : Number.NaN;
  return Number.isNaN(time) ? null : time / 1000;
}

/** HTTP dates have no fractions of a second. */
function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
