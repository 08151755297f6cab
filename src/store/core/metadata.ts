/** Metadata of an object: HTTP headers, and the caller's own name-value pairs. */
import { StoreError } from "./errors.ts";
import { utf8Length, validateKey } from "./key.ts";
import { metadataBytesMax } from "./limits.ts";

/** The text fields and their headers. The sixth field, `cacheExpiry`, is the `Expires` header. */
export const httpMetadataHeaders = {
  contentType: "content-type",
  contentLanguage: "content-language",
  contentDisposition: "content-disposition",
  contentEncoding: "content-encoding",
  cacheControl: "cache-control",
} as const;

type TextField = keyof typeof httpMetadataHeaders;

export const httpMetadataFields = Object.keys(httpMetadataHeaders) as TextField[];

/** HTTP metadata in its stored form: `cacheExpiry` is in milliseconds since the epoch. */
export interface HttpMetadata extends Readonly<Partial<Record<TextField, string>>> {
  readonly cacheExpiry?: number;
}

export type CustomMetadata = Readonly<Record<string, string>>;

export function httpMetadataFromHeaders(headers: {
  get(name: string): string | null | undefined;
}): HttpMetadata {
  const metadata: Partial<Record<TextField, string>> = {};
  for (const field of httpMetadataFields) {
    const value = headers.get(httpMetadataHeaders[field]);
    if (value != null) metadata[field] = value;
  }
  const expires = headers.get("expires");
  // Deviation: a date outside of 1677 to 2262 is kept. The platform stores another date.
  // An invalid date means "already expired" (RFC 7234 section 5.3), and so does the epoch.
  return expires == null ? metadata : { ...metadata, cacheExpiry: Date.parse(expires) || 0 };
}

/**
 * Refuses a value that cannot be a header. A value with CR, LF or NUL would let the uploader of an
 * object add headers to the responses that serve the object.
 */
export function validateHeaderValue(field: string, value: string): void {
  if (/[\r\n\0]/.test(value)) {
    throw new TypeError(
      `Cannot write ${field} as a header: its value contains a line break or a NUL character.`,
    );
  }
}

/** @throws StoreError 10012 when HTTP and custom metadata together are too large */
export function validateMetadata(http: HttpMetadata, custom: CustomMetadata): void {
  let bytes = 0;
  for (const field of httpMetadataFields) bytes += utf8Length(http[field] ?? "");
  for (const [name, value] of Object.entries(custom)) bytes += utf8Length(name) + utf8Length(value);
  if (bytes > metadataBytesMax) throw new StoreError(10012);
}

/** @throws StoreError for an operation that the bucket would refuse */
export function validateWrite({
  key,
  http,
  custom,
}: {
  readonly key: string;
  readonly http?: HttpMetadata;
  readonly custom?: CustomMetadata;
}): void {
  validateKey(key);
  if (http !== undefined && custom !== undefined) validateMetadata(http, custom);
}

/**
 * Keys of customers (SSE-C): an object or an upload that was made with a key is used with the same
 * key only. The store keeps the MD5 of the key, which identifies the key, and not the key.
 *
 * Deviation: content is stored as it is. Local files are encrypted by no secret.
 *
 * The client compares the keys when it decodes the object: a bucket does not parse what it returns.
 */

/** What a key is remembered with. Without a key the field is absent. */
export interface KeyHolder {
  /** The MD5 of the key, in hexadecimal. */
  readonly ssecKeyMd5?: string;
}

/** AES-256. */
export const customerKeyBytes = 32;

/** @throws StoreError 200004 when an object has another key than the request, or one of them has none */
export function requireSameKey(holder: KeyHolder, given: string | undefined): void {
  if (holder.ssecKeyMd5 === given) return;
  throw new StoreError(200004, keyDifference(holder, given));
}

/** Says why a key is not that of an object. The texts are those of S3. */
export function keyDifference(
  { ssecKeyMd5: expected }: KeyHolder,
  given: string | undefined,
): string {
  if (expected === undefined) {
    return "The encryption parameters are not applicable to this object.";
  }
  return given === undefined
    ? "The object was stored using a form of Server Side Encryption. The correct parameters must " +
        "be provided to retrieve the object."
    : "The provided encryption parameters did not match the ones used originally.";
}
