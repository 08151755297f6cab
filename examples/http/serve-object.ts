/**
 * GET and HEAD of an object by the standard (RFC 9110): conditions (section 13) and ranges (section 14).
 *
 * `planRead` decides on the response by the metadata alone, so a 304 or a 416 reads no content. The
 * read of the content then requires the etag of that metadata. If the object was replaced in the
 * meantime, the function starts again with the new metadata.
 *
 * The server answers one range. It ignores several ranges, as the RFC allows, and ranges in other
 * units than bytes: the response is then the whole content.
 */

type Plan =
  | { status: 200 | 304 | 412; range?: undefined }
  | { status: 206; range: ByteRange }
  | { status: 416; range: "unsatisfiable" };

export function planRead(
  { method, headers }: Pick<Request, "method" | "headers">,
  current: Validators & { size: number },
): Plan {
  const verdict = checkPreconditions(method, headers, current);
  if (verdict === "failed") return { status: 412 };
  if (verdict === "not modified") return { status: 304 };

  const requested = headers.get("range");
  // Range is defined only for GET (RFC 9110, section 14.2).
  if (requested === null || method !== "GET" || !rangeApplies(headers, current))
    return { status: 200 };
  const range = resolveRange(requested, current.size);
  if (range === "whole") return { status: 200 };
  return range === "unsatisfiable" ? { status: 416, range } : { status: 206, range };
}

/** The response to `request`, or `null` when there is no object. `describe` adds headers. */
export async function serveObject(
  bucket: StoreBucket,
  key: string,
  request: Request,
  describe: (object: StoreObject, headers: Headers) => void,
): Promise<Response | null> {
  for (;;) {
    const seen = await bucket.head(key);
    if (seen === null) return null;
    const { status, range } = planRead(request, seen);
    const headers = new Headers({
      etag: seen.httpEtag,
      "last-modified": seen.uploaded.toUTCString(),
      "accept-ranges": "bytes",
    });
    seen.writeHttpMetadata(headers);
    describe(seen, headers);
    if (range !== undefined) headers.set("content-range", contentRange(range, seen.size));

    if (status !== 200 && status !== 206) {
      for (const name of ["content-type", "content-encoding"]) headers.delete(name);
      return new Response(null, { status, headers });
    }
    headers.set("content-length", String(range?.length ?? seen.size));
    // Content that is stored in compressed form is sent unchanged.
    const init: ResponseInit = { status, headers, encodeBody: "manual" };
    if (request.method === "HEAD") return new Response(null, init);
    const object = await bucket.get(key, {
      onlyIf: { etagMatches: seen.etag },
      ...(range === undefined ? {} : { range }),
    });
    if (object !== null && "body" in object) return new Response(object.body, init);
  }
}

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

/**
 * Evaluates the conditions of `headers` in the order of section 13.2.2: tags take precedence over dates.
 * `current` is `null` when there is no object.
 */
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

export interface ByteRange {
  offset: number;
  length: number;
}

/** The bytes that `header` requests from a content of `size` bytes. */
export function resolveRange(header: string, size: number): ByteRange | "whole" | "unsatisfiable" {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header);
  if (match === null) return "whole";
  const [first, last] = [match[1] as string, match[2] as string];

  if (first === "") {
    if (last === "") return "whole";
    const length = Math.min(Number(last), size);
    if (Number(last) === 0) return "unsatisfiable";
    // Content-Range cannot express an empty range, so a suffix of an empty content is the whole.
    return size === 0 ? "whole" : { offset: size - length, length };
  }

  const offset = Number(first);
  if (last !== "" && Number(last) < offset) return "whole";
  if (offset >= size) return "unsatisfiable";
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  return { offset, length: end - offset };
}

/** `Content-Range` of a 206 response with `range`, or of a 416 response. */
export function contentRange(range: ByteRange | "unsatisfiable", size: number): string {
  if (range === "unsatisfiable") return `bytes */${size}`;
  return `bytes ${range.offset}-${range.offset + range.length - 1}/${size}`;
}
