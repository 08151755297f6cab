/**
 * An `ObjectRecord` as JSON text, in the database and on its way to the caller.
 *
 * The text is written once, when the object is stored, and parsed only by the caller. The bucket
 * and the calls between pass it on unparsed: parsing would be most of the cost of a small read.
 *
 *     fields    [version, size, etag, uploaded, storageClass?, checksums?, s3Checksums?, ssecKeyMd5?]
 *     metadata  [http, custom], or null when both are empty
 *
 * Fields and metadata are two columns, because a listing may leave out the metadata. The fields
 * leave out what most objects have in common: the class "Standard", and an MD5, equal to the
 * entity tag, as the only checksum.
 */
import { isComposite, hashAlgorithms, type Checksums, type Hashes } from "./checksum.ts";
import type { CustomMetadata, HttpMetadata } from "./metadata.ts";
import type {
  DescribedObject,
  EncodedObject,
  ObjectRecord,
  StorageClass,
  Operation,
  Outcome,
} from "./operations.ts";

type Fields = [
  version: string,
  size: number,
  etag: string,
  uploaded: number,
  storageClass?: StorageClass,
  checksums?: Hashes,
  s3Checksums?: Checksums,
  ssecKeyMd5?: string,
];

type Metadata = [http: HttpMetadata | null, custom: CustomMetadata | null];

export interface Include {
  readonly http: boolean;
  readonly custom: boolean;
}

const all: Include = { http: true, custom: true };
const none: HttpMetadata & CustomMetadata = Object.freeze({});

/** An object to store: all its checksums are together. */
export type NewObject = Omit<DescribedObject, "checksums" | "s3Checksums"> & {
  readonly checksums: Checksums;
};

export function encodeFields(record: NewObject): string {
  const { version, size, etag, uploaded, storageClass, checksums, ssecKeyMd5 } = record;
  const fields: Fields = [version, size, etag, uploaded];
  const isUsual = checksums.md5 === etag && Object.keys(checksums).length === 1;
  if (ssecKeyMd5 !== undefined) {
    const [hashes, others = {}] = separateChecksums(checksums);
    fields.push(storageClass, hashes, others, ssecKeyMd5);
  } else if (!isUsual) fields.push(storageClass, ...separateChecksums(checksums));
  else if (storageClass !== "Standard") fields.push(storageClass);
  return JSON.stringify(fields);
}

/** The checksums that the binding shows; and the others, if there are any. */
function separateChecksums(checksums: Checksums): [Hashes, Checksums?] {
  const entries = Object.entries(checksums);
  const hashes: Hashes = Object.fromEntries(entries.filter(isHash));
  const others = entries.filter((entry) => !isHash(entry));
  return others.length === 0 ? [hashes] : [hashes, Object.fromEntries(others)];
}

function isHash([name, hex]: [string, string]): boolean {
  return name in hashAlgorithms && !isComposite(hex);
}

export function encodeMetadata(http: HttpMetadata, custom: CustomMetadata): string | null {
  const empty = Object.keys(http).length === 0 && Object.keys(custom).length === 0;
  return empty ? null : JSON.stringify([http, custom] satisfies Metadata);
}

export function includedMetadata(metadata: string | null, { http, custom }: Include): string {
  if (metadata === null || (http && custom)) return metadata ?? "null";
  const [ofHttp, ofCustom] = JSON.parse(metadata) as [unknown, unknown];
  return JSON.stringify(http ? [ofHttp] : [null, ofCustom]);
}

/** The key and the fields of an object as a listing has them, which SQLite writes as well. */
export function itemText(key: string, fields: string): string {
  return `${JSON.stringify(key)},${fields}`;
}

export function joinEncoded(fields: string, metadata: string | null): EncodedObject {
  return `[${fields},${metadata}]`;
}

export function decodeObject(key: string, encoded: EncodedObject): DescribedObject {
  const [fields, metadata] = JSON.parse(encoded) as [Fields, Metadata | null];
  return objectRecord(key, fields, metadata, all) as DescribedObject;
}

/** Objects of a listing: `[[key, fields, metadata], …]`, with the requested metadata. */
export function decodeObjects(json: string, include: Include): ObjectRecord[] {
  const rows = JSON.parse(json) as [string, Fields, Metadata | null][];
  return rows.map(([key, fields, metadata]) => objectRecord(key, fields, metadata, include));
}

