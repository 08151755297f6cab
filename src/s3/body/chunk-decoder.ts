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
import { createHash, type Hash } from "node:crypto";
import { S3Error } from "../s3-error.ts";
import { isSameText, sha256, sign, type SigningContext } from "../signature/verify-signature.ts";

/** Longer than any size with a signature, and than any trailer of checksums. */
const lineBytesMax = 1024;
const trailerLinesMax = 16;
const emptyHash = sha256("");
const trailerSignatureName = "x-amz-trailer-signature";

export interface ChunkOptions {
  /** Signs the chunks; `null` for chunks without signatures. */
  readonly signing: SigningContext | null;
  readonly hasTrailer: boolean;
  /** `x-amz-decoded-content-length` */
  readonly length: number;
}

type State = "size" | "data" | "end of data" | "trailer" | "ended";

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
