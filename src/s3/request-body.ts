/**
 * The body of a request: decoded and verified while it arrives.
 *
 * `x-amz-content-sha256` says how the body is protected, and is signed:
 *
 *     64 hexadecimal digits                        the SHA-256 of the body
 *     UNSIGNED-PAYLOAD                             nothing
 *     STREAMING-AWS4-HMAC-SHA256-PAYLOAD           chunks, each with a signature
 *     STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER   the same, and a trailer with a signature
 *     STREAMING-UNSIGNED-PAYLOAD-TRAILER           chunks without signatures, and a trailer
 *
 * Clients send chunks with `Content-Encoding: aws-chunked` and without it, so only this header
 * decides. `Content-MD5` and `x-amz-checksum-*` add hashes of the content.
 */
import { createHash } from "node:crypto";
import { base64ToHex } from "../base/hex.ts";
import { isSameText } from "../base/node-http.ts";
import { checksumPrefix, parseChecksumValue } from "../http/headers.ts";
import { unsignedPayload } from "../http/signature.ts";
import {
  checksumAlgorithms,
  checksumText,
  verifyChecksum,
  type ChecksumAlgorithm,
  type Checksums,
  type ExpectedChecksum,
  type S3ChecksumAlgorithm,
} from "../store/core/checksum.ts";
import { StoreError } from "../store/core/errors.ts";
import { uploadBytesMax } from "../store/core/limits.ts";
import type { Content } from "../store/core/operations.ts";
import type { Bucket } from "../store/node/bucket.ts";
import { RunningChecksums } from "../store/node/written-content.ts";
import { sha256, sign, type SigningContext } from "./authorization.ts";
import { parseBodyChecksum, requireNamedChecksum } from "./request-checksum.ts";
import { S3Error } from "./s3-errors.ts";

type S3Headers = ReadonlyMap<string, string>;

/** The longest document: 10,000 parts with their checksums, or 1,000 keys in which every character is escaped. */
const documentBytesMax = 8 * 1024 * 1024;

/** A body as it arrives. */
interface ReceivedBody {
  readonly headers: S3Headers;
  /** As the client has signed it; `null` for a request without a signature. */
  readonly payload: string | null;
  readonly signing: SigningContext | null;
  /** The bytes of the HTTP message. A piece is valid until the next one is requested. */
  readonly source: AsyncIterable<Uint8Array>;
}

/**
 * The content of a body, which can be read once. `chunks()` and `document()` end only after the length,
 * the signatures and the SHA-256 of the body have been verified. `verify()` compares the hashes that
 * the client has announced with those of the content.
 */
export class RequestBody {
  /** `null`: not announced */
  readonly length: number | null;
  /** Of the checksum that the client sends. */
  readonly checksumAlgorithm: S3ChecksumAlgorithm | undefined;
  readonly requiredAlgorithms: readonly ChecksumAlgorithm[];
  readonly #received: ReceivedBody;
  readonly #md5: string | null;
  /** In hexadecimal; `undefined` for a checksum that the client sends after the body. */
  readonly #checksum: string | undefined;
  readonly #framing: Framing | null;
  readonly #trailer: Map<string, string>;

