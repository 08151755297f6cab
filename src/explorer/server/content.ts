/**
 * The content of an object, as a response: the whole content, or a range.
 *
 * The bytes, and the metadata that come with them, are hostile: any program may have stored an HTML
 * page or an SVG image with scripts. A browser that opens such an object must not run a script with
 * the origin of the explorer, which may delete everything.
 *
 * - The policy has `sandbox`: the document gets an origin of its own, and runs no script. Chromium
 *   shows no PDF in a sandbox, so `application/pdf`, written exactly so, has a policy without it. Any
 *   other text, such as `application/pdf;,text/html`, could be a page for a browser.
 * - The content is never a script, a style or a worker of the page (`isForbiddenDestination`).
 * - Only the type of the content is taken from the object, and only if it is a valid header.
 *
 * `Content-Encoding` says that a browser has to decode the bytes. It is sent for a whole object that
 * is shown. A range is a range of the stored bytes, and a download is the object as it is stored: both
 * come without the header, so they also work for content that is not encoded as its metadata say.
 *
 * Browsers keep no response (`explorer-server.ts`), so they send no conditions but `If-Range`.
 */
import { parseRange } from "../../s3/object-headers.ts";
import { S3Error } from "../../s3/s3-errors.ts";
import { contentRange, type ByteRange, type RangeRequest } from "../../store/core/byte-range.ts";
import { parseIfRange } from "../../store/core/conditional.ts";
import { StoreError } from "../../store/core/errors.ts";
import { requireSameKey } from "../../store/core/metadata.ts";
import type { DescribedObject } from "../../store/core/operations.ts";
import type { FoundObject } from "../../store/node/bucket.ts";
import { objectMissing, requireBucket, requireKey } from "./buckets.ts";
import { CallError, failure, type ExplorerCall, type ExplorerResponse } from "./call.ts";

export async function readContent(call: ExplorerCall): Promise<ExplorerResponse> {
  const { headers, query } = call;
  if (isForbiddenDestination(headers["sec-fetch-dest"])) {
    throw new CallError(403, "The content of an object cannot be a script or a style of a page.");
  }
  const bucket = await requireBucket(call);
  const key = requireKey(call);
  let range = readRange(headers.range);
  // The bucket decides by `If-Range`, so the range is that of the version which the browser has.
  const onlyIf = parseIfRange({ get: (name) => headers[name]?.toString() });
  let opened;
  try {
    opened = await bucket.get({ key, range, ...(range !== undefined && { onlyIf }) });
    if (opened?.status === "condition failed") {
      range = undefined;
      opened = await bucket.get({ key });
    }
  } catch (error) {
    if (!(error instanceof StoreError) || error.objectSize === undefined) throw error;
    return unsatisfiable(error.objectSize);
  }
  if (opened?.status !== "found") throw objectMissing(bucket.name, key);
  const body = new OpenedContent(opened);
  try {
    requireSameKey(opened.object, undefined);
  } catch (error) {
    body.close();
    throw error;
  }
  const isPartial = range !== undefined && opened.range.length > 0;
  const shown = {
    object: opened.object,
    range: isPartial ? opened.range : null,
    fileName: query.has("download") ? fileNameOf(key, "object") : null,
    acceptEncoding: headers["accept-encoding"]?.toString() ?? "",
  };
  return { status: isPartial ? 206 : 200, headers: contentHeaders(shown), body };
}

/** 416, with the size, so that the browser can ask again. */
function unsatisfiable(size: number): ExplorerResponse {
  const text = `The range is outside of the object, which has ${size} bytes.`;
  const refusal = failure(416, text, 10039);
  return { ...refusal, headers: { ...refusal.headers, "content-range": contentRange(null, size) } };
}

/** A header that names no range, or several, is ignored (RFC 9110 section 14.2). */
function readRange(text: string | undefined): RangeRequest | undefined {
  try {
    return text === undefined ? undefined : parseRange(text);
  } catch (error) {
    if (error instanceof S3Error) return undefined;
    throw error;
  }
}

const commonPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
const documentPolicy = `sandbox; ${commonPolicy}`;

/** The encodings that browsers decode. */
const knownEncodings = new Set(["gzip", "br", "deflate", "zstd"]);

/** Printable ASCII. Node refuses other characters, or sends them in another encoding. */
const headerSafe = /^[\x20-\x7e]+$/;

export interface ShownContent {
  readonly object: DescribedObject;
  /** The range of the response; `null` for the whole object. */
  readonly range: ByteRange | null;
  /** The name of the file that the browser saves; `null` when the browser shows the content. */
  readonly fileName: string | null;
  /** `Accept-Encoding` of the request. */
  readonly acceptEncoding: string;
}

export function contentHeaders(shown: ShownContent): Record<string, string> {
  const { object, range, fileName } = shown;
  const type = contentType(object.http.contentType);
  const encoding = contentEncoding(shown);
  return {
    "content-type": type,
    "content-security-policy": type === "application/pdf" ? commonPolicy : documentPolicy,
    "accept-ranges": "bytes",
    "last-modified": new Date(object.uploaded).toUTCString(),
    etag: `"${object.etag}"`,
    "content-length": String(range?.length ?? object.size),
    ...(range !== null && { "content-range": contentRange(range, object.size) }),
    ...(encoding !== null && { "content-encoding": encoding }),
    ...(fileName !== null && { "content-disposition": attachment(fileName) }),
  };
}

function contentType(stored: string | undefined): string {
  const text = stored?.trim() ?? "";
  return headerSafe.test(text) ? text : "application/octet-stream";
}

function contentEncoding({ object, range, fileName, acceptEncoding }: ShownContent): string | null {
  if (range !== null || fileName !== null) return null;
  const encoding = object.http.contentEncoding?.trim().toLowerCase() ?? "";
  const accepted = acceptEncoding
    .split(",")
    .map((text) => text.split(";")[0]?.trim().toLowerCase());
  return knownEncodings.has(encoding) && accepted.includes(encoding) ? encoding : null;
}

/** `Content-Disposition` of a file to save (RFC 6266), with a name in UTF-8 (RFC 8187). */
export function attachment(fileName: string): string {
  const ascii = fileName.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(fileName.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

/** The last segment of a key, which is not empty, as the name of a file. */
export function fileNameOf(key: string, fallback: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are intended
  const hidden = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  const name = key.split("/").findLast((segment) => segment !== "") ?? fallback;
  // Marks of direction could let `exe.gnp` look like a picture.
  return name.replace(hidden, "_");
}

/** Whether the browser would load the content as a part of a page that has rights of its own. */
export function isForbiddenDestination(destination: string | string[] | undefined): boolean {
  return /^(?:script|style|font|manifest|xslt|.*worker|.*worklet)$/.test(String(destination ?? ""));
}

/**
 * Closes the content at the end, and also when the response ends early. A generator would not: the
 * end of a generator that was never started runs no code of it, and a `HEAD` request starts none.
 */
export class OpenedContent implements AsyncIterable<Uint8Array> {
  readonly #content: FoundObject["content"];

  constructor({ content }: Pick<FoundObject, "content">) {
    this.#content = content;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const content = this.#content;
    const chunks: AsyncIterator<Uint8Array> | Iterator<Uint8Array> =
      content instanceof Uint8Array ? [content].values() : content.chunks();
    return {
      next: async () => chunks.next(),
      return: async () => {
        await chunks.return?.();
        this.close();
        return { done: true, value: undefined };
      },
    };
  }

  close(): void {
    if (!(this.#content instanceof Uint8Array)) this.#content.close();
  }
}
