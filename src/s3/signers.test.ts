/** Signers of npm, written by others, and the signer of remote buckets sign requests that are verified here. */
import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import aws4 from "aws4";
import { AwsV4Signer } from "aws4fetch";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RequestSigner, type SignedRequest } from "../http/signature.ts";
import { encodeComponent } from "../http/uri.ts";
import { parseAuthorization, verifySignature } from "./authorization.ts";

const credentials = { accessKeyId: "key/with/slashes", secretAccessKey: "secret+/=" };
const host = "localhost:8789";
const now = Date.parse("2026-02-03T04:05:06Z");
const dateText = "20260203T040506Z";

interface Plain {
  readonly method: string;
  readonly segments: readonly string[];
  readonly parameters: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isPresigned: boolean;
}

type Signer = (request: Plain) => Promise<SignedRequest>;

const pathOf = ({ segments }: Plain): string => `/${segments.map(encodeComponent).join("/")}`;
const queryOf = ({ parameters }: Plain): string =>
  parameters.map((pair) => pair.map(encodeComponent).join("=")).join("&");

function signedRequest(
  method: string,
  target: string,
  headers: Iterable<[string, string]>,
): SignedRequest {
  const [path = "", query = ""] = target.split("?");
  const named = Array.from(headers, ([name, value]): [string, string] => [
    name.toLowerCase(),
    value.trim(),
  ]);
  return { method, path, query, headers: new Map([...named, ["host", host]]) };
}

const ownSigner = new RequestSigner(credentials, "auto");

const signers: Record<string, Signer> = {
  // Signs headers only.
  RequestSigner: async (plain) => {
    const [path, query] = [pathOf(plain), queryOf(plain)];
    const { method, headers } = plain;
    const signed = await ownSigner.sign({ method, host, path, query, headers }, now);
    return signedRequest(method, `${path}?${query}`, Object.entries(signed));
  },
  aws4fetch: async (plain) => {
    const query = queryOf(plain);
    const signer = new AwsV4Signer({
      ...credentials,
      service: "s3",
      region: "auto",
      method: plain.method,
      url: `http://${host}${pathOf(plain)}${query === "" ? "" : `?${query}`}`,
      headers: plain.headers,
      ...(plain.isPresigned ? { signQuery: true } : { body: plain.body }),
      datetime: dateText,
      allHeaders: true,
    });
    const { method, url, headers } = await signer.sign();
    return signedRequest(method, url.href.slice(`http://${host}`.length), headers);
  },
  aws4: async (plain) => {
    const date = plain.isPresigned ? [["X-Amz-Date", dateText] as const] : [];
    const query = queryOf({ ...plain, parameters: [...plain.parameters, ...date] });
    const signed = aws4.sign(
      {
        service: "s3",
        region: "auto",
        method: plain.method,
        host,
        path: `${pathOf(plain)}${query === "" ? "" : `?${query}`}`,
        headers: plain.isPresigned
          ? { ...plain.headers }
          : { ...plain.headers, "X-Amz-Date": dateText },
        body: plain.body,
        signQuery: plain.isPresigned,
      },
      credentials,
    );
    const headers = Object.entries(signed.headers as Record<string, unknown>);
    return signedRequest(
      plain.method,
      signed.path as string,
      headers.map(([name, value]) => [name, String(value)]),
    );
  },
  "@smithy/signature-v4": async (plain) => {
    const signer = new SignatureV4({
      credentials,
      region: "auto",
      service: "s3",
      uriEscapePath: false,
      applyChecksum: true,
      sha256: Sha256,
    });
    const request = {
      method: plain.method,
      protocol: "http:",
      hostname: "localhost",
      port: 8789,
      path: pathOf(plain),
      query: Object.fromEntries(plain.parameters),
      // As the presigner of the AWS SDK has it.
      headers: {
        host,
        ...plain.headers,
        ...(plain.isPresigned && { "x-amz-content-sha256": "UNSIGNED-PAYLOAD" }),
      },
      body: plain.body,
    };
    const options = { signingDate: new Date(now) };
    const signed = plain.isPresigned
      ? await signer.presign(request, { ...options, expiresIn: 60 })
      : await signer.sign(request, options);
    const parameters = Object.entries(signed.query as Record<string, string>);
    const query = parameters.map((pair) => pair.map(encodeComponent).join("=")).join("&");
    return signedRequest(plain.method, `${signed.path}?${query}`, Object.entries(signed.headers));
  },
};

type SourceData = string | ArrayBuffer | ArrayBufferView;

function bytesOf(data: SourceData): Uint8Array {
  if (typeof data === "string") return Buffer.from(data);
  return data instanceof ArrayBuffer
    ? new Uint8Array(data)
    : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** The interface of hashes that the signer expects. */
class Sha256 {
  readonly #hash;

  constructor(secret?: SourceData) {
    this.#hash =
      secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(secret));
  }

  update(data: SourceData): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

function isAccepted(request: SignedRequest): boolean {
  try {
    const authorization = parseAuthorization(request, now);
    if (authorization === null) return false;
    verifySignature(request, authorization, credentials, now);
    return true;
  } catch {
    return false;
  }
}

/** Signers differ about dots, which a URL removes, and about names that occur twice. */
const segment = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 8 })
  .filter((text) => text.isWellFormed() && !/^\.+$/.test(text) && !text.includes("/"));
const name = fc.stringMatching(/^[a-z]{1,8}$/);
const value = fc.stringMatching(/^[!-~](?:[ -~]{0,8}[!-~])?$/);
const request: fc.Arbitrary<Plain> = fc.record({
  method: fc.constantFrom("GET", "PUT", "DELETE", "HEAD"),
  segments: fc.array(segment, { minLength: 1, maxLength: 3 }),
  parameters: fc.uniqueArray(fc.tuple(name, value), { maxLength: 3, selector: ([key]) => key }),
  headers: fc.dictionary(
    name.map((text) => `x-amz-meta-${text}`),
    value,
    { maxKeys: 2 },
  ),
  body: fc.constantFrom("", "body"),
  isPresigned: fc.boolean(),
});

describe.each(Object.entries(signers))("verifySignature() with %s", (_, sign) => {
  it("accepts what the signer signs, and no other key", async () => {
    await fc.assert(
      fc.asyncProperty(request, async (plain) => {
        const signed = await sign(plain);
        const other = { ...signed, path: `${signed.path}x` };
        return isAccepted(signed) && !isAccepted(other);
      }),
      { numRuns: 60 },
    );
    expect.assertions(0);
  });
});
