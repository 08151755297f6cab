/** Presigned URLs: a request that anyone with the URL may send until the URL expires. */
import {
  algorithm,
  canonicalRequest,
  signingDate,
  scopeText,
  stringToSign,
  unsignedPayload as payload,
} from "../canonical-request.ts";
import { canonicalQuery, encodeComponent } from "../uri-encoding.ts";
import { expiresSecondsMax } from "./authorization.ts";
import { sha256, sign, signingKey, type Credentials } from "./verify-signature.ts";

export interface PresignOptions {
  /** Of the server: `http://localhost:8789` */
  readonly endpoint: string;
  readonly credentials: Credentials;
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  readonly bucketName: string;
  readonly key: string;
  /** From 1 to seven days */
  readonly expiresSeconds: number;
  /** Milliseconds since the epoch */
  readonly now: number;
}

const region = "auto";

export function presign(options: PresignOptions): string {
  const { endpoint, credentials, method, bucketName, key, expiresSeconds, now } = options;
  if (expiresSeconds < 1 || expiresSeconds > expiresSecondsMax) {
    throw new RangeError(`A presigned URL is valid for 1 to ${expiresSecondsMax} seconds.`);
  }
  const { host, origin } = new URL(endpoint);
  const dateText = signingDate(now);
  const scope = { date: dateText.slice(0, 8), region, service: "s3" };
  const path = `/${[bucketName, ...key.split("/")].map(encodeComponent).join("/")}`;
  const query = canonicalQuery([
    ["X-Amz-Algorithm", algorithm],
    ["X-Amz-Content-Sha256", payload],
    ["X-Amz-Credential", `${credentials.accessKeyId}/${scopeText(scope)}`],
    ["X-Amz-Date", dateText],
    ["X-Amz-Expires", String(expiresSeconds)],
    ["X-Amz-SignedHeaders", "host"],
  ]);
  const canonical = canonicalRequest(
    { method, path, query, headers: new Map([["host", host]]) },
    { signedHeaders: ["host"], payload, isPresigned: true },
  );
  const text = stringToSign(scope, { dateText, canonicalHash: sha256(canonical) });
  const signature = sign(signingKey(credentials.secretAccessKey, scope), text);
  return `${origin}${path}?${query}&X-Amz-Signature=${signature}`;
}
