/**
 * Reads the content of an object for the page, a part at a time: stored bytes by range requests. A
 * part of content with an encoding such as gzip is decoded from the beginning, by the browser if the
 * response has the header, by the page otherwise.
 */
import type { ObjectDetails } from "../../api/buckets.ts";
import { ApiCallError, apiUrl, bucketPath, readFailure } from "../api-client.ts";
import { decodeContent, joinBytes } from "./content-decoding.ts";

export interface ContentSource {
  readonly url: string;
  /** The bytes that are stored. */
  readonly size: number;
  readonly etag: string;
  /** The content encoding; `null` without one. */
  readonly encoding: string | null;
}

export interface ContentPart {
  readonly bytes: Uint8Array;
  /** Whether the content ends with these bytes. */
  readonly isWhole: boolean;
  /** Whether an encoding was undone: the bytes are not the bytes that are stored. */
  readonly isDecoded: boolean;
}

export function contentSource(bucket: string, details: ObjectDetails): ContentSource {
  const { key, size, etag, httpMetadata } = details;
  const encoding = httpMetadata.contentEncoding?.trim().toLowerCase() ?? "";
  return {
    url: apiUrl(bucketPath(bucket, "/content"), { key }),
    size,
    etag,
    encoding: encoding === "" || encoding === "identity" ? null : encoding,
  };
}

/**
 * The content up to a length, decoded if that is possible.
 *
 * @param before the part that is there already, for content without an encoding
 * @throws ApiCallError
 */
export async function readContent(
  source: ContentSource,
  { length, before }: { readonly length: number; readonly before: ContentPart | null },
  signal: AbortSignal,
): Promise<ContentPart> {
  if (source.encoding !== null) return readEncoded(source, source.encoding, length, signal);
  const start = before?.bytes.length ?? 0;
  const bytes = await readRange(source, { start, length: length - start }, signal);
  return {
    bytes: before === null ? bytes : joinBytes([before.bytes, bytes]),
    isWhole: start + bytes.length >= source.size,
    isDecoded: false,
  };
}

async function readEncoded(
  source: ContentSource,
  encoding: string,
  length: number,
  signal: AbortSignal,
): Promise<ContentPart> {
  const response = await open(source, {}, signal);
  if (response.headers.has("content-encoding")) {
    try {
      return { ...(await readUpTo(response, length, signal)), isDecoded: true };
    } catch {
      // The content may have another encoding than its metadata say. A range is not decoded.
      signal.throwIfAborted();
    }
  } else await response.body?.cancel();
  const stored = await readRange(source, { start: 0, length }, signal);
  const isWhole = stored.length >= source.size;
  const decoded = await decodeContent(stored, encoding);
  return decoded === null
    ? { bytes: stored, isWhole, isDecoded: false }
    : { bytes: decoded.bytes, isWhole: isWhole && decoded.isWhole, isDecoded: true };
}

/**
 * Bytes as they are stored: fewer at the end of the content.
 *
 * @throws ApiCallError
 */
export async function readRange(
  source: ContentSource,
  { start, length }: { readonly start: number; readonly length: number },
  signal: AbortSignal,
): Promise<Uint8Array> {
  const expected = Math.min(length, source.size - start);
  if (expected <= 0) return new Uint8Array();
  const response = await open(source, { range: `bytes=${start}-${start + expected - 1}` }, signal);
  if (response.headers.has("content-encoding")) {
    await response.body?.cancel();
    throw new ApiCallError(
      response.status,
      "The browser decodes this content, so the bytes that are stored cannot be shown. " +
        "Download the object to see them.",
    );
  }
  // A response with another status has the content from its beginning.
  const skipped = response.status === 206 ? 0 : start;
  const { bytes } = await readUpTo(response, skipped + expected, signal);
  const wanted = bytes.subarray(skipped);
  if (wanted.length < expected) throw brokenOff();
  return wanted;
}

async function open(
  source: ContentSource,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> {
  const response = await fetch(source.url, { headers, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw brokenOff(error);
  });
  if (!response.ok) throw readFailure(response.status, await response.text().catch(() => ""));
  const etag = response.headers.get("etag")?.replaceAll(/^W\/|"/g, "");
  if (etag !== undefined && etag !== source.etag) {
    await response.body?.cancel();
    throw new ApiCallError(
      412,
      "The object has changed since its details were loaded. Load the details again.",
    );
  }
  return response;
}

async function readUpTo(
  response: Response,
  length: number,
  signal: AbortSignal,
): Promise<{ readonly bytes: Uint8Array; readonly isWhole: boolean }> {
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  let count = 0;
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) return { bytes: joinBytes(chunks), isWhole: true };
      chunks.push(value);
      count += value.length;
      if (count < length) continue;
      await reader?.cancel();
      return { bytes: joinBytes(chunks).subarray(0, length), isWhole: false };
    }
  } catch (error) {
    signal.throwIfAborted();
    throw brokenOff(error);
  }
}

function brokenOff(cause?: unknown): ApiCallError {
  const error = new ApiCallError(
    0,
    "The content could not be read: the connection to the explorer broke off. " +
      "If the command that served this page has ended, start ledge dev or ledge explore again.",
  );
  error.cause = cause;
  return error;
}
