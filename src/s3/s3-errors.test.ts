/** The codes and statuses that the deployed service documents; `s3-errors.ts` says where a status differs. */
import { expect, it } from "vitest";
import { StoreError, type StoreErrorCode } from "../store/core/errors.ts";
import { S3Error } from "./s3-errors.ts";
import { errorResponse } from "./s3-message.ts";

it.each<
  [documented: number, error: StoreErrorCode | S3Error["code"], code: string, status: number]
>([
  [10001, 10001, "InternalError", 500],
  [10002, "Unauthorized", "Unauthorized", 401],
  [10003, "AccessDenied", "AccessDenied", 403],
  [10005, 10005, "InvalidBucketName", 400],
  [10006, 10006, "NoSuchBucket", 404],
  [10006, "NoSuchBucket", "NoSuchBucket", 404],
  [10007, "NoSuchKey", "NoSuchKey", 404],
  [10008, 10008, "BucketNotEmpty", 409],
  [10011, 10011, "EntityTooSmall", 400],
  [10012, 10012, "MetadataTooLarge", 400],
  [10013, "IncompleteBody", "IncompleteBody", 400],
  [10014, "InvalidDigest", "InvalidDigest", 400],
  [10018, "ExpiredRequest", "ExpiredRequest", 403],
  [10020, 10020, "InvalidObjectName", 400],
  [10024, 10024, "NoSuchUpload", 404],
  [10025, 10025, "InvalidPart", 400],
  [10031, 10031, "PreconditionFailed", 412],
  [10031, "PreconditionFailed", "PreconditionFailed", 412],
  [10033, "MissingContentLength", "MissingContentLength", 411],
  [10035, "SignatureDoesNotMatch", "SignatureDoesNotMatch", 403],
  [10037, 10037, "BadDigest", 400],
  [10039, 10039, "InvalidRange", 416],
  [10048, 10048, "InvalidPart", 400],
  [10058, 10058, "TooManyRequests", 429],
  [100100, 100100, "EntityTooLarge", 400],
  // Not raised here: 10009 (the number of buckets), 10042 (the subscription), 10043 (the service), 10054 (the
  // client is gone), 10069 (bucket locks), and 10073 (BucketConflict, see `CreateBucket`).
])("error %i of the deployed service: %s is %s with status %i", (_, error, code, status) => {
  const thrown = typeof error === "number" ? new StoreError(error) : new S3Error(error);
  const response = errorResponse(thrown);
  expect(response.status).toBe(status);
  expect(response.body).toContain(`<Code>${code}</Code>`);
});
