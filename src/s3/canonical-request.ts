/** What a signature of AWS, version 4, covers: the same text for the client that signs and the server. */
import type { SignedRequest } from "./signed-request.ts";
import { canonicalPath, canonicalQuery, parseQuery } from "./uri-encoding.ts";

export const algorithm = "AWS4-HMAC-SHA256";
/** The hash of a body that the signature does not cover. */
export const unsignedPayload = "UNSIGNED-PAYLOAD";

/** What a signing key is derived for. */
export interface Scope {
  /** `yyyymmdd` */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

/** How a request is signed. */
export interface SignedParts {
  /** In lower case, in the order of the request. */
  readonly signedHeaders: readonly string[];
  /** What the client has signed as the hash of the body, or a word for another way. */
  readonly payload: string;
  readonly isPresigned: boolean;
}

export function canonicalRequest(
  { method, path, query, headers }: SignedRequest,
  { signedHeaders, payload, isPresigned }: SignedParts,
): string {
  const parameters = parseQuery(query);
  return [
    method,
    canonicalPath(path),
    canonicalQuery(
      isPresigned ? parameters.filter(([name]) => name !== "X-Amz-Signature") : parameters,
    ),
    ...signedHeaders.map((name) => `${name}:${(headers.get(name) ?? "").replace(/ +/g, " ")}`),
    "",
    signedHeaders.join(";"),
    payload,
  ].join("\n");
}

export function scopeText({ date, region, service }: Scope): string {
  return `${date}/${region}/${service}/aws4_request`;
}

/** `yyyymmddThhmmssZ` */
export function signingDate(now: number): string {
  return new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, "");
}

/** The text whose signature a request has. */
export function stringToSign(
  scope: Scope,
  request: { readonly dateText: string; readonly canonicalHash: string },
): string {
  return [algorithm, request.dateText, scopeText(scope), request.canonicalHash].join("\n");
}
