/** The responses of GET and HEAD: an object, one range of it, or one part of it. */
import type { DescribedObject } from "../store/core/operations.ts";
import { allChecksums } from "../store/core/object.ts";
import { partNumberMax } from "../store/core/limits.ts";
import { checksumHeaders } from "../http/headers.ts";
import { customerKeyHeaders } from "./customer-key-headers.ts";
import { objectHeaders, overriddenHeaders } from "./metadata-headers.ts";
import { contentRange } from "./range-header.ts";
import type { FoundObject } from "./s3-bucket.ts";
import { S3Error } from "./s3-error.ts";
import type { S3Parameters, S3Request, S3Response } from "./s3-request.ts";

/** An object, and the part of it that a response is about. */
export interface ShownObject extends Pick<FoundObject, "object" | "range" | "partsCount"> {
  /** Whether the request is about a range or a part, which can be all of the object. */
  readonly isPartial: boolean;
}

/** The status and the headers, without the body. */
export function objectResponse(
  { headers, parameters }: Pick<S3Request, "headers" | "parameters">,
  { object, range, partsCount, isPartial }: ShownObject,
): S3Response {
  // Of an empty object there is no range.
  const hasRange = isPartial && range.length > 0;
  // Clients verify the body of the response with these checksums, which are those of the object.
  const isWhole = range.length === object.size;
  const showsChecksums = headers.get("x-amz-checksum-mode")?.toUpperCase() === "ENABLED" && isWhole;
  return {
    status: hasRange ? 206 : 200,
    headers: {
      ...objectHeaders(object),
      ...overriddenHeaders(parameters),
      ...customerKeyHeaders(object),
      ...(showsChecksums && checksumHeaders(allChecksums(object))),
      ...(hasRange && { "content-range": contentRange(range, object.size) }),
      ...(partsCount !== undefined && { "x-amz-mp-parts-count": String(partsCount) }),
      "content-length": String(range.length),
    },
  };
}

export function notModified(object: DescribedObject): S3Response {
  const { "content-type": _type, ...headers } = objectHeaders(object);
  return { status: 304, headers };
}

/** @throws S3Error for a number that no part can have, and for a number beside a range */
export function parsePartNumber({
  headers,
  parameters,
}: Pick<S3Request, "headers" | "parameters">): number | undefined {
  if (!parameters.has("partNumber")) return undefined;
  if (headers.get("range") !== null) {
    throw new S3Error(
      "InvalidRequest",
      "Cannot specify both Range header and partNumber query parameter",
    );
  }
  return requirePartNumber(parameters);
}

export function requirePartNumber(parameters: S3Parameters): number {
  const text = parameters.get("partNumber")?.trim() ?? "";
  const number = text === "" ? NaN : Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= partNumberMax) return number;
  throw new S3Error(
    "InvalidArgument",
    `Part number must be an integer between 1 and ${partNumberMax}, inclusive.`,
  );
}
