/**
 * What the bucket knows of an object, as text: written once, when the object is stored, and
 * handed as it is from the database to whoever asks, who is the first to parse it. Neither the
 * bucket nor the calls between look inside, which is most of what a small read would cost.
 *
 *     fields    [version, size, etag, uploaded, storageClass?, checksums?]
 *     metadata  [http, custom], or null where both are empty
 *
 * The two are columns of their own, for a listing need not carry metadata. What most objects have
 * in common is left out of the fields: the standard class, and md5 as the only hash, which is the
 * etag.
 */
import type { Checksums } from "./checksum.ts";
import type { CustomMetadata, HttpMetadata } from "./http-metadata.ts";
import type { ObjectRecord, ObjectText, StorageClass } from "./operations.ts";

type Fields = [
  version: string,
  size: number,
  etag: string,
  uploaded: number,
  storageClass?: StorageClass,
  checksums?: Checksums,
];

type Metadata = [http: HttpMetadata | null, custom: CustomMetadata | null];

export interface Include {
  readonly http: boolean;
  readonly custom: boolean;
}

const all: Include = { http: true, custom: true };
const none: HttpMetadata & CustomMetadata = Object.freeze({});

export function encodeFields(record: ObjectRecord): string {
  const { version, size, etag, uploaded, storageClass, checksums } = record;
  const fields: Fields = [version, size, etag, uploaded];
  const usual = checksums.md5 === etag && Object.keys(checksums).length === 1;
  if (!usual) fields.push(storageClass, checksums);
  else if (storageClass !== "Standard") fields.push(storageClass);
  return JSON.stringify(fields);
}

export function encodeMetadata(http: HttpMetadata, custom: CustomMetadata): string | null {
  const empty = Object.keys(http).length === 0 && Object.keys(custom).length === 0;
  return empty ? null : JSON.stringify([http, custom] satisfies Metadata);
}

export function joinText(fields: string, metadata: string | null): ObjectText {
  return `[${fields},${metadata}]`;
}

export function decodeObject(key: string, text: ObjectText): Required<ObjectRecord> {
  const [fields, metadata] = JSON.parse(text) as [Fields, Metadata | null];
  return objectRecord(key, fields, metadata, all) as Required<ObjectRecord>;
}

/** Objects of a listing: `[[key, fields, metadata], …]`, with the metadata that was asked for. */
export function decodeObjects(json: string, include: Include): ObjectRecord[] {
  const rows = JSON.parse(json) as [string, Fields, Metadata | null][];
  return rows.map(([key, fields, metadata]) => objectRecord(key, fields, metadata, include));
}

function objectRecord(
  key: string,
  [version, size, etag, uploaded, storageClass = "Standard", checksums = { md5: etag }]: Fields,
  metadata: Metadata | null,
  include: Include,
): ObjectRecord {
  const record: { -readonly [Field in keyof ObjectRecord]: ObjectRecord[Field] } = {
    key,
    version,
    size,
    etag,
    uploaded,
    checksums,
    storageClass,
  };
  if (include.http) record.http = metadata?.[0] ?? none;
  if (include.custom) record.custom = metadata?.[1] ?? none;
  return record;
}
