/**
 * The errors of the S3-compatible API: one table of codes, with the status and the text of each.
 *
 * Codes and texts are those of the deployed service. `docs/deviations.md` lists where they differ
 * from the codes that AWS documents.
 */

const errors = {
  AccessDenied: [403, "Access Denied"],
  BadDigest: [400, "The Content-MD5 you specified did not match what we received."],
  BucketAlreadyOwnedByYou: [409, "The bucket you tried to create already exists, and you own it."],
  BucketNotEmpty: [409, "The bucket you tried to delete is not empty."],
  EntityTooLarge: [400, "Your proposed upload exceeds the maximum allowed object size."],
  EntityTooSmall: [400, "Your proposed upload is smaller than the minimum allowed object size."],
  ExpiredRequest: [403, "Request has expired"],
  IncompleteBody: [
    400,
    "You did not provide the number of bytes specified by the Content-Length HTTP header.",
  ],
  InternalError: [500, "We encountered an internal error. Please try again."],
  InvalidArgument: [400, "Invalid Argument"],
  InvalidBucketName: [400, "The specified bucket name is not valid."],
  InvalidDigest: [400, "The Content-MD5 you specified is not valid."],
  InvalidObjectName: [400, "The specified object name is not valid."],
  InvalidPart: [
    400,
    "One or more of the specified parts could not be found. The part may not have been uploaded, " +
      "or the specified entity tag may not match the part's entity tag.",
  ],
  InvalidPartNumber: [416, "The requested partnumber is not satisfiable"],
  InvalidPartOrder: [
    400,
    "The list of parts was not in ascending order. Parts must be ordered by part number.",
  ],
  InvalidRange: [416, "The requested range is not satisfiable"],
  InvalidRequest: [400, "Invalid Request"],
  InvalidURI: [400, "Couldn't parse the specified URI."],
  KeyTooLongError: [400, "Your key is too long"],
  MalformedXML: [
    400,
    "The XML you provided was not well formed or did not validate against our published schema.",
  ],
  MetadataTooLarge: [400, "Your metadata headers exceed the maximum allowed metadata size."],
  MethodNotAllowed: [405, "The specified method is not allowed against this resource."],
  MissingContentLength: [411, "You must provide the Content-Length HTTP header."],
  NoSuchBucket: [404, "The specified bucket does not exist."],
  NoSuchCORSConfiguration: [404, "The CORS configuration does not exist."],
  NoSuchKey: [404, "The specified key does not exist."],
  NoSuchLifecycleConfiguration: [404, "The lifecycle configuration does not exist."],
  NoSuchUpload: [404, "The specified multipart upload does not exist."],
  NotImplemented: [
    501,
    "A header or query you provided requested a function that is not implemented.",
  ],
  PreconditionFailed: [412, "At least one of the pre-conditions you specified did not hold."],
  RequestTimeTooSkewed: [
    403,
    "The difference between the request time and the server's time is too large.",
  ],
  SignatureDoesNotMatch: [
    403,
    "The request signature we calculated does not match the signature you provided. Check your " +
      "secret access key and signing method.",
  ],
  SlowDown: [503, "Reduce your request rate."],
  Unauthorized: [401, "Unauthorized"],
} as const satisfies Record<string, readonly [status: number, text: string]>;

export type S3ErrorCode = keyof typeof errors;

export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly code: S3ErrorCode;
  /** Elements of the error document after `Message`. */
  readonly details: Readonly<Record<string, string>>;

  constructor(
    code: S3ErrorCode,
    text: string = errors[code][1],
    details: Readonly<Record<string, string>> = {},
  ) {
    super(text);
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return errors[this.code][0];
  }
}
