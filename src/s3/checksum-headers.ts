/**
 * Checksums on the wire: `Content-MD5`, `x-amz-checksum-*` before the body or in its trailer, and
 * the elements of the same names in XML. Values are base64; a composite one ends in `-` and the
 * number of parts.
 */
import {
  checksumAlgorithms,
  isComposite,
  type Checksums,
  type ChecksumType,
  type ExpectedChecksum,
  type S3ChecksumAlgorithm,
  resolveUploadChecksum,
} from "../store/core/checksum.ts";
import type { UploadChecksum } from "../store/core/operations.ts";
import { base64ToHex, hexToBase64 } from "./hex-base64.ts";
import { S3Error } from "./s3-error.ts";
import type { S3Headers } from "./s3-request.ts";
import { childText, type XmlElement } from "./xml/xml-reader.ts";

export const s3Algorithms: readonly S3ChecksumAlgorithm[] = [
  "crc32",
  "crc32c",
  "crc64nvme",
  "sha1",
  "sha256",
];
const checksumTypes: readonly ChecksumType[] = ["composite", "full object"];
const headerPrefix = "x-amz-checksum-";

/** What a client says about the checksums of a body. */
export interface AnnouncedChecksums {
  /** `Content-MD5` in hexadecimal */
  readonly md5: string | null;
  /** `hex` is `null` when the value follows in the trailer. */
  readonly checksum: {
    readonly algorithm: S3ChecksumAlgorithm;
    readonly hex: string | null;
  } | null;
}

/** @throws S3Error for a checksum that is not valid, and for more than one */
export function parseAnnouncedChecksums(headers: S3Headers): AnnouncedChecksums {
  const md5Text = headers.get("content-md5");
  const md5 = md5Text === null ? null : base64ToHex(md5Text, checksumAlgorithms.md5.bytes);
  if (md5Text !== null && md5 === null) throw new S3Error("InvalidDigest");
  const given = parseChecksumHeader(headers);
  if (given !== undefined) return { md5, checksum: given };
  const trailer = (headers.get("x-amz-trailer") ?? "").toLowerCase().split(/\s*,\s*/);
  const algorithm = s3Algorithms.find((each) => trailer.includes(headerPrefix + each));
  return { md5, checksum: algorithm === undefined ? null : { algorithm, hex: null } };
}

/** The checksum in the headers of a request: of its body, or of the object of an upload. */
export function parseChecksumHeader(
  headers: Pick<S3Headers, "get">,
): ExpectedChecksum<S3ChecksumAlgorithm> | undefined {
  const given = s3Algorithms.filter((algorithm) => headers.get(headerPrefix + algorithm) !== null);
  if (given.length > 1) {
    throw new S3Error(
      "InvalidRequest",
      "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.",
    );
  }
  const [algorithm] = given;
  if (algorithm === undefined) return undefined;
  const hex = parseChecksumValue(algorithm, headers.get(headerPrefix + algorithm) as string);
  if (hex !== null) return { algorithm, hex };
  throw new S3Error("InvalidRequest", `Value for ${headerPrefix}${algorithm} header is invalid.`);
}

/** In hexadecimal; `null` for a value that is not valid. */
function parseChecksumValue(algorithm: S3ChecksumAlgorithm, text: string): string | null {
  const [, value, count] = /^([^-]*)(-\d{1,5})?$/.exec(text) ?? [];
  const hex = base64ToHex(value ?? "", checksumAlgorithms[algorithm].bytes);
  return hex === null ? null : hex + (count ?? "");
}

/** The value of a trailer, in hexadecimal. */
export function parseTrailer(
  algorithm: S3ChecksumAlgorithm,
  trailer: ReadonlyMap<string, string>,
): string {
  const hex = parseChecksumValue(algorithm, trailer.get(headerPrefix + algorithm) ?? "");
  if (hex === null) throw new S3Error("MalformedTrailerError");
  return hex;
}

/** The checksums that the S3-compatible API shows, in base64. */
function shownChecksums(checksums: Checksums): [S3ChecksumAlgorithm, string][] {
  return s3Algorithms.flatMap((algorithm) => {
    const [hex, count] = (checksums[algorithm] ?? "").split("-") as [string, string?];
    if (hex === "") return [];
    return [[algorithm, hexToBase64(hex) + (count === undefined ? "" : `-${count}`)]];
  });
}

export function checksumHeaders(checksums: Checksums): Record<string, string> {
  const shown = shownChecksums(checksums);
  if (shown.length === 0) return {};
  return {
    ...Object.fromEntries(shown.map(([algorithm, value]) => [headerPrefix + algorithm, value])),
    "x-amz-checksum-type": checksumTypeName(typeOf(checksums)),
  };
}

/** `ChecksumCRC32` and its relatives. */
export function checksumElements(checksums: Checksums): Record<string, string> {
  return Object.fromEntries(
    shownChecksums(checksums).map(([algorithm, value]) => [elementName(algorithm), value]),
  );
}

/** The checksums of an element of a request. */
export function parseChecksumElements(element: XmlElement): Checksums | undefined {
  const found = s3Algorithms.flatMap((algorithm) => {
    const text = childText(element, elementName(algorithm));
    if (text === null) return [];
    const hex = parseChecksumValue(algorithm, text);
    if (hex === null) throw new S3Error("MalformedXML");
    return [[algorithm, hex]];
  });
  return found.length === 0 ? undefined : (Object.fromEntries(found) as Checksums);
}

function elementName(algorithm: S3ChecksumAlgorithm): string {
  return `Checksum${algorithm.toUpperCase()}`;
}

export function typeOf(checksums: Checksums): ChecksumType {
  return s3Algorithms.some((algorithm) => isComposite(checksums[algorithm] ?? ""))
    ? "composite"
    : "full object";
}

export function checksumTypeName(type: ChecksumType): string {
  return type === "composite" ? "COMPOSITE" : "FULL_OBJECT";
}

/**
 * The kind of checksum that an upload is created with.
 *
 * @throws S3Error, or StoreError for a type that the algorithm does not have
 */
export function parseUploadChecksum(headers: S3Headers): UploadChecksum {
  const name = headers.get("x-amz-checksum-algorithm");
  const checksumAlgorithm = s3Algorithms.find((each) => each === name?.toLowerCase());
  if (name !== null && checksumAlgorithm === undefined) {
    throw new S3Error(
      "InvalidRequest",
      "Checksum algorithm provided is unsupported. Please try again with any of the valid types: " +
        "[CRC32, CRC32C, CRC64NVME, SHA1, SHA256]",
    );
  }
  const typeName = headers.get("x-amz-checksum-type");
  const checksumType = checksumTypes.find((type) => checksumTypeName(type) === typeName);
  if (typeName !== null && checksumType === undefined) {
    throw new S3Error("InvalidRequest", "Value for x-amz-checksum-type header is invalid.");
  }
  return resolveUploadChecksum({
    ...(checksumAlgorithm !== undefined && { checksumAlgorithm }),
    ...(checksumType !== undefined && { checksumType }),
  });
}
