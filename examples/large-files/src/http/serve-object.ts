/**
 * GET and HEAD of an object.
 *
 * `planRead` decides on the response by the metadata alone, so a 304 or a 416 reads no content. The
 * read of the content then requires the etag of that metadata. If the object was replaced in the
 * meantime, the function starts again with the new metadata.
 */
import { contentRange, resolveRange, type ByteRange } from "./byte-range.ts";
import { checkPreconditions, rangeApplies, type Validators } from "./preconditions.ts";

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
