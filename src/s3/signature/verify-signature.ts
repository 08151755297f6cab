/**
 * Verifies AWS's signature, version 4, of a request.
 *
 * A signature covers the method, the path, the query, the headers that the client lists, and what
 * the client says about the body. The body itself is verified while it arrives (`body/`).
 */
import { createHmac, createSecretKey, hash, timingSafeEqual, type KeyObject } from "node:crypto";
import { S3Error } from "../s3-error.ts";
import {
  canonicalRequest,
  scopeText,
  stringToSign,
  type Scope,
  type SignedRequest,
  type S3Credentials,
} from "../../http/signature.ts";
import type { Authorization } from "./authorization.ts";

/** What signs the chunks of a body: the key of the request, and the signature before the first. */
export interface SigningContext {
  readonly key: KeyObject;
  readonly dateText: string;
  readonly scopeText: string;
  readonly signature: string;
}

/** Derives the signing key of a scope. A server keeps the last one, because it holds for a day. */
export type DeriveKey = (secretAccessKey: string, scope: Scope) => KeyObject;

/** @throws S3Error for a request that has another signature */
export function verifySignature(
  request: SignedRequest,
  authorization: Authorization,
  credentials: S3Credentials,
  deriveKey: DeriveKey = signingKey,
): SigningContext {
  const { accessKeyId, dateText, scope } = authorization;
  if (!isSameText(credentials.accessKeyId, accessKeyId)) throw new S3Error("Unauthorized");
  validateSignedHeaders(request, authorization);
  const canonical = canonicalRequest(request, authorization);
  const text = stringToSign(scope, { dateText, canonicalHash: sha256(canonical) });
  const key = deriveKey(credentials.secretAccessKey, scope);
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
  return { key, dateText, scopeText: scopeText(scope), signature };
}

/**
 * A header that the client has not signed could have been added on the way. The headers of AWS
 * change what a request means, so each of them must be signed.
 */
function validateSignedHeaders({ headers }: SignedRequest, { signedHeaders }: Authorization): void {
  const unsigned = Array.from(headers.keys()).filter(
    (name) => name.startsWith("x-amz-") && !signedHeaders.includes(name),
  );
  if (unsigned.length === 0) return;
  throw new S3Error(
    "AccessDenied",
    "There were headers present in the request which were not signed",
    { HeadersNotSigned: unsigned.join(", ") },
  );
}

/** An object, because Node takes longer to make an object of a key than to sign a request. */
export function signingKey(secretAccessKey: string, { date, region, service }: Scope): KeyObject {
  const key = [date, region, service, "aws4_request"].reduce<Buffer>(
    (last, text) => createHmac("sha256", last).update(text).digest(),
    Buffer.from(`AWS4${secretAccessKey}`),
  );
  return createSecretKey(key);
}

export function sign(key: KeyObject, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}

export function sha256(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}

/** In a time that does not depend on where the texts differ. */
export function isSameText(expected: string, actual: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(actual)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The octets in hexadecimal, separated by spaces: they show white space that a text hides. */
function octetsOf(text: string): string {
  return Buffer.from(text)
    .toString("hex")
    .replace(/..(?=.)/g, "$& ");
}
