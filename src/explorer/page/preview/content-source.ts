/**
 * Reads the beginning of an object's content for the page. Content with an encoding such as gzip is
 * decoded by the browser, as far as the browser knows the encoding; a range has the stored bytes.
 */
import type { ObjectDetails } from "../../api/buckets.ts";
import { ApiCallError, apiUrl, bucketPath, readFailure, unreachable } from "../api-client.ts";

export interface ContentSource {
  readonly url: string;
  /** The bytes that are stored. */
  readonly size: number;
  readonly etag: string;
  /** The content encoding; `null` without one. */
  readonly encoding: string | null;
}

export class ContentPart {
  readonly bytes: Uint8Array;
  /** Whether the content ends with these bytes. */
  readonly isWhole: boolean;
  /** Whether an encoding was undone: the bytes are not the bytes that are stored. */
  readonly isDecoded: boolean;

  constructor(bytes: Uint8Array, isWhole: boolean, isDecoded: boolean) {
    this.bytes = bytes;
    this.isWhole = isWhole;
    this.isDecoded = isDecoded;
  }

  /** Parts of the same content are equal if they are as long (`useFetched()` compares by JSON). */
  toJSON(): unknown {
    return [this.bytes.length, this.isWhole, this.isDecoded];
  }
}

/** The status of a call for content that has changed since its details were loaded. */
export const changedStatus = 412;

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
 * The first bytes, decoded if that is possible.
 *
 * @throws ApiCallError
 */
export async function readContent(
  source: ContentSource,
  length: number,
  signal: AbortSignal,
): Promise<ContentPart> {
  if (source.encoding !== null) {
    try {
      const response = await open(source, {}, signal);
      const { bytes, isWhole } = await readUpTo(response, length);
      return new ContentPart(bytes, isWhole, response.headers.has("content-encoding"));
    } catch {
      // The content may have another encoding than its metadata say.
      signal.throwIfAborted();
    }
  }
  return readStored(source, length, signal);
}

/**
 * The first bytes as they are stored.
 *
 * @throws ApiCallError
 */
export async function readStored(
  source: ContentSource,
  length: number,
  signal: AbortSignal,
): Promise<ContentPart> {
  const response = await open(source, { range: `bytes=0-${length - 1}` }, signal);
  try {
    const { bytes } = await readUpTo(response, length);
    return new ContentPart(bytes, bytes.length >= source.size, false);
  } catch (error) {
    signal.throwIfAborted();
    throw unreachable(error);
  }
}

async function open(
  source: ContentSource,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> {
  const response = await fetch(source.url, { headers, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw unreachable(error);
  });
  if (!response.ok) throw readFailure(response.status, await response.text().catch(() => ""));
  const etag = response.headers.get("etag")?.replaceAll(/^W\/|"/g, "");
  if (etag === undefined || etag === source.etag) return response;
  await response.body?.cancel();
  throw new ApiCallError(
    changedStatus,
    "The object has changed since its details were loaded. Load the details again.",
  );
}

async function readUpTo(
  response: Response,
  length: number,
): Promise<Pick<ContentPart, "bytes" | "isWhole">> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = response.body?.getReader();
  for (let count = 0; count <= length;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return { bytes: await joined(chunks), isWhole: true };
    chunks.push(value);
    count += value.length;
  }
  await reader?.cancel();
  return { bytes: (await joined(chunks)).subarray(0, length), isWhole: false };
}

function joined(chunks: readonly Uint8Array<ArrayBuffer>[]): Promise<Uint8Array> {
  return new Blob([...chunks]).bytes();
}
