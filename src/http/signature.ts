/**
 * AWS's signature, version 4: what a signature covers, and how a client signs a request or a URL. The
 * server verifies with the same canonical text (`s3/authorization.ts`).
 *
 * WebCrypto signs, because remote buckets run in workerd as well.
 */
import { encodeHex } from "../base/hex.ts";
import { canonicalPath, canonicalQuery, encodeComponent, parseQuery } from "./uri.ts";

export const signingAlgorithm = "AWS4-HMAC-SHA256";
/** The hash of a body that the signature does not cover. */
export const unsignedPayload = "UNSIGNED-PAYLOAD";
/** The deployed service's limit of a presigned URL: seven days. */
export const expiresSecondsMax = 7 * 24 * 60 * 60;

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The parts of an HTTP request that a signature covers, as the client sends them. */
export interface SignedRequest {
  readonly method: string;
  /** Neither decoded nor normalised: `..`, `//` and `%2F` belong to keys. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** By their names in lower case. The values of a name that occurs twice are joined with a comma. */
  readonly headers: ReadonlyMap<string, string>;
}

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
  const isSigned = ([name]: readonly [string, string]): boolean =>
    !isPresigned || name !== "X-Amz-Signature";
  return [
    method,
    canonicalPath(path),
    query === "" ? "" : canonicalQuery(parseQuery(query).filter(isSigned)),
    ...signedHeaders.map((name) => `${name}:${(headers.get(name) ?? "").replace(/ +/g, " ")}`),
    "",
    signedHeaders.join(";"),
    payload,
  ].join("\n");
}

interface UnsignedRequest {
  readonly method: string;
  /** The host that the transport sends: with the port, unless the port is that of the scheme. */
  readonly host: string;
  /** As the service has the path in what it verifies. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** All headers that are sent: Ceph refuses a `Content-Type` without a signature. */
  readonly headers: Readonly<Record<string, string>>;
}

export class RequestSigner {
  readonly #credentials: S3Credentials & { readonly sessionToken?: string };
  readonly #region: string;
  /** A key holds for a day. */
  #derived: { readonly scope: string; readonly key: CryptoKey } | null = null;

  constructor(credentials: S3Credentials & { readonly sessionToken?: string }, region: string) {
    this.#credentials = credentials;
    this.#region = region;
  }

  /**
   * @param now milliseconds since the epoch
   * @returns all headers to send, with names in lower case, without the host
   */
  async sign(request: UnsignedRequest, now: number): Promise<Record<string, string>> {
    const { accessKeyId, sessionToken } = this.#credentials;
    const { dateText, scope } = signingTime(now, this.#region);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.headers)) {
      headers[name.toLowerCase()] = value.trim();
    }
    headers["x-amz-content-sha256"] = unsignedPayload;
    headers["x-amz-date"] = dateText;
    if (sessionToken !== undefined) headers["x-amz-security-token"] = sessionToken;
    const signed = new Map([...Object.entries(headers), ["host", request.host] as const]);
    const signedHeaders = Array.from(signed.keys()).toSorted();
    const canonical = canonicalRequest(
      { ...request, headers: signed },
      { signedHeaders, payload: unsignedPayload, isPresigned: false },
    );
    const signature = await signCanonical(canonical, dateText, scope, await this.#keyOf(scope));
    headers["authorization"] =
      `${signingAlgorithm} Credential=${accessKeyId}/${scope}, ` +
      `SignedHeaders=${signedHeaders.join(";")}, Signature=${signature}`;
    return headers;
  }

  /** Keeps the key, not its promise: in workerd, a promise of another request may never settle. */
  async #keyOf(scope: string): Promise<CryptoKey> {
    if (this.#derived?.scope === scope) return this.#derived.key;
    const key = await deriveKey(this.#credentials.secretAccessKey, scope);
    this.#derived = { scope, key };
    return key;
  }
}

interface PresignOptions {
  /** Of the server: `http://localhost:8789` */
  readonly endpoint: string;
  readonly credentials: S3Credentials;
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  readonly bucketName: string;
  readonly key: string;
  /** From 1 to seven days */
  readonly expiresSeconds: number;
  /** Milliseconds since the epoch */
  readonly now: number;
}

/** A URL of a request that anyone with the URL may send until the URL expires. */
export async function presign(options: PresignOptions): Promise<string> {
  const { endpoint, credentials, method, bucketName, key, expiresSeconds, now } = options;
  if (expiresSeconds < 1 || expiresSeconds > expiresSecondsMax) {
    throw new RangeError(`A presigned URL is valid for 1 to ${expiresSecondsMax} seconds.`);
  }
  const { host, origin } = new URL(endpoint);
  const { dateText, scope } = signingTime(now, "auto");
  const path = `/${[bucketName, ...key.split("/")].map(encodeComponent).join("/")}`;
  const query = canonicalQuery([
    ["X-Amz-Algorithm", signingAlgorithm],
    ["X-Amz-Content-Sha256", unsignedPayload],
    ["X-Amz-Credential", `${credentials.accessKeyId}/${scope}`],
    ["X-Amz-Date", dateText],
    ["X-Amz-Expires", String(expiresSeconds)],
    ["X-Amz-SignedHeaders", "host"],
  ]);
  const canonical = canonicalRequest(
    { method, path, query, headers: new Map([["host", host]]) },
    { signedHeaders: ["host"], payload: unsignedPayload, isPresigned: true },
  );
  const signingKey = await deriveKey(credentials.secretAccessKey, scope);
  const signature = await signCanonical(canonical, dateText, scope, signingKey);
  return `${origin}${path}?${query}&X-Amz-Signature=${signature}`;
}

/** `dateText`: `yyyymmddThhmmssZ`. `scope`: what a signing key is derived for. */
function signingTime(now: number, region: string): { dateText: string; scope: string } {
  const dateText = new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, "");
  return { dateText, scope: `${dateText.slice(0, 8)}/${region}/s3/aws4_request` };
}

async function signCanonical(
  canonical: string,
  dateText: string,
  scope: string,
  key: CryptoKey,
): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", encoder.encode(canonical));
  const hash = encodeHex(new Uint8Array(digest));
  return encodeHex(await hmac(key, [signingAlgorithm, dateText, scope, hash].join("\n")));
}

async function deriveKey(secretAccessKey: string, scope: string): Promise<CryptoKey> {
  let key = await importKey(new Uint8Array(encoder.encode(`AWS4${secretAccessKey}`)));
  for (const word of scope.split("/")) key = await importKey(await hmac(key, word));
  return key;
}

function importKey(octets: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", octets, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

const encoder = new TextEncoder();

async function hmac(key: CryptoKey, text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text)));
}
