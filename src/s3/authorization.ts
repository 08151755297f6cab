/**
 * The signer of a request: AWS's signature, version 4, in the `Authorization` header or in the query
 * of a presigned URL. The order of the checks and the texts are those of the deployed service.
 *
 * A signature covers the method, the path, the query, the headers that the client lists, and what
 * the client says about the body. The body itself is verified while it arrives (`request-body.ts`).
 */
import { createHmac, createSecretKey, hash, type KeyObject } from "node:crypto";
import { isSameText } from "../base/node-http.ts";
import {
  canonicalRequest,
  expiresSecondsMax,
  signingAlgorithm,
  unsignedPayload,
  type S3Credentials,
  type SignedParts,
  type SignedRequest,
} from "../http/signature.ts";
import { parseQuery } from "../http/uri.ts";
import { S3Error } from "./s3-errors.ts";
import type { Permissions } from "./permissions.ts";
import { readSessionToken } from "./session-token.ts";

/** The deployed service's limit for the clock of a client. */
const skewMillisecondsMax = 15 * 60 * 1000;
/**
 * `us-east-1` and the empty region stand for `auto`. The others are hints of locations, which
 * clients have in their configuration.
 */
const regions = ["auto", "us-east-1", "", "wnam", "enam", "weur", "eeur", "apac", "oc"];

const tokenHeader = "x-amz-security-token";

export interface Authorization extends SignedParts {
  readonly accessKeyId: string;
  /** What the signing key is derived for: `yyyymmdd/region/s3/aws4_request` */
  readonly scope: string;
  /** `yyyymmddThhmmssZ`, as the client has signed it. */
  readonly dateText: string;
  readonly signature: string;
  /** Of temporary credentials. */
  readonly sessionToken: string | undefined;
}

/**
 * @param now milliseconds since the epoch
 * @returns `null` for an anonymous request
 * @throws S3Error for an authorization that is incomplete, not valid, or not valid now
 */
export function parseAuthorization(request: SignedRequest, now: number): Authorization | null {
  const header = request.headers.get("authorization");
  if (header !== undefined) return parseHeader(request, header, now);
  // Most requests have no such text, and then the query is not parsed.
  if (!request.query.includes("X-Amz-Credential")) return null;
  const parameters = new Map(parseQuery(request.query));
  return parameters.has("X-Amz-Credential") ? parseParameters(request, parameters, now) : null;
}

function parseHeader({ headers }: SignedRequest, header: string, now: number): Authorization {
  const payload = headers.get("x-amz-content-sha256");
  if (payload === undefined) throw new S3Error("InvalidRequest", "Missing x-amz-content-sha256");
  const dateHeader = headers.has("x-amz-date") ? "x-amz-date" : "date";
  const dateText = headers.get(dateHeader);
  if (dateText === undefined) {
    throw invalidArgument("No date provided in x-amz-date nor date header");
  }
  const time = parseDate(dateText, `'${dateHeader}' header`);
  if (Math.abs(now - time) > skewMillisecondsMax) throw new S3Error("RequestTimeTooSkewed");
  if (!header.startsWith(`${signingAlgorithm} `)) throw unsupportedAlgorithm();
  const text = header.slice(signingAlgorithm.length);
  // `Name=value, Name=value`
  const fields = new Map(
    Array.from(text.matchAll(/(?:^|,)\s*([^=,]+)=([^,]*)/g), ([, name, value]) => [
      name,
      (value as string).trim(),
    ]),
  );
  const credential = fields.get("Credential");
  const signedHeaders = fields.get("SignedHeaders");
  const signature = fields.get("Signature");
  if (credential === undefined || signedHeaders === undefined || signature === undefined) {
    throw unsupportedAlgorithm();
  }
  return {
    ...parseCredential(credential, dateText),
    dateText,
    signedHeaders: parseSignedHeaders(signedHeaders),
    signature,
    sessionToken: headers.get(tokenHeader),
    payload,
    isPresigned: false,
  };
}

const requiredParameters = [
  "X-Amz-Algorithm",
  "X-Amz-Signature",
  "X-Amz-Date",
  "X-Amz-SignedHeaders",
  "X-Amz-Expires",
];

function parseParameters(
  request: SignedRequest,
  parameters: ReadonlyMap<string, string>,
  now: number,
): Authorization {
  const missing = requiredParameters.filter((name) => !parameters.has(name));
  if (missing.length > 0) {
    // Two spaces: the text of the deployed service.
    const names = `${missing.length === 1 ? "" : "s"} ${missing.join(",  ")}`;
    throw invalidArgument(`Required search parameter${names} missing`);
  }
  const parameter = (name: string): string => parameters.get(name) as string;
  if (parameter("X-Amz-Algorithm") !== signingAlgorithm) throw unsupportedAlgorithm();
  const dateText = parameter("X-Amz-Date");
  const time = parseDate(dateText, "X-Amz-Date");
  const credential = parseCredential(parameter("X-Amz-Credential"), dateText);
  validateExpiry(parameter("X-Amz-Expires"), time, now);
  return {
    ...credential,
    dateText,
    signedHeaders: parseSignedHeaders(parameter("X-Amz-SignedHeaders")),
    signature: parameter("X-Amz-Signature"),
    sessionToken: parameters.get("X-Amz-Security-Token") ?? request.headers.get(tokenHeader),
    payload:
      parameters.get("X-Amz-Content-Sha256") ??
      request.headers.get("x-amz-content-sha256") ??
      unsignedPayload,
    isPresigned: true,
  };
}

