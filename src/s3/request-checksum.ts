/**
 * The checksums that a request announces. Each is verified, or the request is refused: a client that
 * sends a checksum takes the object for verified.
 *
 *     x-amz-checksum-ALGORITHM       of the body; in a completion, of the object
 *     x-amz-trailer                  the name of such a field, which follows the body
 *     x-amz-sdk-checksum-algorithm   which algorithm one of the two has
 *     x-amz-checksum-algorithm, x-amz-checksum-type   of the object of an upload
 *     ChecksumALGORITHM              an element of a part, in the document of a completion
 */
import {
  checksumPrefix,
  checksumsInElement,
  checksumsInHeaders,
  s3Algorithms,
} from "../http/headers.ts";
import type { XmlElement } from "../http/xml.ts";
import {
  checksumTypeName,
  resolveUploadChecksum,
  type Checksums,
  type ChecksumType,
  type ExpectedChecksum,
  type S3ChecksumAlgorithm,
  type UploadChecksum,
} from "../store/core/checksum.ts";
import { S3Error } from "./s3-errors.ts";

type S3Headers = ReadonlyMap<string, string>;

/** Of Amazon's service; neither the deployed service nor Ledge has them. */
const missingAlgorithms = new Set(["md5", "sha512", "xxhash64", "xxhash3", "xxhash128"]);
/** Headers with the prefix of checksums that are not checksums. */
const otherNames = new Set(["algorithm", "type", "mode"]);
const checksumTypes: readonly ChecksumType[] = ["composite", "full object"];

/**
 * The checksum in the headers of a request: of its body, or of the object of an upload.
 *
 * @throws S3Error for a checksum that is not valid, for another algorithm, and for more than one
 */
export function parseChecksumHeader(
  headers: S3Headers,
): ExpectedChecksum<S3ChecksumAlgorithm> | undefined {
  for (const header of headers.keys()) {
    if (!header.startsWith(checksumPrefix)) continue;
    const name = header.slice(checksumPrefix.length);
    if (!otherNames.has(name)) {
      algorithmOf(name, "The algorithm type you specified in x-amz-checksum- header is invalid.");
    }
  }
  const [given, ...others] = checksumsInHeaders(headers);
  if (others.length > 0) throw severalChecksums();
  if (given === undefined) return undefined;
  const { algorithm, hex } = given;
  if (hex !== null) return { algorithm, hex };
  throw new S3Error("InvalidRequest", `Value for ${checksumPrefix}${algorithm} header is invalid.`);
}

/**
 * The checksum of the body. `hex` is `null` when the checksum is the trailer of the body.
 *
 * @throws S3Error for headers that are not valid, and for more than one checksum
 */
export function parseBodyChecksum(
  headers: S3Headers,
): { readonly algorithm: S3ChecksumAlgorithm; readonly hex: string | null } | undefined {
  const inHeader = parseChecksumHeader(headers);
  const field = (headers.get("x-amz-trailer") ?? "").trim().toLowerCase();
  if (field === "") return inHeader;
  if (inHeader !== undefined) throw severalChecksums();
  const notSupported = "The value specified in the x-amz-trailer header is not supported";
  if (!field.startsWith(checksumPrefix)) throw new S3Error("InvalidRequest", notSupported);
  return { algorithm: algorithmOf(field.slice(checksumPrefix.length), notSupported), hex: null };
}

/**
 * Called before a body is read. A presigned URL of an SDK has the name as a parameter, and no checksum
 * of the body: only headers count.
 *
 * @param given the algorithm of the checksum of the body
 * @throws S3Error for a request that names an algorithm, and has no checksum or another one
 */
export function requireNamedChecksum(
  headers: S3Headers,
  given: S3ChecksumAlgorithm | undefined,
): void {
  const header = "x-amz-sdk-checksum-algorithm";
  const name = headers.get(header);
  if (name === undefined || parseAlgorithm(name) === given) return;
  throw new S3Error(
    "InvalidRequest",
    given === undefined
      ? `${header} specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.`
      : `Value for ${header} header is invalid.`,
  );
}

/**
 * The kind of checksum that an upload is created with.
 *
 * @throws S3Error, or StoreError for a type that the algorithm does not have
 */
export function parseUploadChecksum(headers: S3Headers): UploadChecksum {
  const name = headers.get("x-amz-checksum-algorithm");
  const checksumAlgorithm = name === undefined ? undefined : parseAlgorithm(name);
  return resolveUploadChecksum({ checksumAlgorithm, checksumType: parseChecksumType(headers) });
}

export function parseChecksumType(headers: S3Headers): ChecksumType | undefined {
  const name = headers.get("x-amz-checksum-type");
  const type = checksumTypes.find((each) => checksumTypeName(each) === name);
  if (name === undefined || type !== undefined) return type;
  throw new S3Error("InvalidRequest", "Value for x-amz-checksum-type header is invalid.");
}

/** @param element a part that a completion names */
export function parsePartChecksums(element: XmlElement): Checksums | undefined {
  for (const { name } of element.children) {
    const algorithm = /^Checksum(.+)$/.exec(name)?.[1];
    if (algorithm !== undefined) parseAlgorithm(algorithm);
  }
  const given = checksumsInElement(element);
  if (given.length === 0) return undefined;
  if (given.some(({ hex }) => hex === null)) throw new S3Error("MalformedXML");
  return Object.fromEntries(given.map(({ algorithm, hex }) => [algorithm, hex]));
}

function parseAlgorithm(name: string): S3ChecksumAlgorithm {
  const names = s3Algorithms.map((each) => each.toUpperCase()).join(", ");
  return algorithmOf(
    name,
    `Checksum algorithm provided is unsupported. Please try again with any of the valid types: [${names}]`,
  );
}

/** @param unknownText for a name that no algorithm of Amazon's service has */
function algorithmOf(name: string, unknownText: string): S3ChecksumAlgorithm {
  const lower = name.toLowerCase();
  const algorithm = s3Algorithms.find((each) => each === lower);
  if (algorithm !== undefined) return algorithm;
  if (!missingAlgorithms.has(lower)) throw new S3Error("InvalidRequest", unknownText);
  throw new S3Error(
    "NotImplemented",
    `The checksum algorithm ${name.toUpperCase()} is not implemented.`,
  );
}

function severalChecksums(): S3Error {
  return new S3Error(
    "InvalidRequest",
    "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.",
  );
}
