/** The conditions of a request: `If-Match` and its relatives, of an object or of the source of a copy. */
import {
  conditionHolds,
  parseEtagHeader,
  type Conditional,
  type EtagPattern,
} from "../store/core/conditional.ts";
import { S3Error } from "./s3-error.ts";
import type { S3Headers } from "./s3-request.ts";

/** An entity tag as clients write it that leave out the quotes. */
const bareEtag = /^[^"*,\s]+$/;

/**
 * @param prefix of the names: empty, or that of the conditions of a copy
 * @returns `undefined` without conditions
 * @throws S3Error InvalidArgument for an entity tag that is not valid
 */
export function parseConditions(headers: S3Headers, prefix = ""): Conditional | undefined {
  const etagMatches = etags(headers, prefix, "if-match");
  const etagDoesNotMatch = etags(headers, prefix, "if-none-match");
  const uploadedAfter = date(headers.get(`${prefix}if-modified-since`));
  const unmodifiedSince = date(headers.get(`${prefix}if-unmodified-since`));
  const isEmpty = [etagMatches, etagDoesNotMatch, uploadedAfter, unmodifiedSince].every(
    (condition) => condition === undefined,
  );
  if (isEmpty) return undefined;
  return {
    ...(etagMatches !== undefined && { etagMatches }),
    ...(etagDoesNotMatch !== undefined && { etagDoesNotMatch }),
    ...(uploadedAfter !== undefined && { uploadedAfter }),
    // Unmodified since a second holds for an object of that second, and `uploadedBefore` does not.
    ...(unmodifiedSince !== undefined && { uploadedBefore: unmodifiedSince + 1000 }),
    secondsGranularity: true,
  };
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
export function parseIfRange(headers: S3Headers): Conditional | undefined {
  const text = headers.get("if-range");
  if (text === null) return undefined;
  if (bareEtag.test(text)) return { etagMatches: [{ kind: "strong", value: text }] };
  const [, weak, value] = /^(W\/)?"([^"]*)"$/.exec(text) ?? [];
  if (value !== undefined) {
    return { etagMatches: [{ kind: weak === undefined ? "strong" : "weak", value }] };
  }
  const time = date(text);
  if (time === undefined) return { etagMatches: [] };
  return { uploadedAfter: time - 1000, uploadedBefore: time + 1000, secondsGranularity: true };
}

function etags(
  headers: S3Headers,
  prefix: string,
  name: "if-match" | "if-none-match",
): EtagPattern[] | undefined {
  const text = headers.get(prefix + name);
  if (text === null) return undefined;
  if (bareEtag.test(text)) return [{ kind: "strong", value: text }];
  try {
    return parseEtagHeader(name, text);
  } catch (error) {
    throw new S3Error("InvalidArgument", (error as Error).message);
  }
}

/** A date that is not valid is ignored (RFC 7232 sections 3.3 and 3.4). */
function date(text: string | null): number | undefined {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? undefined : time;
}
