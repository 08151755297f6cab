/**
 * Conditional requests (RFC 9110, section 13).
 *
 * A request may say what it expects of the object as it is now: its entity tag, or the time of its
 * last change. Tags win over dates, and the order is that of section 13.2.2.
 */

/** What HTTP knows of the object that a request is about. */
export interface Validators {
  /** In quotes, as the headers carry it */
  httpEtag: string;
  uploaded: Date;
}

export type Verdict = "proceed" | "not modified" | "failed";

export function isConditional(headers: Headers): boolean {
  return ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"].some((name) =>
    headers.has(name),
  );
}

/** What the conditions in `headers` say about an object, `null` where there is none. */
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
 * Whether a `Range` still means what its sender thinks (section 13.1.5). Without this, a download
 * that is continued after the object was replaced would be half of one and half of the other.
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

/** In seconds since the epoch; `null` for what is no date, which is to be ignored. */
function httpDate(header: string | null): number | null {
  const time = header?.endsWith("GMT") ? Date.parse(header) : Number.NaN;
  return Number.isNaN(time) ? null : time / 1000;
}

/** HTTP dates know no fractions of a second. */
function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
