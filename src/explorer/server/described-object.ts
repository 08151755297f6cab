/** An object of the store in the words of the explorer's API. */
import type { DescribedObject, ObjectRecord } from "../../store/core/operations.ts";
import { allChecksums } from "../../store/core/object.ts";
import type { ListedObject, ObjectDetails } from "../api/buckets.ts";

export function listedObject(object: ObjectRecord): ListedObject {
  const { key, size, etag, uploaded, storageClass, http } = object;
  return { key, size, etag, uploaded, storageClass, contentType: http?.contentType ?? null };
}

export function objectDetails(object: DescribedObject): ObjectDetails {
  return {
    ...listedObject(object),
    version: object.version,
    httpMetadata: object.http,
    customMetadata: object.custom,
    checksums: allChecksums(object),
    hasCustomerKey: object.ssecKeyMd5 !== undefined,
  };
}
