/** From a request of Node's HTTP server to a request of the S3-compatible API. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { describeRefusal, loopbackOnly, refuseRequest } from "../../base/host-rule.ts";
import type { ChecksumAlgorithm, Checksums } from "../../store/core/checksum.ts";
import { RequestBody } from "../body/request-body.ts";
import { bucketOfHost, parseParameters, parseTarget } from "../request-target.ts";
import { S3Error } from "../s3-error.ts";
import type { S3Headers, S3Parameters, S3Request } from "../s3-request.ts";
import { parseAuthorization } from "../signature/authorization.ts";
import type { SignedRequest, S3Credentials } from "../../http/signature.ts";
import { verifySignature, type DeriveKey } from "../signature/verify-signature.ts";

export interface RequestRules {
  readonly credentials: S3Credentials;
  /** Names and addresses besides loopback, in the form of `hostName()`. */
  readonly hosts: readonly string[];
  readonly now: () => number;
  readonly deriveKey: DeriveKey;
  readonly computeChecksums: (
    bytes: Uint8Array,
    algorithms: readonly ChecksumAlgorithm[],
  ) => Checksums;
}

/**
 * Reads and verifies everything but the body.
 *
 * @param onBody is called when the body is read, before its first byte
 * @throws S3Error
 */
export function readRequest(
  message: IncomingMessage,
  rules: RequestRules,
  onBody: () => void,
): S3Request {
  const headers = readHeaders(message.rawHeaders);
  const host = headers.get("host") ?? "";
  refuseHost(host, rules.hosts);
  const method = message.method as string;
  const target = parseTarget(message.url as string, host, rules.hosts);
  const signed: SignedRequest = { method, path: target.path, query: target.query, headers };
  // A browser sends a preflight without a signature.
  const authorization = method === "OPTIONS" ? null : parseAuthorization(signed, rules.now());
  const signing =
    authorization === null
      ? null
      : verifySignature(signed, authorization, rules.credentials, rules.deriveKey);
  const parameters = parseParameters(target.query);
  const s3Headers = headersOf(headers, authorization?.isPresigned === true ? parameters : null);
  return {
    method,
    bucketName: target.bucketName,
    key: target.key,
    bucketUrl: target.bucketUrl,
    parameters,
    headers: s3Headers,
    isAnonymous: authorization === null,
    body: new RequestBody({
      headers: s3Headers,
      payload: authorization?.payload ?? null,
      signing,
      source: readBody(message, onBody),
      computeChecksums: rules.computeChecksums,
    }),
  };
}

/**
 * Only the host is checked, and not the origin: a page of another origin cannot sign a request, and
 * what needs no signature is public. The CORS rules of the bucket decide what the page may read.
 */
function refuseHost(host: string, hosts: readonly string[]): void {
  if (bucketOfHost(host, hosts) !== null) return;
  const head = { method: "", host, origin: null, requestedMethod: null };
  const refusal = refuseRequest(head, { ...loopbackOnly, hosts });
  if (refusal === null) return;
  const keys = { hosts: "hosts in [s3]", origins: "cors in [s3]" };
  throw new S3Error("AccessDenied", describeRefusal(refusal, keys));
}

/** By name in lower case. Node passes octets on as characters; clients mean UTF-8. */
function readHeaders(raw: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] as string).toLowerCase();
    const value = decodeOctets((raw[index + 1] as string).trim());
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before},${value}`);
  }
  return headers;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodeOctets(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are intended
  if (/^[\u0000-\u007f]*$/.test(text)) return text;
  try {
    return utf8.decode(Buffer.from(text, "latin1"));
  } catch {
    return text;
  }
}

/**
 * Presigned URLs carry headers as parameters, such as `x-amz-meta-*` and `x-amz-storage-class`.
 *
 * AWS SDKs put the checksum of an empty body among them, because they do not know the body. So a
 * checksum counts only in a header.
 */
function headersOf(headers: ReadonlyMap<string, string>, hoisted: S3Parameters | null): S3Headers {
  const lowerCase = new Map(
    (hoisted?.names ?? []).map((name) => [name.toLowerCase(), hoisted?.get(name) as string]),
  );
  const names = new Set([...headers.keys(), ...Array.from(lowerCase.keys()).filter(isHoisted)]);
  const get = (name: string): string | null =>
    headers.get(name) ?? (isHoisted(name) ? lowerCase.get(name) : undefined) ?? null;
  return {
    get,
    withPrefix: (prefix) =>
      Array.from(names)
        .filter((name) => name.startsWith(prefix))
        .map((name) => [name, get(name) as string] as const),
  };
}

function isHoisted(name: string): boolean {
  return /^x-amz-(?!checksum|sdk|content-sha256)/.test(name);
}

/**
 * The connection stays open when a reader stops early, because the response is still to be sent. A
 * piece is valid until the next one is requested.
 */
async function* readBody(message: IncomingMessage, onBody: () => void): AsyncGenerator<Uint8Array> {
  onBody();
  try {
    const pieces = message.iterator({ destroyOnReturn: false }) as AsyncIterable<NodeBuffer>;
    for await (const piece of pieces) {
      yield piece;
      freeMemory(piece);
    }
  } catch {
    // The client has gone away.
    throw new S3Error("IncompleteBody");
  }
}

type NodeBuffer = Buffer<ArrayBuffer>;

/**
 * Frees the memory of a piece at once. Node allocates memory for each piece, and V8 collects it only
 * when 64 MiB are garbage: the process would grow by that much with every large upload.
 */
function freeMemory(piece: NodeBuffer): void {
  // Memory that other pieces share stays.
  if (piece.length === piece.buffer.byteLength) piece.buffer.transfer(0);
}

/** Lets a client send the body that it has announced with `Expect: 100-continue`. */
export function continueOnce(response: ServerResponse): () => void {
  let isSent = false;
  return () => {
    if (isSent) return;
    isSent = true;
    response.writeContinue();
  };
}
