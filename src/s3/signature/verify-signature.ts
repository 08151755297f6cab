/**
 * Verifies AWS's signature, version 4, of a request.
 *
 * A signature covers the method, the path, the query, the headers that the client lists, and what
 * the client says about the body. The body itself is verified while it arrives (`body/`).
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { S3Error } from "../s3-error.ts";
import { algorithm, type Authorization, type Scope } from "./authorization.ts";
import { headerOf, type SignedRequest } from "./signed-request.ts";
import { canonicalPath, canonicalQuery, parseQuery } from "./uri-encoding.ts";

/** The deployed service's limit. */
const skewMillisecondsMax = 15 * 60 * 1000;

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** What signs the chunks of a body: the key of the request, and the signature before the first. */
export interface SigningContext {
  readonly key: Buffer;
  readonly dateText: string;
  readonly scopeText: string;
  readonly signature: string;
}

/** @throws S3Error for a request that is not valid now, or that has another signature */
export function verifySignature(
  request: SignedRequest,
  authorization: Authorization,
  credentials: Credentials,
  now: number,
): SigningContext {
  const { accessKeyId, dateText, scope } = authorization;
  validateTime(authorization, now);
  if (accessKeyId !== credentials.accessKeyId) throw new S3Error("Unauthorized");
  validateSignedHeaders(request, authorization);
  const scopeText = `${scope.date}/${scope.region}/${scope.service}/aws4_request`;
  const canonical = canonicalRequest(request, authorization);
  const text = [algorithm, dateText, scopeText, sha256(canonical)].join("\n");
  const key = signingKey(credentials.secretAccessKey, scope);
  const signature = sign(key, text);
  if (!isSameSignature(signature, authorization.signature)) {
    throw new S3Error("SignatureDoesNotMatch", undefined, {
      StringToSign: text,
      CanonicalRequest: canonical,
      SignatureProvided: authorization.signature,
    });
  }
  return { key, dateText, scopeText, signature };
}

function validateTime({ time, expiresSeconds }: Authorization, now: number): void {
  if (time - now > skewMillisecondsMax) throw new S3Error("RequestTimeTooSkewed");
  if (expiresSeconds === undefined) {
    if (now - time > skewMillisecondsMax) throw new S3Error("RequestTimeTooSkewed");
  } else if (now > time + expiresSeconds * 1000) {
    throw new S3Error("ExpiredRequest");
  }
}

/**
 * A header that the client has not signed could have been added on the way. The headers of AWS
 * change what a request means, so each of them must be signed.
 */
function validateSignedHeaders({ headers }: SignedRequest, { signedHeaders }: Authorization): void {
  const unsigned = headers
    .map(([name]) => name.toLowerCase())
    .filter((name) => name.startsWith("x-amz-") && !signedHeaders.includes(name));
  if (unsigned.length === 0) return;
  throw new S3Error(
    "AccessDenied",
    "There were headers present in the request which were not signed",
    {
      HeadersNotSigned: unsigned.join(", "),
    },
  );
}

export function canonicalRequest(
  request: SignedRequest,
  { signedHeaders, payload, expiresSeconds }: Authorization,
): string {
  const parameters = parseQuery(request.query);
  const isPresigned = expiresSeconds !== undefined;
  return [
    request.method,
    canonicalPath(request.path),
    canonicalQuery(
      isPresigned ? parameters.filter(([name]) => name !== "X-Amz-Signature") : parameters,
    ),
    ...signedHeaders.map((name) => `${name}:${headerOf(request, name) ?? ""}`),
    "",
    signedHeaders.join(";"),
    payload,
  ].join("\n");
}

export function signingKey(secretAccessKey: string, { date, region, service }: Scope): Buffer {
  return [date, region, service, "aws4_request"].reduce<Buffer>(
    (key, text) => createHmac("sha256", key).update(text).digest(),
    Buffer.from(`AWS4${secretAccessKey}`),
  );
}

export function sign(key: Buffer, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}

export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** In a time that does not depend on where the texts differ. */
export function isSameSignature(expected: string, actual: string): boolean {
  const bytes = Buffer.from(actual);
  return bytes.length === expected.length && timingSafeEqual(Buffer.from(expected), bytes);
}
