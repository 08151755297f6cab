/**
 * Objects of a listing on their way from SQLite to the caller: JSON tuples, which cost less to
 * write, carry and parse than objects with their names.
 */
import type { Checksums } from "./checksum.ts";
import type { CustomMetadata, HttpMetadata } from "./http-metadata.ts";
import type { ObjectRecord, StorageClass } from "./operations.ts";

type ListedObject = [
  key: string,
  version: string,
  size: number,
  etag: string,
  uploaded: number,
  checksums: Checksums,
  storageClass: StorageClass,
  http: HttpMetadata | null,
  custom: CustomMetadata | null,
];

export function decodeListedObjects(json: string): ObjectRecord[] {
  return (JSON.parse(json) as ListedObject[]).map(
    ([key, version, size, etag, uploaded, checksums, storageClass, http, custom]) => ({
      key,
      version,
      size,
      etag,
      uploaded,
      checksums,
      storageClass,
      ...(http !== null && { http }),
      ...(custom !== null && { custom }),
    }),
  );
}
