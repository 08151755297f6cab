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
import { createHash, type Hash } from "node:crypto";
import {
  base64ToHex,
  checksumPrefix,
  checksumsInHeaders,
  parseChecksumValue,
  s3Algorithms,
} from "../http/headers.ts";
import { unsignedPayload } from "../http/signature.ts";
import {
  checksumAlgorithms,
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
import { isSameText, sha256, sign, type SigningContext } from "./authorization.ts";
import { S3Error } from "./s3-errors.ts";

type S3Headers = ReadonlyMap<string, string>;

/** The longest document: 10,000 parts with their checksums, or 1,000 keys in which every character is escaped. */
const documentBytesMax = 8 * 1024 * 1024;

/** A body as it arrives. */
export interface ReceivedBody {
  readonly headers: S3Headers;
  /** As the client has signed it; `null` for a request without a signature. */
  readonly payload: string | null;
  readonly signing: SigningContext | null;
  /** The bytes of the HTTP message. A piece is valid until the next one is requested. */
  readonly source: AsyncIterable<Uint8Array>;
}

/**
 * The content of a body, which can be read once. `chunks()` and `document()` end only after everything
 * has been verified that the body alone shows: its length, its signatures and its SHA-256. `verify()`
 * compares the hashes that the client has announced with those of the content.
 */
export class RequestBody {
  /** `null`: not announced */
  readonly length: number | null;
  /** Of the checksum that the client sends. */
  readonly checksumAlgorithm: S3ChecksumAlgorithm | undefined;
  /** The hashes that `verify()` needs. */
  readonly requiredAlgorithms: readonly ChecksumAlgorithm[];
  readonly #received: ReceivedBody;
  readonly #md5: string | null;
  /** In hexadecimal; `undefined` for a checksum that the client sends after the body. */
  readonly #checksum: string | undefined;
  readonly #decoder: ChunkDecoder | null;
  #trailer: ReadonlyMap<string, string> = new Map();

  /** @throws S3Error for headers that are not valid */
  constructor(received: ReceivedBody) {
    const { headers, payload } = received;
    this.#received = received;
    const md5 = headers.get("content-md5");
    this.#md5 = md5 === undefined ? null : base64ToHex(md5, checksumAlgorithms.md5.bytes);
    if (md5 !== undefined && this.#md5 === null) throw new S3Error("InvalidDigest");
    const before = parseChecksumHeader(headers);
    const trailer = (headers.get("x-amz-trailer") ?? "").toLowerCase().split(/\s*,\s*/);
    this.#checksum = before?.hex;
    this.checksumAlgorithm =
      before?.algorithm ?? s3Algorithms.find((each) => trailer.includes(checksumPrefix + each));
    this.requiredAlgorithms =
      this.checksumAlgorithm === undefined ? ["md5"] : ["md5", this.checksumAlgorithm];
    const isChunked = payload?.startsWith("STREAMING-") === true;
    const text = headers.get(isChunked ? "x-amz-decoded-content-length" : "content-length") ?? "";
    this.length = /^\d{1,15}$/.test(text) ? Number(text) : null;
    this.#decoder = decoderOf(received, this.length);
  }

  /**
   * Called after the last chunk.
   *
   * @param checksumOf what `x-amz-checksum-*` belongs to; the header of a completion has the checksum
   *   of the object, and no checksum of the document
   * @throws StoreError 10037 when a hash is another than the client has announced
   */
  verify(checksums: Checksums, checksumOf: "body" | "object" = "body"): void {
    if (this.#md5 !== null) verifyChecksum({ algorithm: "md5", hex: this.#md5 }, checksums);
    const algorithm = this.checksumAlgorithm;
    if (algorithm === undefined || checksumOf === "object") return;
    const trailer = this.#trailer.get(checksumPrefix + algorithm) ?? "";
    const hex = this.#checksum ?? parseChecksumValue(algorithm, trailer);
    if (hex === null) throw new S3Error("MalformedTrailerError");
    verifyChecksum({ algorithm, hex }, checksums);
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    const { payload, source } = this.#received;
    if (this.#decoder !== null) {
      for await (const bytes of source) yield* this.#decoder.push(bytes);
      this.#trailer = this.#decoder.end();
      return;
    }
    const hash = payload === null || payload === unsignedPayload ? null : createHash("sha256");
    let bytes = 0;
    for await (const piece of source) {
      hash?.update(piece);
      bytes += piece.length;
      yield piece;
    }
    if (this.length !== null && bytes !== this.length) throw new S3Error("IncompleteBody");
    if (hash !== null && hash.digest("hex") !== payload) {
      throw new S3Error("XAmzContentSHA256Mismatch");
    }
  }

  /**
   * The whole body, for the documents of requests.
   *
   * @param checksumOf as for `verify()`
   */
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

/** @returns `null` for a body that is not in chunks */
function decoderOf({ payload, signing }: ReceivedBody, length: number | null): ChunkDecoder | null {
  if (payload === null || payload === unsignedPayload || /^[0-9a-f]{64}$/.test(payload))
    return null;
  if (!payload.startsWith("STREAMING-")) {
    throw new S3Error(
      "InvalidArgument",
      "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, " +
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD, or a valid sha256 value.",
    );
  }
  if (length === null) throw new S3Error("MissingContentLength");
  switch (payload) {
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD":
      return new ChunkDecoder({ signing, hasTrailer: false, length });
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER":
      return new ChunkDecoder({ signing, hasTrailer: true, length });
    case "STREAMING-UNSIGNED-PAYLOAD-TRAILER":
      return new ChunkDecoder({ signing: null, hasTrailer: true, length });
    default:
      throw new S3Error("NotImplemented", `${payload} not implemented`);
  }
}

export interface ReceivedContent {
  readonly content: Content;
  /** The checksum that the client has sent: it is verified, and stored with the object. */
  readonly checksum?: ExpectedChecksum<S3ChecksumAlgorithm>;
}

/**
 * Writes a body as content that an operation stores. Everything that the client has said about the
 * body is verified before the promise resolves.
 */
export async function receiveContent(bucket: Bucket, body: RequestBody): Promise<ReceivedContent> {
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

/**
 * The checksum in the headers of a request: of its body, or of the object of an upload.
 *
 * @throws S3Error for a checksum that is not valid, and for more than one
 */
export function parseChecksumHeader(
  headers: S3Headers,
): ExpectedChecksum<S3ChecksumAlgorithm> | undefined {
  const [given, ...others] = checksumsInHeaders(headers);
  if (others.length > 0) {
    throw new S3Error(
      "InvalidRequest",
      "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.",
    );
  }
  if (given === undefined) return undefined;
  const { algorithm, hex } = given;
  if (hex !== null) return { algorithm, hex };
  throw new S3Error("InvalidRequest", `Value for ${checksumPrefix}${algorithm} header is invalid.`);
}

/** Longer than any size with a signature, and than any trailer of checksums. */
const lineBytesMax = 1024;
const trailerLinesMax = 16;
const emptyHash = sha256("");
const trailerSignatureName = "x-amz-trailer-signature";

interface ChunkOptions {
  /** Signs the chunks; `null` for chunks without signatures. */
  readonly signing: SigningContext | null;
  readonly hasTrailer: boolean;
  /** `x-amz-decoded-content-length` */
  readonly length: number;
}

type State = "size" | "data" | "end of data" | "trailer" | "ended";

/**
 * Decodes bodies in AWS's chunks (`STREAMING-…` in `x-amz-content-sha256`).
 *
 *     SIZE in hexadecimal [;chunk-signature=SIGNATURE] CRLF  DATA CRLF   for each chunk
 *     0 [;chunk-signature=SIGNATURE] CRLF                                the last chunk
 *     NAME:VALUE CRLF …                                                  the trailer, if announced
 *     CRLF
 *
 * Each signature covers the chunk's data and the signature before it, so chunks can be neither
 * changed nor moved. Data is passed on before its signature is known: the caller stores nothing
 * until `end()` has returned.
 */
export class ChunkDecoder {
  readonly #options: ChunkOptions;
  readonly #trailer = new Map<string, string>();
  #state: State = "size";
  /** The bytes of a line whose end has not arrived. */
  #line = "";
  /** Of the chunk: the bytes that have not arrived. */
  #left = 0;
  #received = 0;
  #hash: Hash | undefined;
  #chunkSignature = "";
  #lastSignature: string;

  constructor(options: ChunkOptions) {
    this.#options = options;
    this.#lastSignature = options.signing?.signature ?? "";
  }

  /**
   * @returns the data in the bytes, as views of `bytes`
   * @throws S3Error for bytes that are not in the format, or whose signature is another
   */
  push(bytes: Uint8Array): Uint8Array[] {
    const data: Uint8Array[] = [];
    for (let at = 0; at < bytes.length;) {
      if (this.#state === "data") {
        const piece = bytes.subarray(at, at + this.#left);
        at += piece.length;
        this.#take(piece);
        data.push(piece);
        continue;
      }
      const end = bytes.indexOf(0x0a, at);
      const part = bytes.subarray(at, end === -1 ? bytes.length : end);
      this.#line += Buffer.from(part.buffer, part.byteOffset, part.length).toString("latin1");
      if (this.#line.length > lineBytesMax) throw malformed("a line is too long");
      if (end === -1) break;
      at = end + 1;
      const line = this.#line.endsWith("\r") ? this.#line.slice(0, -1) : this.#line;
      this.#line = "";
      this.#takeLine(line);
    }
    return data;
  }

  /**
   * Called at the end of the body.
   *
   * @returns the fields of the trailer, in lower case
   * @throws S3Error IncompleteBody
   */
  end(): ReadonlyMap<string, string> {
    // A client without a trailer may leave out the empty line.
    const isTrailerMissing = this.#state === "trailer" && !this.#options.hasTrailer;
    if (this.#state !== "ended" && !isTrailerMissing) throw new S3Error("IncompleteBody");
    if (this.#received !== this.#options.length) throw new S3Error("IncompleteBody");
    return this.#trailer;
  }

  #take(piece: Uint8Array): void {
    this.#left -= piece.length;
    this.#received += piece.length;
    this.#hash?.update(piece);
    if (this.#left > 0) return;
    this.#verifyChunk(this.#hash?.digest("hex"));
    this.#state = "end of data";
  }

  #takeLine(line: string): void {
    switch (this.#state) {
      case "size":
        return this.#startChunk(line);
      case "end of data":
        if (line !== "") throw malformed("a chunk is longer than its size");
        this.#state = "size";
        return;
      case "trailer":
        return this.#takeTrailer(line);
      // Data has no lines.
      case "data":
      case "ended":
        throw malformed("bytes follow the last chunk");
    }
  }

  #startChunk(line: string): void {
    const [, size, signature] =
      /^([0-9a-f]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?$/i.exec(line) ?? [];
    if (size === undefined) throw malformed("a chunk has no size");
    const { signing, length } = this.#options;
    if (signing !== null && signature === undefined) throw malformed("a chunk has no signature");
    this.#chunkSignature = signature ?? "";
    this.#left = parseInt(size, 16);
    if (this.#received + this.#left > length) throw new S3Error("IncompleteBody");
    if (this.#left > 0) {
      this.#hash = signing === null ? undefined : createHash("sha256");
      this.#state = "data";
      return;
    }
    this.#verifyChunk(emptyHash);
    this.#state = "trailer";
  }

  #verifyChunk(hash: string | undefined): void {
    const { signing } = this.#options;
    if (signing === null) return;
    this.#verify("AWS4-HMAC-SHA256-PAYLOAD", [emptyHash, hash as string], this.#chunkSignature);
  }

  #takeTrailer(line: string): void {
    const { hasTrailer, signing } = this.#options;
    if (line === "") {
      if (hasTrailer && signing !== null) this.#verifyTrailer();
      this.#state = "ended";
      return;
    }
    const separator = line.indexOf(":");
    const isAccepted = hasTrailer && separator > 0 && this.#trailer.size < trailerLinesMax;
    if (!isAccepted) throw malformed("the trailer is not valid");
    this.#trailer.set(
      line.slice(0, separator).trim().toLowerCase(),
      line.slice(separator + 1).trim(),
    );
  }

  #verifyTrailer(): void {
    const signature = this.#trailer.get(trailerSignatureName) ?? "";
    this.#trailer.delete(trailerSignatureName);
    const text = Array.from(this.#trailer, ([name, value]) => `${name}:${value}\n`).join("");
    this.#verify("AWS4-HMAC-SHA256-TRAILER", [sha256(text)], signature);
  }

  #verify(kind: string, hashes: readonly string[], actual: string): void {
    const { key, dateText, scopeText } = this.#options.signing as SigningContext;
    const text = [kind, dateText, scopeText, this.#lastSignature, ...hashes].join("\n");
    this.#lastSignature = sign(key, text);
    if (!isSameText(this.#lastSignature, actual)) throw new S3Error("SignatureDoesNotMatch");
  }
}

function malformed(reason: string): S3Error {
  return new S3Error("InvalidRequest", `The chunks of the body are not valid: ${reason}.`);
}
