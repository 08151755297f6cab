/**
 * Which version of an object and which bytes of it a request is about: `If-Match` and its relatives,
 * `If-Range`, `Range`, the number of a part, the source of a copy.
 */
import type { ByteRange, RangeRequest } from "../store/core/byte-range.ts";
import {
  conditionHolds,
  parseEtagHeader,
  type Conditional,
  type EtagPattern,
} from "../store/core/conditional.ts";
import { partNumberMax } from "../store/core/limits.ts";
import { S3Error } from "./s3-errors.ts";

/** Headers, or the parameters of a query. */
interface Values {
  get(name: string): string | undefined;
}

const conditionNames = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];
/** An entity tag as clients write it that leave out the quotes. */
const bareEtag = /^[^"*,\s]+$/;

/**
 * @param prefix of the names: empty, or that of the conditions of a copy
 * @returns `undefined` without conditions
 * @throws S3Error InvalidArgument for an entity tag that is not valid
 */
export function parseConditions(headers: Values, prefix = ""): Conditional | undefined {
  if (conditionNames.every((name) => headers.get(prefix + name) === undefined)) return undefined;
  const unmodifiedSince = parseTime(headers.get(`${prefix}if-unmodified-since`));
  const conditions = {
    etagMatches: parseEtags("if-match", headers.get(`${prefix}if-match`)),
    etagDoesNotMatch: parseEtags("if-none-match", headers.get(`${prefix}if-none-match`)),
    uploadedAfter: parseTime(headers.get(`${prefix}if-modified-since`)),
    // Unmodified since a second holds for an object of that second, and `uploadedBefore` does not.
    uploadedBefore: unmodifiedSince === undefined ? undefined : unmodifiedSince + 1000,
  };
  const isEmpty = Object.values(conditions).every((condition) => condition === undefined);
  return isEmpty ? undefined : { ...conditions, secondsGranularity: true };
}

/**
 * The status of a read whose conditions do not hold: 412 when the client wanted one version, 304
 * when the client has this version (RFC 7232 section 6).
 */
export function failedStatus(
  conditions: Conditional,
  object: { readonly etag: string; readonly uploaded: number },
): 304 | 412 {
  const { etagDoesNotMatch: _tags, uploadedAfter: _time, ...wanted } = conditions;
  return conditionHolds(wanted, object) ? 304 : 412;
}

/**
 * The condition of `If-Range`, under which the range of a request counts (RFC 9110 section 13.1.5): an
 * entity tag that matches strongly, or the exact time of the last change.
 *
 * @returns `undefined` without the header. A header that is neither never holds: a whole object is
 *   never wrong
 */
export function parseIfRange(headers: Values): Conditional | undefined {
  const text = headers.get("if-range");
  if (text === undefined) return undefined;
  if (bareEtag.test(text)) return { etagMatches: [{ kind: "strong", value: text }] };
  const [, weak, value] = /^(W\/)?"([^"]*)"$/.exec(text) ?? [];
  if (value !== undefined) {
    return { etagMatches: [{ kind: weak === undefined ? "strong" : "weak", value }] };
  }
  const time = parseTime(text);
  if (time === undefined) return { etagMatches: [] };
  return { uploadedAfter: time - 1000, uploadedBefore: time + 1000, secondsGranularity: true };
}

function parseEtags(
  name: "if-match" | "if-none-match",
  text: string | undefined,
): EtagPattern[] | undefined {
  if (text === undefined) return undefined;
  if (bareEtag.test(text)) return [{ kind: "strong", value: text }];
  try {
    return parseEtagHeader(name, text);
  } catch (error) {
    throw new S3Error("InvalidArgument", (error as Error).message);
  }
}

/** A date that is not valid is ignored (RFC 7232 sections 3.3 and 3.4). */
function parseTime(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? undefined : time;
}

/**
 * The deployed service refuses what RFC 9110 lets a server ignore.
 *
 * @throws S3Error for a header that names no range, or several
 */
export function parseRange(header: string): RangeRequest {
  const match = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/.exec(header.trim());
  if (match === null) {
    throw new S3Error(
      "InvalidArgument",
      // The quote at the end is the deployed service's.
      "range must be in format 'bytes=start-end', 'bytes=start-' or 'bytes=-suffix'.'",
    );
  }
  const [, first, last, suffix] = match;
  if (suffix !== undefined) return { suffix: safe(suffix) };
  if (last === "") return { offset: safe(first as string) };
  return rangeBetween(first as string, last as string, "range");
}

/** The range of the source of a part: both ends, and nothing else. */
export function parseCopyRange(header: string): ByteRange {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(header) ?? [];
  if (first === undefined || last === undefined) {
    throw new S3Error("InvalidArgument", `Invalid x-amz-copy-source-range: ${header}`);
  }
  return rangeBetween(first, last, "x-amz-copy-source-range");
}

function rangeBetween(first: string, last: string, name: string): ByteRange {
  const offset = safe(first);
  const length = safe(last) - offset + 1;
  if (length < 1) throw new S3Error("InvalidArgument", `${name} must be positive.`);
  return { offset, length };
}

export function contentRange({ offset, length }: ByteRange, size: number): string {
  return `bytes ${offset}-${offset + length - 1}/${size}`;
}

/** No object is as large as the largest safe integer. */
function safe(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}

/** @throws S3Error for a number that no part can have */
export function parsePartNumber(parameters: Values): number {
  const text = parameters.get("partNumber")?.trim() ?? "";
  const number = text === "" ? NaN : Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= partNumberMax) return number;
  throw new S3Error(
    "InvalidArgument",
    `Part number must be an integer between 1 and ${partNumberMax}, inclusive.`,
  );
}

/** Objects have one version, whose id is `null` (as in a bucket of AWS without versions). */
export function requireOnlyVersion(versionId: string | null | undefined): void {
  if ((versionId ?? "null") !== "null") throw new S3Error("NoSuchVersion");
}

/**
 * The object that a request copies: `x-amz-copy-source: /bucket/key?versionId=null`.
 *
 * @throws S3Error InvalidArgument, NoSuchVersion
 */
export function parseCopySource(header: string): { bucketName: string; key: string } {
  const [, path, version] = /^\/?(.*?)(?:\?versionId=([^?]*))?$/s.exec(header) as unknown as [
    string,
    string,
    string?,
  ];
  const source = decodeURIComponent(path);
  const separator = source.indexOf("/");
  if (separator < 1 || separator === source.length - 1) {
    throw new S3Error("InvalidArgument", "copy source bucket name");
  }
  requireOnlyVersion(version && decodeURIComponent(version));
  return { bucketName: source.slice(0, separator), key: source.slice(separator + 1) };
}
