/**
 * Verifies the signature of a form: a field of the form signs the text of the field `policy`.
 *
 *     version 4   x-amz-algorithm, x-amz-credential, x-amz-date, x-amz-signature
 *     version 2   AWSAccessKeyId, signature: HMAC-SHA1 in base64
 *
 * Requests in headers and URLs have version 4 only, as on the deployed service, which has no forms.
 * Forms of version 2 are in many tutorials and libraries, and AWS accepts them.
 */
import { createHmac } from "node:crypto";
import { requireField, type FormFields } from "../form-fields.ts";
import { S3Error } from "../s3-error.ts";
import { signingAlgorithm, type S3Credentials } from "../../http/signature.ts";
import { parseCredential, parseDate } from "./authorization.ts";
import { isSameText, sign, signingKey, type DeriveKey } from "./verify-signature.ts";

/** @throws S3Error for a form without a signature, or with another one */
export function verifyPolicySignature(
  fields: FormFields,
  credentials: S3Credentials,
  deriveKey: DeriveKey = signingKey,
): void {
  const isSigned = ["policy", "signature", "x-amz-signature"].some((name) => fields.has(name));
  // A bucket with `public = true` is public for reads: any page can send a form without a signature.
  if (!isSigned) throw new S3Error("AccessDenied");
  const policy = requireField(fields, "policy");
  const expected = fields.has("x-amz-signature")
    ? signatureOfVersion4(fields, policy, credentials, deriveKey)
    : signatureOfVersion2(fields, policy, credentials);
  const actual = requireField(fields, expected.field);
  if (!isSameText(expected.signature, actual)) throw new S3Error("SignatureDoesNotMatch");
}

interface ExpectedSignature {
  readonly field: string;
  readonly signature: string;
}

function signatureOfVersion4(
  fields: FormFields,
  policy: string,
  { accessKeyId, secretAccessKey }: S3Credentials,
  deriveKey: DeriveKey,
): ExpectedSignature {
  if (requireField(fields, "x-amz-algorithm") !== signingAlgorithm) {
    throw new S3Error("InvalidRequest", `Please use ${signingAlgorithm}`);
  }
  const dateText = requireField(fields, "x-amz-date");
  parseDate(dateText, "x-amz-date");
  const credential = parseCredential(requireField(fields, "x-amz-credential"), dateText);
  requireKeyId(accessKeyId, credential.accessKeyId);
  const signature = sign(deriveKey(secretAccessKey, credential.scope), policy);
  return { field: "x-amz-signature", signature };
}

function signatureOfVersion2(
  fields: FormFields,
  policy: string,
  { accessKeyId, secretAccessKey }: S3Credentials,
): ExpectedSignature {
  requireKeyId(accessKeyId, requireField(fields, "AWSAccessKeyId"));
  const signature = createHmac("sha1", secretAccessKey).update(policy).digest("base64");
  return { field: "signature", signature };
}

function requireKeyId(expected: string, actual: string): void {
  if (!isSameText(expected, actual)) throw new S3Error("InvalidAccessKeyId");
}
