/** Signs requests to an S3 service: AWS's signature, version 4, by WebCrypto. */
import { encodeHex } from "../../base/hex.ts";
import {
  algorithm,
  canonicalRequest,
  scopeText,
  signingDate,
  stringToSign,
  unsignedPayload,
  type Scope,
} from "../../s3/canonical-request.ts";
import type { RemoteCredentials } from "./remote-options.ts";

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

interface DerivedKey {
  readonly date: string;
  readonly key: CryptoKey;
}

const encoder = new TextEncoder();

export class RequestSigner {
  readonly #credentials: RemoteCredentials;
  readonly #region: string;
  /** A key holds for a day. */
  #derived: DerivedKey | null = null;

  constructor(credentials: RemoteCredentials, region: string) {
    this.#credentials = credentials;
    this.#region = region;
  }

  /**
   * @param now milliseconds since the epoch
   * @returns all headers to send, with names in lower case, without the host
   */
  async sign(request: UnsignedRequest, now: number): Promise<Record<string, string>> {
    const { accessKeyId, sessionToken } = this.#credentials;
    const dateText = signingDate(now);
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
    const scope = { date: dateText.slice(0, 8), region: this.#region, service: "s3" };
    const [key, canonicalHash] = await Promise.all([this.#keyOf(scope), sha256(canonical)]);
    const signature = encodeHex(await hmac(key, stringToSign(scope, { dateText, canonicalHash })));
    headers["authorization"] =
      `${algorithm} Credential=${accessKeyId}/${scopeText(scope)}, ` +
      `SignedHeaders=${signedHeaders.join(";")}, Signature=${signature}`;
    return headers;
  }

  /** Keeps the key, not its promise: in workerd, a promise of another request may never settle. */
  async #keyOf(scope: Scope): Promise<CryptoKey> {
    if (this.#derived?.date === scope.date) return this.#derived.key;
    const key = await deriveKey(this.#credentials.secretAccessKey, scope);
    this.#derived = { date: scope.date, key };
    return key;
  }
}

async function deriveKey(
  secretAccessKey: string,
  { date, region, service }: Scope,
): Promise<CryptoKey> {
  let key = await importKey(new Uint8Array(encoder.encode(`AWS4${secretAccessKey}`)));
  for (const text of [date, region, service, "aws4_request"]) {
    key = await importKey(await hmac(key, text));
  }
  return key;
}

function importKey(octets: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", octets, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

async function hmac(key: CryptoKey, text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text)));
}

async function sha256(text: string): Promise<string> {
  return encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text))));
}
