/** `GET` and `HEAD` of the content of an object: the whole content, a range, or "not modified". */
import {
  failedStatus,
  parseConditions,
  parseIfRange,
  parseRange,
} from "../../s3/object-headers.ts";
import { S3Error } from "../../s3/s3-errors.ts";
import type { RangeRequest } from "../../store/core/byte-range.ts";
import { conditionHolds, type Conditional } from "../../store/core/conditional.ts";
import { requireSameKey } from "../../store/core/metadata.ts";
import { StoreError } from "../../store/core/errors.ts";
import { decodeObject } from "../../store/core/object.ts";
import type { Bucket, FoundObject } from "../../store/node/bucket.ts";
import { objectMissing, requireBucket, requireKey } from "./bucket-access.ts";
import { CallError, type ExplorerResponse } from "./call.ts";
import { type ExplorerCall } from "./context.ts";
import { contentHeaders, fileNameOf, isForbiddenDestination } from "./content-headers.ts";
import { OpenedContent } from "./opened-content.ts";

export async function readContent(call: ExplorerCall): Promise<ExplorerResponse> {
  if (isForbiddenDestination(call.headers["sec-fetch-dest"])) {
    throw new CallError(403, "The content of an object cannot be a script or a style of a page.");
  }
  const bucket = await requireBucket(call);
  const key = requireKey(call);
  const headers = headersOf(call);
  const conditions = readConditions(headers);
  const range = readRange(headers);
  let opened;
  try {
    opened = await openContent(bucket, { key, range, conditions, headers });
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 10039)) throw error;
    return unsatisfiable(bucket, key);
  }
  if (opened === null) throw objectMissing(bucket.name, key);
  const { object } = opened;
  const response = {
    object,
    fileName: call.query.has("download") ? fileNameOf(key, "object") : null,
    acceptEncoding: headers.get("accept-encoding") ?? "",
  };
  if (opened.status === "condition failed") {
    if (failedStatus(conditions ?? {}, object) === 412) {
      throw new CallError(412, "The object was replaced meanwhile. Load the object again.", 10031);
    }
    return { status: 304, headers: contentHeaders({ ...response, range: null }) };
  }
  const isPartial = opened.isPartial && opened.range.length > 0;
  return {
    status: isPartial ? 206 : 200,
    headers: contentHeaders({ ...response, range: isPartial ? opened.range : null }),
    body: new OpenedContent(opened),
  };
}

interface RequestHeaders {
  get(name: string): string | undefined;
}

interface ContentRequest {
  readonly key: string;
  readonly range: RangeRequest | null;
  readonly conditions: Conditional | undefined;
  readonly headers: RequestHeaders;
}

type Opened =
  | (FoundObject & { readonly isPartial: boolean })
  | { readonly status: "condition failed"; readonly object: FoundObject["object"] };

/** @throws StoreError 200004 for an object with a key of a customer; then nothing stays open */
async function openContent(
  bucket: Bucket,
  { key, range, conditions, headers }: ContentRequest,
): Promise<Opened | null> {
  // The bucket decides by `If-Range`, so the range is that of the version which the browser has.
  const ifRange = range === null ? undefined : parseIfRange(headers);
  const onlyIf = ifRange ?? conditions;
  const opened = await bucket.get({ key, range: range ?? undefined, onlyIf });
  if (opened === null) return null;
  if (opened.status === "condition failed") {
    return ifRange === undefined
      ? opened
      : openContent(bucket, { key, range: null, conditions, headers });
  }
  try {
    requireSameKey(opened.object, undefined);
  } catch (error) {
    new OpenedContent(opened).close();
    throw error;
  }
  if (
    ifRange !== undefined &&
    conditions !== undefined &&
    !conditionHolds(conditions, opened.object)
  ) {
    new OpenedContent(opened).close();
    return { status: "condition failed", object: opened.object };
  }
  return { ...opened, isPartial: range !== null };
}

/** 416, with the size, so that the browser can ask again. */
async function unsatisfiable(bucket: Bucket, key: string): Promise<ExplorerResponse> {
  const found = await bucket.call({ method: "head", key });
  if (found === null) throw objectMissing(bucket.name, key);
  const { size } = decodeObject(key, found);
  return {
    status: 416,
    headers: { "content-range": `bytes */${size}`, "content-type": "application/json" },
    body: JSON.stringify({
      message: `The range is outside of the object, which has ${size} bytes.`,
      code: 10039,
    }),
  };
}

/** A header that names no range, or several, is ignored (RFC 9110 section 14.2). */
function readRange(headers: RequestHeaders): RangeRequest | null {
  const text = headers.get("range");
  if (text === undefined) return null;
  try {
    return parseRange(text);
  } catch (error) {
    if (error instanceof S3Error) return null;
    throw error;
  }
}

function readConditions(headers: RequestHeaders): Conditional | undefined {
  try {
    return parseConditions(headers);
  } catch (error) {
    if (error instanceof S3Error) throw new CallError(400, error.message);
    throw error;
  }
}

function headersOf({ headers }: ExplorerCall): RequestHeaders {
  return { get: (name) => headers[name]?.toString() };
}