  /** @throws S3Error for headers that are not valid */
  constructor(received: ReceivedBody) {
    const { headers, payload } = received;
    this.#received = received;
    this.#trailer = new Map();
    const md5 = headers.get("content-md5");
    this.#md5 = md5 === undefined ? null : base64ToHex(md5, checksumAlgorithms.md5.bytes);
    if (md5 !== undefined && this.#md5 === null) throw new S3Error("InvalidDigest");
    const checksum = parseBodyChecksum(headers);
    this.checksumAlgorithm = checksum?.algorithm;
    this.#checksum = checksum?.hex ?? undefined;
    this.requiredAlgorithms =
      this.checksumAlgorithm === undefined ? ["md5"] : ["md5", this.checksumAlgorithm];
    const isChunked = payload?.startsWith("STREAMING-") === true;
    const text = headers.get(isChunked ? "x-amz-decoded-content-length" : "content-length") ?? "";
    this.length = /^\d{1,15}$/.test(text) ? Number(text) : null;
    const trailerField = checksum?.hex === null ? checksumPrefix + checksum.algorithm : null;
    this.#framing = framingOf(payload, this.length, trailerField);
  }

  /**
   * Called after the last chunk.
   *
   * @param checksumOf what `x-amz-checksum-*` belongs to; the header of a completion has the checksum
   *   of the object, and no checksum of the document
   * @throws StoreError 10037 when a hash is another than the client has announced, with both in base64
   */
  verify(checksums: Checksums, checksumOf: "body" | "object" = "body"): void {
    const md5 = this.#md5;
    if (md5 !== null) verifyChecksum({ algorithm: "md5", hex: md5 }, checksums, checksumText);
    const algorithm = this.checksumAlgorithm;
    const isOfObject = checksumOf === "object" && this.#checksum !== undefined;
    if (algorithm === undefined || isOfObject) return;
    const field = checksumPrefix + algorithm;
    const hex = this.#checksum ?? parseChecksumValue(algorithm, this.#trailer.get(field) ?? "");
    if (hex === null) {
      throw new S3Error("InvalidRequest", `Value for ${field} trailing header is invalid.`);
    }
    verifyChecksum({ algorithm, hex }, checksums, checksumText);
  }

  chunks(): AsyncGenerator<Uint8Array> {
    requireNamedChecksum(this.#received.headers, this.checksumAlgorithm);
    return this.#framing === null
      ? verifyPieces(this.#received, this.length)
      : decodeChunks(this.#received, this.#framing, this.#trailer);
  }

  /** @param checksumOf as for `verify()` */
  async document(checksumOf?: "object"): Promise<string> {
    const pieces: Uint8Array[] = [];
    const running = new RunningChecksums(this.requiredAlgorithms);
    let bytes = 0;
    for await (const piece of this.chunks()) {
      bytes += piece.length;
      if (bytes > documentBytesMax) throw new S3Error("MaxMessageLengthExceeded");
      pieces.push(Buffer.from(piece));
      running.update(piece);
    }
    this.verify(running.end(), checksumOf);
    return Buffer.concat(pieces).toString("utf8");
  }
}

async function* verifyPieces(
  { payload, source }: ReceivedBody,
  length: number | null,
): AsyncGenerator<Uint8Array> {
  const hash = payload === null || payload === unsignedPayload ? null : createHash("sha256");
  let bytes = 0;
  for await (const piece of source) {
    hash?.update(piece);
    bytes += piece.length;
    yield piece;
  }
  if (length !== null && bytes !== length) throw new S3Error("IncompleteBody");
  if (hash !== null && hash.digest("hex") !== payload) {
    throw new S3Error("XAmzContentSHA256Mismatch");
  }
}

/** Everything that the client has said about the body is verified before the promise resolves. */
export async function receiveContent(
  bucket: Bucket,
  body: RequestBody,
): Promise<{ content: Content; checksum?: ExpectedChecksum<S3ChecksumAlgorithm> }> {
  if (body.length === null) throw new S3Error("MissingContentLength");
  if (body.length > uploadBytesMax) throw new StoreError(100100);
  const content = await bucket.write(body.chunks(), {
    algorithms: body.requiredAlgorithms,
    verify: (checksums) => body.verify(checksums),
  });
  const algorithm = body.checksumAlgorithm;
  const hex = algorithm && content.checksums[algorithm];
  return algorithm === undefined || hex === undefined
    ? { content }
    : { content, checksum: { algorithm, hex } };
}

/** Longer than any size with a signature, and than any trailer of checksums. */
const lineBytesMax = 1024;
const emptyHash = sha256("");
const chunkHead = /^([0-9a-f]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?$/i;
const trailerSignature = /^x-amz-trailer-signature:\s*([0-9a-f]{64})\s*$/i;

interface Framing {
  readonly isSigned: boolean;
  readonly hasTrailer: boolean;
  /** `x-amz-decoded-content-length` */
  readonly length: number;
  /** `x-amz-trailer`: the field of the trailer, in lower case; `null` for a trailer without a field */
  readonly trailerField: string | null;
}

const framings: Readonly<Record<string, Pick<Framing, "isSigned" | "hasTrailer">>> = {
  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD": { isSigned: true, hasTrailer: false },
  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER": { isSigned: true, hasTrailer: true },
  "STREAMING-UNSIGNED-PAYLOAD-TRAILER": { isSigned: false, hasTrailer: true },
};

/** @returns `null` for a body that is not in chunks */
function framingOf(
  payload: string | null,
  length: number | null,
  trailerField: string | null,
): Framing | null {
  const isWhole = payload === null || payload === unsignedPayload || /^[0-9a-f]{64}$/.test(payload);
  if (!isWhole && !payload.startsWith("STREAMING-")) {
    throw new S3Error(
      "InvalidArgument",
      "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, " +
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD, or a valid sha256 value.",
    );
  }
  const framing = isWhole ? null : framings[payload];
  if (framing === undefined) throw new S3Error("NotImplemented", `${payload} not implemented`);
  if (trailerField !== null && framing?.hasTrailer !== true) {
    throw new S3Error("MalformedTrailerError");
  }
  if (framing === null) return null;
  if (length === null) throw new S3Error("MissingContentLength");
  return { ...framing, length, trailerField };
}

/**
 * Decodes bodies in AWS's chunks (`STREAMING-…` in `x-amz-content-sha256`).
 *
 *     SIZE in hexadecimal [;chunk-signature=SIGNATURE] CRLF  DATA CRLF   for each chunk
 *     0 [;chunk-signature=SIGNATURE] CRLF                                the last chunk
 *     [NAME:VALUE CRLF]                                                  the field of `x-amz-trailer`
 *     [x-amz-trailer-signature:SIGNATURE CRLF]                           of a trailer in a signed body
 *     CRLF
 *
 * minio-go ends the field with LF, and adds an empty line before the signature of a signed trailer,
 * and at the end of an unsigned one.
 *
 * Each signature covers the chunk's data and the signature before it, so chunks can be neither
 * changed nor moved. Data is passed on before its signature is known: the caller stores nothing
 * until the generator has ended.
 *
 * @param trailer receives the field of the trailer, with its name in lower case
 * @throws S3Error for bytes that are not in the format, or whose signature is another
 */
export async function* decodeChunks(
  { source, signing: ofRequest }: Pick<ReceivedBody, "source" | "signing">,
  { isSigned, hasTrailer, length, trailerField }: Framing,
  trailer: Map<string, string>,
): AsyncGenerator<Uint8Array> {
  const signing = isSigned ? ofRequest : null;
  let lastSignature = signing?.signature ?? "";
  const verify = (kind: string, hashes: readonly string[], actual: string): void => {
    if (signing === null) return;
    const { key, dateText, scope } = signing;
    lastSignature = sign(key, [kind, dateText, scope, lastSignature, ...hashes].join("\n"));
    if (!isSameText(lastSignature, actual)) throw new S3Error("SignatureDoesNotMatch");
  };

  const pieces = source[Symbol.asyncIterator]();
  /** Of the last piece: what has not been taken. */
  let bytes: Uint8Array = new Uint8Array();
  const hasMore = async (): Promise<boolean> => {
    while (bytes.length === 0) {
      const next = await pieces.next();
      if (next.done === true) return false;
      bytes = next.value;
    }
    return true;
  };
  /** @param lengthOf how much of the bytes is taken, at most */
  const take = async (lengthOf: () => number): Promise<Uint8Array> => {
    if (!(await hasMore())) throw new S3Error("IncompleteBody");
    const taken = bytes.subarray(0, lengthOf());
    bytes = bytes.subarray(taken.length);
    return taken;
  };
  const readLine = async (): Promise<string> => {
    let line = "";
    while (!line.endsWith("\n")) {
      const part = await take(() => bytes.indexOf(0x0a) + 1 || bytes.length);
      line += Buffer.from(part.buffer, part.byteOffset, part.length).toString("latin1");
      if (line.length > lineBytesMax) throw malformed("a line is too long");
    }
    return line.replace(/\r?\n$/, "");
  };

  try {
    let received = 0;
    for (let isLast = false; !isLast;) {
      const [, size, signature = ""] = chunkHead.exec(await readLine()) ?? [];
      if (size === undefined) throw malformed("a chunk has no size");
      if (signing !== null && signature === "") throw malformed("a chunk has no signature");
      let left = parseInt(size, 16);
      isLast = left === 0;
      received += left;
      if (received > length) throw new S3Error("IncompleteBody");
      const hash = signing === null ? null : createHash("sha256");
      while (left > 0) {
        const piece = await take(() => left);
        left -= piece.length;
        hash?.update(piece);
        yield piece;
      }
      verify("AWS4-HMAC-SHA256-PAYLOAD", [emptyHash, hash?.digest("hex") ?? ""], signature);
      if (!isLast && (await readLine()) !== "") throw malformed("a chunk is longer than its size");
    }
    // A client without a trailer may leave out the empty line.
    let line = hasTrailer || (await hasMore()) ? await readLine() : "";
    let signed = "";
    if (trailerField !== null) {
      const [, name = "", value = ""] = /^\s*([\w-]+)\s*:(.*)$/.exec(line) ?? [];
      if (name.toLowerCase() !== trailerField) throw new S3Error("MalformedTrailerError");
      trailer.set(trailerField, value.trim());
      signed = `${trailerField}:${value.trim()}\n`;
      line = await readLine();
      if (signing !== null && line === "") line = await readLine();
    }
    if (hasTrailer && signing !== null) {
      const signature = trailerSignature.exec(line)?.[1];
      if (signature === undefined) throw new S3Error("MalformedTrailerError");
      verify("AWS4-HMAC-SHA256-TRAILER", [sha256(signed)], signature);
      line = await readLine();
    }
    if (line !== "") throw new S3Error("MalformedTrailerError");
    const mayRepeat = trailerField !== null && signing === null;
    if (mayRepeat && (await hasMore()) && (await readLine()) !== "") {
      throw malformed("bytes follow the last chunk");
    }
    if (await hasMore()) throw malformed("bytes follow the last chunk");
    if (received !== length) throw new S3Error("IncompleteBody");
  } finally {
    await pieces.return?.();
  }
}

function malformed(reason: string): S3Error {
  return new S3Error("InvalidRequest", `The chunks of the body are not valid: ${reason}.`);
}