function objectRecord(
  key: string,
  [
    version,
    size,
    etag,
    uploaded,
    storageClass = "Standard",
    checksums = { md5: etag },
    s3Checksums,
    ssecKeyMd5,
  ]: Fields,
  metadata: Metadata | null,
  include: Include,
): ObjectRecord {
  const fields = { key, version, size, etag, uploaded, checksums, storageClass };
  const record: { -readonly [Field in keyof ObjectRecord]: ObjectRecord[Field] } = fields;
  if (s3Checksums !== undefined) record.s3Checksums = s3Checksums;
  if (ssecKeyMd5 !== undefined) record.ssecKeyMd5 = ssecKeyMd5;
  if (include.http) record.http = metadata?.[0] ?? none;
  if (include.custom) record.custom = metadata?.[1] ?? none;
  return record;
}

/**
 * The short form of the most frequent operations: a few plain values. The structured clone of an
 * operation and its outcome takes longer than the bucket takes to execute the operation.
 *
 *     call                            answer
 *     ["head", key]                   text, or null
 *     ["get", key]                    [text, bytes], or null
 *     ["put", key, bytes, md5, rest]  text, or null
 *
 * `rest` is JSON of the other fields of a put, and is absent where all of them have their default.
 * An answer that has no short form (a failure, content in files) travels in its long form.
 */
export type ShortCall = readonly [
  method: "head" | "get" | "put",
  key: string,
  bytes?: Uint8Array,
  md5?: string,
  rest?: string | undefined,
];

export type ShortAnswer =
  | EncodedObject
  | null
  | readonly [object: EncodedObject, bytes: ArrayBuffer]
  | Outcome;

export function shortCall(operation: Operation): ShortCall | null {
  const { method } = operation;
  if (method === "head") return [method, operation.key];
  if (method === "get") {
    const { key, range, onlyIf, partNumber, verify } = operation;
    return (range ?? onlyIf ?? partNumber ?? verify) === undefined ? [method, key] : null;
  }
  if (method !== "put" || !("bytes" in operation.content)) return null;
  const { method: _, layer: __, key, content, http, custom, ...others } = operation;
  const { md5, ...checksums } = content.checksums;
  if (md5 === undefined) return null;
  const rest = JSON.stringify({ http, custom, checksums, ...others });
  return [method, key, content.bytes, md5, rest === plainText ? undefined : rest];
}

export function operationOf([method, key, bytes, md5, rest]: ShortCall): Operation {
  if (method !== "put") return { method, key };
  const { checksums, ...description } =
    rest === undefined ? plainRest : (JSON.parse(rest) as typeof plainRest);
  const content = { bytes: bytes as Uint8Array, checksums: { md5, ...checksums } };
  return { method, key, content, ...description };
}

const plainRest = { http: {}, custom: {}, checksums: {}, storageClass: "Standard" } as const;
const plainText = JSON.stringify(plainRest);

export function shortAnswer(outcome: Outcome): ShortAnswer {
  if (!outcome.ok || outcome.fault !== undefined) return outcome;
  const { value } = outcome;
  if (value === null || typeof value === "string") return value;
  if ("status" in value && value.status === "found") {
    const [first, second] = value.content;
    if (second === undefined && first !== undefined && "bytes" in first) {
      return [value.object, first.bytes as ArrayBuffer];
    }
  }
  return outcome;
}

/** The outcome that a short answer stands for; a long answer as it is. */
export function outcomeOf(answer: ShortAnswer): Outcome {
  if (answer === null || typeof answer === "string") return { ok: true, value: answer };
  if ("ok" in answer) return answer;
  const [object, bytes] = answer;
  const range = { offset: 0, length: bytes.byteLength };
  return { ok: true, value: { status: "found", object, range, content: [{ bytes }] } };
}

/** All checksums of an object: those of the binding, and those of the S3-compatible interface. */
export function allChecksums({ checksums, s3Checksums }: ObjectRecord): Checksums {
  return s3Checksums === undefined ? checksums : { ...checksums, ...s3Checksums };
}
