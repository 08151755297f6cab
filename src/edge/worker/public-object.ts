/**
 * An object of a public bucket over HTTP: GET and HEAD (RFC 9110), and the CORS rules of the bucket.
 *
 * A GET without conditions and without a range is one call of the bucket. Every other request is decided by the
 * metadata alone, so that a 304, a 412 or a 416 opens no content; the content is then read with the etag of these
 * metadata. If the object was replaced in the meantime, the function starts again.
 *
 * As the deployed service does: a range counts for HEAD, too; several ranges, and a header that is malformed, are 400; a
 * range without a byte of the object is 416. There is no list: the empty key is the key of no object.
 */
import {
  contentRange,
  parseRangeHeader,
  selectBytes,
  type ByteRange,
} from "../../store/core/byte-range.ts";
import {
  conditionHolds,
  conditionsOfHeaders,
  failedStatus,
  parseIfRange,
} from "../../store/core/conditional.ts";
import {
  corsRules,
  grantedHeaders,
  preflightHeaders,
  preflightOf,
  type CorsRule,
} from "../../store/core/cors.ts";
import { utf8Length } from "../../store/core/key.ts";
import { keyBytesMax } from "../../store/core/limits.ts";
import type { StoredSettings } from "../../store/core/operations.ts";
import type * as types from "../../types/store.ts";

/**
 * @param encodedKey the key as the path of the URL has it: in percent-encoding, without the slash before it
 * @param cors the rules of the configuration, until a request to the S3-compatible API puts others
 */
export async function servePublicObject(
  request: Request,
  encodedKey: string,
  bucket: types.StoreBucket,
  cors: readonly CorsRule[],
): Promise<Response> {
  const { method, headers } = request;
  if (method === "OPTIONS") return answerPreflight(headers, await readCorsRules(bucket, cors));
  const origin = headers.get("origin");
  if (origin === null) return serveObject(request, encodedKey, bucket);
  // The calls of one turn are one message to the bucket.
  const [response, rules] = await Promise.all([
    serveObject(request, encodedKey, bucket),
    readCorsRules(bucket, cors),
  ]);
  setHeaders(response.headers, grantedHeaders(rules, { origin, method }) ?? {});
  return response;
}

async function serveObject(
  { method, headers }: Request,
  encodedKey: string,
  bucket: types.StoreBucket,
): Promise<Response> {
  if (method !== "GET" && method !== "HEAD") {
    // Deviation: the deployed service answers 401, as if a key could help.
    const allow = "GET, HEAD, OPTIONS";
    return answer(405, "A public bucket answers GET and HEAD.", { allow });
  }
  const key = decodeKey(encodedKey);
  if (key === null) return answer(400, "The path is not UTF-8 in percent-encoding.");
  if (key === "" || utf8Length(key) > keyBytesMax) return noObject();
  let onlyIf: ReturnType<typeof conditionsOfHeaders>;
  try {
    onlyIf = conditionsOfHeaders(headers);
  } catch (error) {
    return answer(400, (error as Error).message);
  }
  const rangeHeader = headers.get("range");
  const wanted = rangeHeader === null ? undefined : parseRangeHeader(rangeHeader);
  if (wanted === null || (wanted?.length ?? 1) < 1) {
    return answer(400, `The header "Range: ${rangeHeader}" is not one range of bytes.`);
  }
  const ifRange = parseIfRange(headers);
  const isWhole = method === "GET" && onlyIf === undefined && wanted === undefined;

  for (;;) {
    const object = await (isWhole ? bucket.get(key) : bucket.head(key));
    if (object === null) return noObject();
    if ("body" in object) return respond(object, { body: (object as types.StoreObjectBody).body });
    const state = { etag: object.etag, uploaded: object.uploaded.getTime() };
    if (onlyIf !== undefined && !conditionHolds(onlyIf, state)) {
      return refuse(object, failedStatus(onlyIf, state));
    }
    const hasRange = ifRange === undefined || conditionHolds(ifRange, state);
    const range = wanted && hasRange ? selectBytes(wanted, object.size) : undefined;
    if (range === null) return refuse(object, 416);
    if (method === "HEAD") return respond(object, { body: null, range });
    const options = { onlyIf: { etagMatches: object.etag }, ...(range && { range }) };
    const opened = await bucket.get(key, options);
    if (opened !== null && "body" in opened) return respond(opened, { body: opened.body, range });
  }
}

function respond(
  object: types.StoreObject,
  { body, range }: { readonly body: ReadableStream | null; readonly range?: ByteRange | undefined },
): Response {
  const headers = validators(object);
  headers.set("content-type", "application/octet-stream");
  object.writeHttpMetadata(headers);
  headers.set("content-length", String(range?.length ?? object.size));
  if (range !== undefined) headers.set("content-range", contentRange(range, object.size));
  const status = range === undefined ? 200 : 206;
  // Content that is stored in an encoding is sent as it is stored. Deviation: also to a client that does not accept the
  // encoding, for which the deployed service decodes.
  return new Response(body, { status, headers, encodeBody: "manual" });
}

/** A response without the object: a condition does not hold, or the range has no byte of the object. */
function refuse(object: types.StoreObject, status: 304 | 412 | 416): Response {
  const headers = validators(object);
  if (status === 304) {
    object.writeHttpMetadata(headers);
    for (const name of ["content-type", "content-encoding"]) headers.delete(name);
  }
  if (status === 416) headers.set("content-range", contentRange(null, object.size));
  return new Response(null, { status, headers });
}

function validators({ httpEtag, uploaded }: types.StoreObject): Headers {
  return new Headers({
    etag: httpEtag,
    "last-modified": uploaded.toUTCString(),
    "accept-ranges": "bytes",
  });
}

/** `null` for a path that is not UTF-8 in percent-encoding. */
function decodeKey(encodedKey: string): string | null {
  try {
    return decodeURIComponent(encodedKey);
  } catch {
    return null;
  }
}

function noObject(): Response {
  return answer(404, "There is no such object in the bucket.");
}

function answer(status: number, text: string, own: Record<string, string> = {}): Response {
  const headers = { "content-type": "text/plain; charset=utf-8", ...own };
  return new Response(`${text}\n`, { status, headers });
}

function answerPreflight(headers: Headers, rules: readonly CorsRule[]): Response {
  const asked = preflightOf(headers);
  if (asked === null)
    return answer(400, "A preflight has Origin and Access-Control-Request-Method.");
  const granted = preflightHeaders(rules, asked);
  if (granted === null) return answer(403, "No CORS rule of the bucket allows this request.");
  const response = new Response(null, { status: 204 });
  setHeaders(response.headers, granted);
  return response;
}

function setHeaders(headers: Headers, values: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) headers.set(name, value);
  }
}

/** `defineHiddenProperties()`: the interface of a script has no settings. */
interface HiddenCalls {
  "ledge:bucket"(name: "call", request: object): Promise<StoredSettings>;
}

/** Of each request anew, because any process may put other rules. */
async function readCorsRules(
  bucket: types.StoreBucket,
  configured: readonly CorsRule[],
): Promise<readonly CorsRule[]> {
  const calls = bucket as types.StoreBucket & HiddenCalls;
  return corsRules(await calls["ledge:bucket"]("call", { method: "getSettings" }), configured);
}
