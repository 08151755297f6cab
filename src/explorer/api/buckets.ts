/**
 * Buckets, objects and uploads, as the page sees them. Keys travel in queries and bodies, never in
 * paths: a browser would change `..`, and cut a key at `?`.
 *
 *     GET    /api/buckets                                            BucketSummary[]
 *     POST   /api/buckets                    { name }                BucketSummary
 *     GET    /api/buckets/:bucket                                    BucketStatistics
 *     DELETE /api/buckets/:bucket            an empty bucket that is not configured
 *     GET    /api/buckets/:bucket/objects    ?prefix &delimiter &after &cursor &limit     ObjectPage
 *     GET    /api/buckets/:bucket/object     ?key                    ObjectDetails
 *     PATCH  /api/buckets/:bucket/object     ?key  MetadataChange    ObjectDetails
 *     GET    /api/buckets/:bucket/content    ?key &download          the content, with ranges
 *     PUT    /api/buckets/:bucket/content    ?key &overwrite         ObjectDetails
 *     GET    /api/buckets/:bucket/archive    ?prefix                 a zip file
 *     POST   /api/buckets/:bucket/archive    a form with the field `selection`: JSON with keys and prefixes
 *     POST   /api/buckets/:bucket/links      LinkRequest             Link
 *     GET    /api/buckets/:bucket/uploads    ?prefix &cursor         UploadPage
 *     DELETE /api/buckets/:bucket/uploads/:uploadId            ?key
 */

export interface BucketSummary {
  readonly name: string;
  /** The names of the bindings that lead to the bucket. */
  readonly bindings: readonly string[];
  /** Milliseconds since the epoch */
  readonly created: number;
  /** Whether the bucket can be deleted: it is not in the configuration. */
  readonly isDeletable: boolean;
  /** The S3 service that has the bucket; `null` for a bucket of the state folder. */
  readonly remote: { readonly name: string; readonly endpoint: string } | null;
}

export interface BucketStatistics extends BucketSummary {
  readonly objects: number;
  readonly bytes: number;
  readonly uploads: number;
}

export type StorageClass = "Standard" | "InfrequentAccess";

/** A row of a list. */
export interface ListedObject {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  /** Milliseconds since the epoch */
  readonly uploaded: number;
  readonly storageClass: StorageClass;
  readonly contentType: string | null;
}

export interface ObjectPage {
  readonly objects: readonly ListedObject[];
  /** Folders: prefixes that end in the delimiter. */
  readonly folders: readonly string[];
  /** Where the next page begins; `null` on the last page. */
  readonly cursor: string | null;
}

/** The metadata of a response that serves the object. Absent fields are not set. */
export interface HttpMetadata {
  readonly contentType?: string;
  readonly contentLanguage?: string;
  readonly contentDisposition?: string;
  readonly contentEncoding?: string;
  readonly cacheControl?: string;
  /** Milliseconds since the epoch */
  readonly cacheExpiry?: number;
}

export interface ObjectDetails extends ListedObject {
  readonly version: string;
  readonly httpMetadata: HttpMetadata;
  readonly customMetadata: Readonly<Record<string, string>>;
  /** In hexadecimal, by the name of the algorithm. */
  readonly checksums: Readonly<Record<string, string>>;
  /** Whether the object was written with a key of the customer: its content cannot be shown. */
  readonly hasCustomerKey: boolean;
}

/** Replaces all metadata, and keeps the content. */
export interface MetadataChange {
  /** The change is refused if the object has another etag or another version by now. */
  readonly etag: string;
  readonly version: string;
  readonly httpMetadata: HttpMetadata;
  readonly customMetadata: Readonly<Record<string, string>>;
  readonly storageClass: StorageClass;
}

export interface LinkRequest {
  readonly key: string;
  readonly expiresSeconds: number;
}

export interface Link {
  readonly url: string;
  /** Milliseconds since the epoch */
  readonly expires: number;
}

export interface ListedUpload {
  readonly key: string;
  readonly uploadId: string;
  /** Milliseconds since the epoch, by the store's clock */
  readonly created: number;
  /** When the store aborts the upload. */
  readonly expires: number;
}

export interface UploadPage {
  readonly uploads: readonly ListedUpload[];
  readonly cursor: string | null;
  /** The store's time, which the page counts down from. */
  readonly now: number;
}

/** What is listed. */
export interface ObjectListing {
  readonly bucket: string;
  readonly prefix: string;
  /** The page begins after this key; empty on the first page. */
  readonly after: string;
}

export const delimiter = "/";

const pageRowsMax = 1000;

/**
 * The request of the page for a list of objects. The server names the same request in the head of the
 * page, so that the browser sends it before the scripts of the page run.
 */
export function objectListUrl({ bucket, prefix, after }: ObjectListing): string {
  const query = new URLSearchParams({ prefix, delimiter, limit: String(pageRowsMax) });
  if (after !== "") query.set("after", after);
  return `/api/buckets/${encodeURIComponent(bucket)}/objects?${query.toString()}`;
}
