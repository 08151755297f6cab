/**
 * Storage errors: one class, one table.
 *
 * Deviation: 10058, too many requests for one object, is raised by faults only.
 *
 * The bucket decides on a code; the table has the status, the name and the text of each code. The
 * binding rejects with a plain `Error` whose message is `<method>: <text> (<code>)`; an HTTP
 * interface answers with the status and the name.
 */

/** The name of the error on the S3-compatible interface, the status of HTTP, and the text. */
const errorRows = {
  10001: ["InternalError", 500, "We encountered an internal error. Please try again."],
  10005: ["InvalidBucketName", 400, "The specified bucket name is not valid."],
  10006: ["NoSuchBucket", 404, "The specified bucket does not exist."],
  10008: ["BucketNotEmpty", 409, "The bucket you tried to delete is not empty."],
  10011: [
    "EntityTooSmall",
    400,
    "Your proposed upload is smaller than the minimum allowed object size.",
  ],
  10012: [
    "MetadataTooLarge",
    400,
    "Your metadata headers exceed the maximum allowed metadata size.",
  ],
  10020: ["InvalidObjectName", 400, "The specified object name is not valid."],
  10022: ["InvalidMaxKeys", 400, "MaxKeys params must be positive integer <= 1000."],
  10024: ["NoSuchUpload", 404, "The specified multipart upload does not exist."],
  10025: ["InvalidPart", 400, "One or more of the specified parts could not be found."],
  10027: [
    "TooManyKeys",
    400,
    "The number of keys in the request must be between 1 and 1000 inclusive.",
  ],
  10031: [
    "PreconditionFailed",
    412,
    "At least one of the pre-conditions you specified did not hold.",
  ],
  10037: ["BadDigest", 400, "The checksum you specified did not match what we received."],
  10039: ["InvalidRange", 416, "The requested range is not satisfiable"],
  10048: ["BadUpload", 400, "There was a problem with the multipart upload."],
  10058: ["TooManyRequests", 429, "Reduce your concurrent request rate for the same object."],
  100100: ["EntityTooLarge", 400, "Your proposed upload exceeds the maximum allowed object size."],
  // The numbers below are ours: the S3-compatible interface shows no numbers, and those of the
  // deployed service are not on record.
  200001: ["InvalidPartNumber", 416, "The requested partnumber is not satisfiable"],
  200002: ["InvalidRequest", 400, "The request is not valid."],
  200003: ["OperationAborted", 409, "The bucket cannot be changed by this request."],
  200004: [
    "InvalidRequest",
    400,
    "The provided encryption parameters did not match the ones used originally.",
  ],
} as const satisfies Record<number, readonly [name: string, status: number, text: string]>;

export type StoreErrorCode = keyof typeof errorRows;

export const storeErrorTable = Object.fromEntries(
  Object.entries(errorRows).map(([code, [name, status, text]]) => [code, { name, status, text }]),
) as Record<
  StoreErrorCode,
  { readonly name: string; readonly status: number; readonly text: string }
>;

/**
 * What a script can tell apart of an error of a bucket on an S3 service: properties of the thrown error
 * (`StoreServiceError` of `types/store.ts` describes each).
 */
export interface ServiceFailure {
  readonly outcome: "not executed" | "unknown";
  readonly reason: FailureReason;
  readonly status?: number;
  readonly serviceCode?: string;
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
}

export type FailureReason =
  | "throttled"
  | "denied"
  | "unreachable"
  | "timeout"
  | "unavailable"
  | "conflict"
  | "space"
  | "unsupported"
  | "refused";

/** The fields of an error, without others. */
export function failureOf(error: ServiceFailure): ServiceFailure {
  const { outcome, reason, status, serviceCode, requestId, retryAfterSeconds } = error;
  return {
    outcome,
    reason,
    ...(status !== undefined && { status }),
    ...(serviceCode !== undefined && { serviceCode }),
    ...(requestId !== undefined && { requestId }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** A broken rule of the store. The error crosses RPC as `{ code, text }`, not as an exception. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  /** Whether the device has no space for the write. For the binding this is an internal error. */
  readonly lacksSpace: boolean;
  /** Only of a bucket on an S3 service. */
  readonly failure: ServiceFailure | undefined;
  /** Only of 10039: the size of the object that has no byte of the range. */
  readonly objectSize: number | undefined;
  /** What exactly is wrong, where only the bucket knows it. The binding gives it as the cause. */
  readonly reason: string | undefined;

  /** @param text replaces the text of the table where a more precise text is known */
  constructor(
    code: StoreErrorCode,
    text: string = storeErrorTable[code].text,
    {
      lacksSpace = false,
      failure,
      objectSize,
      reason,
    }: {
      readonly lacksSpace?: boolean;
      readonly failure?: ServiceFailure | undefined;
      readonly objectSize?: number | undefined;
      readonly reason?: string | undefined;
    } = {},
  ) {
    super(text);
    this.name = "StoreError";
    this.code = code;
    this.lacksSpace = lacksSpace;
    this.failure = failure;
    this.objectSize = objectSize;
    this.reason = reason;
  }

  get status(): number {
    return storeErrorTable[this.code].status;
  }

  get s3Name(): string {
    return storeErrorTable[this.code].name;
  }
}

/** The message of the `Error` that the binding rejects with. */
export function bindingMessage(
  method: Method,
  error: { code: StoreErrorCode; text: string },
): string {
  return `${callNames[method] ?? method}: ${error.text} (${error.code})`;
}

/** The operations that scripts can call, and the names that the binding's callers know them by. */
const scriptMethods = {
  head: "head",
  get: "get",
  put: "put",
  delete: "delete",
  list: "list",
  createUpload: "createMultipartUpload",
  uploadPart: "uploadPart",
  completeUpload: "completeMultipartUpload",
  abortUpload: "abortMultipartUpload",
  listUploads: "listMultipartUploads",
  listParts: "listParts",
} as const;

export type CallMethod = (typeof scriptMethods)[keyof typeof scriptMethods];

export type Method =
  | keyof typeof scriptMethods
  | "getSettings"
  | "putSettings"
  | "createBucket"
  | "deleteBucket"
  | "stats"
  | "checkDisk";

/** An operation that scripts cannot call has no name. */
export const callNames: { readonly [M in Method]?: CallMethod } = scriptMethods;

export const callMethods: ReadonlySet<string> = new Set(Object.values(scriptMethods));

/** The format of a bucket's database (`bucket/schema.ts`). */
export const formatVersion = 1;

/** What to say of a database that another version has written. */
export function otherFormatText(bucketName: string, version: number): string {
  return (
    `Cannot open bucket "${bucketName}": its database has format ${version}, and this version of ` +
    `Ledge has format ${formatVersion}. Export the bucket with the version of Ledge that wrote the ` +
    'database ("ledge store export"), and import the objects into another state folder.'
  );
}
