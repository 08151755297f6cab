/** What a request says about checksums: `Content-MD5`, `x-amz-checksum-*` before the body or in its trailer. */
import {
  base64ToHex,
  checksumPrefix,
  checksumsInElement,
  checksumsInHeaders,
  checksumTypeName,
  parseChecksumValue,
  s3Algorithms,
} from "../http/headers.ts";
import type { XmlElement } from "../http/xml.ts";
import {
  checksumAlgorithms,
  type Checksums,
  type ChecksumType,
  type ExpectedChecksum,
  type S3ChecksumAlgorithm,
  resolveUploadChecksum,
  type UploadChecksum,
} from "../store/core/checksum.ts";
import { S3Error } from "./s3-error.ts";
import type { S3Headers } from "./s3-request.ts";

const checksumTypes: readonly ChecksumType[] = ["composite", "full object"];

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
  const algorithm = s3Algorithms.find((each) => trailer.includes(checksumPrefix + each));
  return { md5, checksum: algorithm === undefined ? null : { algorithm, hex: null } };
}

/** The checksum in the headers of a request: of its body, or of the object of an upload. */
export function parseChecksumHeader(
  headers: S3Headers,
): ExpectedChecksum<S3ChecksumAlgorithm> | undefined {
  const [given, ...others] = checksumsInHeaders(headers);
  if (others.length > 0) {
    throw new S3Error(
      "InvalidRequest",
      "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.",
    );
  }
  if (given === undefined) return undefined;
  const { algorithm, hex } = given;
  if (hex !== null) return { algorithm, hex };
  throw new S3Error("InvalidRequest", `Value for ${checksumPrefix}${algorithm} header is invalid.`);
}

/** The value of a trailer, in hexadecimal. */
export function parseTrailer(
  algorithm: S3ChecksumAlgorithm,
  trailer: ReadonlyMap<string, string>,
): string {
  const hex = parseChecksumValue(algorithm, trailer.get(checksumPrefix + algorithm) ?? "");
  if (hex === null) throw new S3Error("MalformedTrailerError");
  return hex;
}

/** The checksums of an element of a request. */
export function parseChecksumElements(element: XmlElement): Checksums | undefined {
  const given = checksumsInElement(element);
  if (given.some(({ hex }) => hex === null)) throw new S3Error("MalformedXML");
  return given.length === 0
    ? undefined
    : Object.fromEntries(given.map(({ algorithm, hex }) => [algorithm, hex]));
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
