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
 * decides.
 */
import { createHash } from "node:crypto";
import {
  verifyChecksum,
  type ChecksumAlgorithm,
  type Checksums,
  type S3ChecksumAlgorithm,
} from "../../store/core/checksum.ts";
import {
  parseAnnouncedChecksums,
  parseTrailer,
  type AnnouncedChecksums,
} from "../checksum-headers.ts";
import { S3Error } from "../s3-error.ts";
import type { S3Body, S3Form, S3Headers } from "../s3-request.ts";
import type { SigningContext } from "../signature/verify-signature.ts";
import { ChunkDecoder } from "./chunk-decoder.ts";
import { readForm } from "./form-reader.ts";

/** The longest document: 10,000 parts with their checksums, or 1,000 keys in which every character is escaped. */
const documentBytesMax = 8 * 1024 * 1024;

export interface ReceivedBody {
  readonly headers: S3Headers;
  /** As the client has signed it; `null` for a request without a signature. */
  readonly payload: string | null;
  readonly signing: SigningContext | null;
  /** The bytes of the HTTP message. A piece is valid until the next one is requested. */
  readonly source: AsyncIterable<Uint8Array>;
  readonly computeChecksums: (
    bytes: Uint8Array,
    algorithms: readonly ChecksumAlgorithm[],
  ) => Checksums;
}

export class RequestBody implements S3Body {
  readonly length: number | null;
  readonly #received: ReceivedBody;
  readonly #announced: AnnouncedChecksums;
  readonly #decoder: ChunkDecoder | null;
  #trailer: ReadonlyMap<string, string> = new Map();

  /** @throws S3Error for headers that are not valid */
  constructor(received: ReceivedBody) {
    this.#received = received;
    this.#announced = parseAnnouncedChecksums(received.headers);
    const { headers, payload } = received;
    const isChunked = payload?.startsWith("STREAMING-") === true;
    this.length = lengthOf(headers, isChunked ? "x-amz-decoded-content-length" : "content-length");
    this.#decoder = isChunked ? this.#chunkDecoder(payload) : null;
    if (!isChunked) validatePayload(payload);
  }

  get checksumAlgorithm(): S3ChecksumAlgorithm | null {
    return this.#announced.checksum?.algorithm ?? null;
  }

  get requiredAlgorithms(): readonly ChecksumAlgorithm[] {
    const { checksum } = this.#announced;
    return checksum === null ? ["md5"] : ["md5", checksum.algorithm];
  }

  verify(checksums: Checksums): void {
    const { md5, checksum } = this.#announced;
    if (md5 !== null) verifyChecksum({ algorithm: "md5", hex: md5 }, checksums);
    if (checksum === null) return;
    const hex = checksum.hex ?? parseTrailer(checksum.algorithm, this.#trailer);
    verifyChecksum({ algorithm: checksum.algorithm, hex }, checksums);
  }

  chunks(): AsyncIterable<Uint8Array> {
    return this.#decoder === null ? this.#plain() : this.#decoded(this.#decoder);
  }

  async document(checksumOf: "document" | "object" = "document"): Promise<string> {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of this.chunks()) {
      bytes += piece.length;
      if (bytes > documentBytesMax) throw new S3Error("MaxMessageLengthExceeded");
      pieces.push(Buffer.from(piece));
    }
    const content = Buffer.concat(pieces);
    const { md5, checksum } = this.#announced;
    if (checksumOf === "object") {
      const checksums = this.#received.computeChecksums(content, ["md5"]);
      if (md5 !== null) verifyChecksum({ algorithm: "md5", hex: md5 }, checksums);
    } else if (md5 !== null || checksum !== null) {
      this.verify(this.#received.computeChecksums(content, this.requiredAlgorithms));
    }
    return content.toString("utf8");
  }

  form(): Promise<S3Form> {
    return readForm(this.chunks(), this.#received.headers.get("content-type") ?? "");
  }

  async *#plain(): AsyncGenerator<Uint8Array> {
    const { payload, source } = this.#received;
    const hash = payload === null || payload === "UNSIGNED-PAYLOAD" ? null : createHash("sha256");
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

  async *#decoded(decoder: ChunkDecoder): AsyncGenerator<Uint8Array> {
    for await (const bytes of this.#received.source) yield* decoder.push(bytes);
    this.#trailer = decoder.end();
  }

  #chunkDecoder(payload: string): ChunkDecoder {
    const { signing } = this.#received;
    if (this.length === null) throw new S3Error("MissingContentLength");
    switch (payload) {
      case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD":
        return new ChunkDecoder({ signing, hasTrailer: false, length: this.length });
      case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER":
        return new ChunkDecoder({ signing, hasTrailer: true, length: this.length });
      case "STREAMING-UNSIGNED-PAYLOAD-TRAILER":
        return new ChunkDecoder({ signing: null, hasTrailer: true, length: this.length });
      default:
        throw new S3Error("NotImplemented", `${payload} not implemented`);
    }
  }
}

function lengthOf(headers: S3Headers, name: string): number | null {
  const text = headers.get(name);
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function validatePayload(payload: string | null): void {
  if (payload === null || payload === "UNSIGNED-PAYLOAD" || /^[0-9a-f]{64}$/.test(payload)) return;
  throw new S3Error(
    "InvalidArgument",
    "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, " +
      "STREAMING-AWS4-HMAC-SHA256-PAYLOAD, or a valid sha256 value.",
  );
}
