/**
 * The errors of the S3-compatible API: one table of codes, with the status and the text of each.
 *
 * Codes and texts are those of the deployed service. The errors of the store, which the binding has
 * too, are in a table of their own (`store/core/errors.ts`).
 */
import { StoreError } from "../store/core/errors.ts";
import { readXml, writeXml, type XmlElement } from "../http/xml.ts";
import { xmlHeaders, type S3Response } from "./s3-request.ts";

const errors = {
  AccessDenied: [403, "Access Denied"],
  AccessForbidden: [403, "CORSResponse: This CORS request is not allowed."],
  ExpiredRequest: [403, "Request has expired"],
  IncorrectNumberOfFilesInPostRequest: [400, "POST requires exactly one file upload per request."],
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
  InvalidAccessKeyId: [403, "The AWS Access Key Id you provided does not exist in our records."],
  InvalidArgument: [400, "Invalid Argument"],
  InvalidDigest: [400, "The checksum or Content-MD5 you specified is not valid."],
  InvalidEncryptionAlgorithmError: [
    400,
    "The encryption request that you specified is not valid. The valid value is AES256.",
  ],
  InvalidMaxKeys: [400, "MaxKeys params must be positive integer <= 1000."],
  InvalidPart: [400, "One or more of the specified parts could not be found."],
  InvalidPolicyDocument: [400, "The content of the form does not meet the conditions specified."],
  InvalidRange: [416, "The requested range is not satisfiable"],
  InvalidRegionName: [400, "The region name is not valid."],
  InvalidRequest: [400, "Invalid Request"],
  InvalidStorageClass: [400, "The storage class specified is not valid."],
  InvalidURI: [400, "Couldn't parse the specified URI."],
  MalformedPOSTRequest: [
    400,
    "The body of your POST request is not well-formed multipart/form-data.",
  ],
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
  MaxPostPreDataLengthExceededError: [
    400,
    "Your POST request fields preceding the upload file were too large.",
  ],
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

/** What an error document says. */
interface ErrorContent {
  readonly code: string;
  readonly text: string;
  readonly details?: Readonly<Record<string, string>>;
}

/** Whether the client has caused the error. */
export function isExpected(error: unknown): boolean {
  return error instanceof S3Error || error instanceof StoreError || error instanceof URIError;
}

/**
 * The document of a request.
 *
 * @throws S3Error MalformedXML for another text or another root element
 */
export function parseRequestDocument(text: string, rootName: string): XmlElement {
  const root = readRoot(text);
  if (root?.name !== rootName) throw new S3Error("MalformedXML");
  return root;
}

function readRoot(text: string): XmlElement | null {
  try {
    return readXml(text);
  } catch {
    return null;
  }
}

/** The response to a request that failed. */
export function errorResponse(error: unknown): S3Response {
  // A path, a query or a source of a copy is not UTF-8 in percent-encoding.
  if (error instanceof URIError) return errorResponse(new S3Error("InvalidURI"));
  if (error instanceof S3Error) {
    const { status, code, message: text, details } = error;
    return errorDocument(status, { code, text, details });
  }
  if (error instanceof StoreError) {
    // The deployed service answers with this code for every problem with the parts of an upload.
    const code = error.code === 10048 ? "InvalidPart" : error.s3Name;
    const text = error.message;
    return error.lacksSpace
      ? errorResponse(new S3Error("InsufficientStorage", text))
      : errorDocument(error.status, { code, text });
  }
  const text = error instanceof Error ? error.message : errors.InternalError[1];
  return errorDocument(500, { code: "InternalError", text });
}

function errorDocument(status: number, { code, text, details }: ErrorContent): S3Response {
  const content = { Code: code, Message: text, ...details };
  return { status, headers: xmlHeaders, body: writeXml("Error", content, { hasNamespace: false }) };
}
