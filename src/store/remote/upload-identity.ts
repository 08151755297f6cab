/**
 * Ids of multipart uploads: `ID!CHECKSUM`, or `ID!CHECKSUMPROPERTIES`.
 *
 * `ID` is that of the service. The checksum is of the key and of `ID`: an id with this checksum was an
 * upload of the key at some time, so to abort it is no error, even if the service knows it no more. An S3
 * service does not show what an upload was created with, so the id carries the properties that later
 * requests need, as base64url of JSON. Most uploads have none: then a listing has the same id.
 */
import type { KeyHolder } from "../core/metadata.ts";
import { crcOf } from "../core/hash.ts";
import type { StorageClass, UploadChecksum } from "../core/operations.ts";
import { decodeText, encodeText } from "./packed-header.ts";

export interface UploadProperties extends KeyHolder, UploadChecksum {
  readonly storageClass?: StorageClass;
}

export interface UploadIdentity {
  /** The id that the service knows. */
  readonly serviceId: string;
  /** Whether the upload is, or was, an upload of the key. */
  readonly isIssued: boolean;
  readonly properties: UploadProperties;
}

export function encodeUploadId(
  key: string,
  serviceId: string,
  properties: UploadProperties = {},
): string {
  const isPlain = Object.keys(properties).length === 0;
  const text = isPlain ? "" : encodeText(JSON.stringify(properties));
  return `${serviceId}!${checksumOf(key, serviceId)}${text}`;
}

/** An id that is not ours may be one that the service knows. */
export function decodeUploadId(key: string, uploadId: string): UploadIdentity {
  const unknown = { serviceId: uploadId, isIssued: false, properties: {} };
  const [, serviceId, checksum, text] = /^([^]*)!([0-9a-f]{8})([\w-]*)$/.exec(uploadId) ?? [];
  if (serviceId === undefined || checksum !== checksumOf(key, serviceId)) return unknown;
  try {
    const properties = (text ? JSON.parse(decodeText(text)) : {}) as UploadProperties;
    return { serviceId, isIssued: true, properties };
  } catch {
    return unknown;
  }
}

function checksumOf(key: string, serviceId: string): string {
  return crcOf("crc32", new TextEncoder().encode(`${serviceId}\n${key}`));
}
