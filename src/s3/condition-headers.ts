/** The conditions of a request: `If-Match` and its relatives, of an object or of the source of a copy. */
import {
  conditionHolds,
  parseEtagHeader,
  type Conditional,
  type EtagPattern,
} from "../store/core/conditional.ts";
import { S3Error } from "./s3-error.ts";
import type { S3Headers } from "./s3-request.ts";

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

function etags(
  headers: S3Headers,
  prefix: string,
  name: "if-match" | "if-none-match",
): EtagPattern[] | undefined {
  const text = headers.get(prefix + name);
  if (text === null) return undefined;
  // Clients leave out the quotes.
  if (/^[^"*,\s]+$/.test(text)) return [{ kind: "strong", value: text }];
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
