/**
 * The errors of the S3-compatible API: one table of codes, with the status and the text of each.
 *
 * Codes and texts are those of the deployed service. The errors of the store, which the binding has
 * too, are in a table of their own (`store/core/errors.ts`).
 */
const errors = {
  AccessDenied: [403, "Access Denied"],
  AccessForbidden: [403, "CORSResponse: This CORS request is not allowed."],
  // The deployed service's table said 400 until its documentation was corrected in July 2026.
  /**
   * Deviation: the deployed service documents 400. AWS answers 403, and so did the deployed service when
   * the texts of this table were recorded from it.
   */
  ExpiredRequest: [403, "Request has expired"],
  ExpiredToken: [400, "The provided token has expired."],
  IncompleteBody: [
    400,
    "You did not provide the number of bytes specified by the Content-Length HTTP header.",
  ],
  /**
   * Deviation: the deployed service, whose space is not limited, has no such code. The status is that
   * of RFC 4918 section 11.5. Clients repeat a request after 500 and 503, and give up at once after
   * 507: a device does not get space by itself.
   */
  InsufficientStorage: [507, "No space left on the device."],
  InternalError: [500, "We encountered an internal error. Please try again."],
  InvalidArgument: [400, "Invalid Argument"],
  InvalidDigest: [400, "The checksum or Content-MD5 you specified is not valid."],
  InvalidEncryptionAlgorithmError: [
    400,
    "The encryption request that you specified is not valid. The valid value is AES256.",
  ],
  InvalidMaxKeys: [400, "MaxKeys params must be positive integer <= 1000."],
  InvalidPart: [400, "One or more of the specified parts could not be found."],
  InvalidRegionName: [400, "The region name is not valid."],
  InvalidRequest: [400, "Invalid Request"],
  InvalidStorageClass: [400, "The storage class specified is not valid."],
  InvalidURI: [400, "Couldn't parse the specified URI."],
  MalformedTrailerError: [
    400,
    "The request contained trailing data that was not well-formed or did not conform to our " +
      "published schema.",
  ],
  MalformedXML: [
    400,
    "The XML you provided was not well formed or did not validate against our published schema.",
  ],
  MaxMessageLengthExceeded: [400, "Your request was too big."],
  MissingContentLength: [411, "You must provide the Content-Length HTTP header."],
  NoSuchBucket: [404, "The specified bucket does not exist."],
  NoSuchCORSConfiguration: [404, "The CORS configuration does not exist"],
  NoSuchKey: [404, "The specified key does not exist."],
  NoSuchLifecycleConfiguration: [404, "The lifecycle configuration does not exist"],
  NoSuchTagSet: [404, "The TagSet does not exist."],
  NoSuchVersion: [404, "The specified version does not exist."],
  NotImplemented: [
    501,
    "A header or query you provided requested a function that is not implemented.",
  ],
  ObjectLockConfigurationNotFoundError: [
    404,
    "Object Lock configuration does not exist for this bucket.",
  ],
  PreconditionFailed: [412, "At least one of the pre-conditions you specified did not hold."],
  ReplicationConfigurationNotFoundError: [404, "The replication configuration was not found."],
  RequestTimeTooSkewed: [
    403,
    "The difference between the request time and the server's time is too large.",
  ],
  RouteNotFound: [404, "No route matches this url."],
  SignatureDoesNotMatch: [
    403,
    "The request signature we calculated does not match the signature you provided. Check your " +
      "secret access key and signing method.",
  ],
  Unauthorized: [401, "Unauthorized"],
  XAmzContentSHA256Mismatch: [
    400,
    "The provided 'x-amz-content-sha256' header does not match what was computed.",
  ],
} as const satisfies Record<string, readonly [status: number, text: string]>;

export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly code: keyof typeof errors;
  /** Elements of the error document after `Message`. */
  readonly details: Readonly<Record<string, string>>;

  constructor(
    code: keyof typeof errors,
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
