/** An object as `--json` prints it and as a manifest holds it, with the names of the binding. */
import type { HttpMetadata } from "../../store/core/metadata.ts";
import type { ObjectRecord } from "../../store/core/operations.ts";

export interface HttpMetadataJson extends Omit<HttpMetadata, "cacheExpiry"> {
  /** ISO 8601 */
  readonly cacheExpiry?: string;
}

export function toObjectJson(record: ObjectRecord) {
  const { key, size, etag, version, uploaded, checksums, s3Checksums, storageClass } = record;
  const { cacheExpiry, ...text } = record.http ?? {};
  return {
    key,
    size,
    etag,
    version,
    uploaded: new Date(uploaded).toISOString(),
    httpMetadata: {
      ...text,
      ...(cacheExpiry !== undefined && { cacheExpiry: new Date(cacheExpiry).toISOString() }),
    },
    customMetadata: record.custom ?? {},
    checksums,
    ...(s3Checksums !== undefined && { s3Checksums }),
    storageClass,
  };
}

export function fromHttpJson({ cacheExpiry, ...text }: HttpMetadataJson): HttpMetadata {
  return { ...text, ...(cacheExpiry !== undefined && { cacheExpiry: Date.parse(cacheExpiry) }) };
}