function validateExpiry(text: string, time: number, now: number): void {
  const seconds = text.trim() === "" ? NaN : Number(text);
  if (Number.isNaN(seconds)) throw invalidArgument("X-Amz-Expires should be a number");
  if (seconds > expiresSecondsMax) {
    throw invalidArgument(
      "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires " +
        `must be less than ${expiresSecondsMax} seconds`,
    );
  }
  if (seconds < 1 || now > time + seconds * 1000) throw new S3Error("ExpiredRequest");
  if (time - now > skewMillisecondsMax) throw new S3Error("RequestTimeTooSkewed");
}

function unsupportedAlgorithm(): S3Error {
  return new S3Error("InvalidRequest", `Please use ${signingAlgorithm}`);
}

function invalidArgument(text: string): S3Error {
  return new S3Error("InvalidArgument", text);
}

/** `access-key-id/yyyymmdd/region/s3/aws4_request`. An access key can contain slashes. */
function parseCredential(
  credential: string,
  dateText: string,
): Pick<Authorization, "accessKeyId" | "scope"> {
  const words = credential.split("/");
  if (words.length < 5) {
    const text = "Credential sigv4 header should have at least 5 slash-separated parts, not ";
    throw invalidArgument(`${text}${words.length}`);
  }
  const [date, region, service, end] = words.slice(-4) as [string, string, string, string];
  if (service !== "s3") throw invalidArgument(`Credential service should be s3, not ${service}`);
  if (end !== "aws4_request") {
    throw invalidArgument(`Credential termination string should be aws4_request, not ${end}`);
  }
  const day = dateText.slice(0, 8);
  if (day !== date) {
    // The deployed service names the header for presigned URLs too.
    throw invalidArgument(
      `Credential signed date ${date} does not match ${day} from 'x-amz-date' header`,
    );
  }
  if (!regions.includes(region)) {
    const names = regions.slice(3).join(", ");
    throw new S3Error(
      "InvalidRegionName",
      `The region name '${region}' is not valid. Must be one of: ${names}, auto`,
    );
  }
  return { accessKeyId: words.slice(0, -4).join("/"), scope: words.slice(-4).join("/") };
}

function parseDate(text: string, source: string): number {
  const iso = text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z");
  const time = iso === text ? NaN : Date.parse(iso);
  if (!Number.isNaN(time)) return time;
  throw invalidArgument(`Date provided in ${source} (${text}) didn't parse successfully`);
}

function parseSignedHeaders(text: string): string[] {
  const names = text.toLowerCase().split(";");
  // Without the host, the request could be sent to another bucket.
  if (!names.includes("host")) throw new S3Error("Unauthorized");
  return names;
}

/** What signs the chunks of a body: the key of the request, and the signature before the first. */
export interface SigningContext {
  readonly key: KeyObject;
  readonly dateText: string;
  readonly scope: string;
  readonly signature: string;
}

/** The headers of AWS, and the extensions of the deployed service that decide about a write. */
const changesMeaning = /^(?:x-amz-|cf-create-bucket-|cf-copy-destination-)/;

/**
 * @param credentials of the server
 * @param now milliseconds since the epoch
 * @returns also what the holder of a session token may do; `null` for the credentials of the server
 */
export function verifySignature(
  request: SignedRequest,
  authorization: Authorization,
  credentials: S3Credentials,
  now: number,
): SigningContext & { readonly permissions: Permissions | null } {
  const { accessKeyId, dateText, scope, sessionToken } = authorization;
  if (!isSameText(credentials.accessKeyId, accessKeyId)) throw new S3Error("Unauthorized");
  // A header that the client has not signed could have been added on the way, or by the user of a
  // presigned URL. These headers change what a request means, so each of them must be signed.
  const unsigned = Array.from(request.headers.keys()).filter(
    (name) => changesMeaning.test(name) && !authorization.signedHeaders.includes(name),
  );
  if (unsigned.length > 0) {
    throw new S3Error(
      "AccessDenied",
      "There were headers present in the request which were not signed",
      { HeadersNotSigned: unsigned.join(", ") },
    );
  }
  const session =
    sessionToken === undefined ? null : readSessionToken(sessionToken, credentials, now);
  const canonical = canonicalRequest(request, authorization);
  const text = [signingAlgorithm, dateText, scope, sha256(canonical)].join("\n");
  const key = signingKey((session ?? credentials).secretAccessKey, scope);
  const signature = sign(key, text);
  if (!isSameText(signature, authorization.signature)) {
    throw new S3Error("SignatureDoesNotMatch", undefined, {
      StringToSign: text,
      StringToSignBytes: octetsOf(text),
      CanonicalRequest: canonical,
      CanonicalRequestBytes: octetsOf(canonical),
      SignatureProvided: authorization.signature,
    });
  }
  return { key, dateText, scope, signature, permissions: session?.permissions ?? null };
}

let lastKey: { readonly text: string; readonly key: KeyObject } | undefined;

/**
 * Keeps the last key, because it is the same for all requests of a day. The key is an object: Node
 * takes longer to make an object of a key than to sign a request.
 */
export function signingKey(secretAccessKey: string, scope: string): KeyObject {
  const text = `${scope}/${secretAccessKey}`;
  if (lastKey?.text === text) return lastKey.key;
  const octets = scope
    .split("/")
    .reduce<Buffer>(
      (last, word) => createHmac("sha256", last).update(word).digest(),
      Buffer.from(`AWS4${secretAccessKey}`),
    );
  lastKey = { text, key: createSecretKey(octets) };
  return lastKey.key;
}

export function sign(key: KeyObject, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}

export function sha256(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}

/** The octets in hexadecimal, separated by spaces: they show white space that a text hides. */
function octetsOf(text: string): string {
  return Buffer.from(text)
    .toString("hex")
    .replace(/..(?=.)/g, "$& ");
}
