/**
 * Writes a value to its place: a small value travels to the bucket with the operation; a large one
 * is streamed to a file and hashed on the way, and only its name travels. The bucket decides what is
 * small.
 *
 * Until the bucket has committed the name, the file belongs to its writer.
 */
import { encodeHex } from "../../base/hex.ts";
import type { DiskProblem } from "../../state/disk-problem.ts";
import {
  hashAlgorithms,
  requiredAlgorithms,
  type Checksums,
  type ExpectedChecksum,
  type HashAlgorithm,
} from "../core/checksum.ts";
import { makeBlobName } from "../core/content.ts";
import { StoreError } from "../core/errors.ts";
import { inlineBytesMax } from "../core/limits.ts";
import { validateWrite } from "../core/metadata.ts";
import { validateUploadSize, type PartReference } from "../core/multipart.ts";
import { decodeObject } from "../core/object.ts";
import type { Content, ObjectRecord, Outcome, Request, Result } from "../core/operations.ts";
import {
  BlobNotWrittenError,
  MarkedSource,
  readBytes,
  RunningHash,
  StreamSource,
  type BlobDirectory,
} from "./blob-directory.ts";
import {
  observation,
  type PartRequest,
  type PutRequest,
  type StreamValue,
  type Value,
} from "./bucket-calls.ts";
import { applyFault, hideOwnFrames, internalError, reasonOf, refusal, settle } from "./failure.ts";

/** The largest values that need no file: values in memory, and streams. */
const limitsDefault = { bytesMax: inlineBytesMax, streamBytesMax: inlineBytesMax };

export class ContentWriter {
  readonly #blobs: BlobDirectory;
  readonly #runId: string;
  readonly #limits: typeof limitsDefault;

  constructor(blobs: BlobDirectory, runId: string, limits = limitsDefault) {
    this.#blobs = blobs;
    this.#runId = runId;
    this.#limits = limits;
  }

  /**
   * Writes a value. On failure no file is left.
   *
   * @throws StoreError 100100 for a value that is too large, BlobNotWrittenError when the disk
   *   fails, or the error of the stream
   */
  async write(value: Value, algorithms: HashAlgorithm[]): Promise<Content> {
    if ("stream" in value) return this.#writeStream(value, algorithms);
    const { bytes } = value;
    validateUploadSize(bytes.length);
    if (bytes.length <= this.#limits.bytesMax) return inline(bytes, algorithms);
    const blob = this.#newName();
    const hashing = hash(bytes, algorithms);
    try {
      await this.#blobs.write(blob, bytes);
    } catch (error) {
      throw new BlobNotWrittenError(blob, bytes.length, error);
    }
    return { blob, size: bytes.length, checksums: await hashing };
  }

  async #writeStream(
    { stream, length, marked }: StreamValue,
    algorithms: HashAlgorithm[],
  ): Promise<Content> {
    // A stream whose length is too large is refused before a byte is read.
    if (length !== null) validateUploadSize(length);
    const source = marked ? new MarkedSource(stream) : new StreamSource(stream);
    // One byte more: a stream that has fewer bytes has ended.
    const { streamBytesMax } = this.#limits;
    const startBytes = Math.max(1, Math.min(length ?? streamBytesMax, streamBytesMax)) + 1;
    const start = await readStart(source, startBytes);
    if (sizeOf(start) < startBytes) return inline(joined(start), algorithms);

    const blob = this.#newName();
    const { readable, writable } =
      length === null ? new IdentityTransformStream() : new FixedLengthStream(length);
    const file = writable.getWriter();
    const hashes = algorithms.map((algorithm) => new RunningHash(algorithm));
    // The disk may fail while a read waits for the stream, so both are awaited.
    const written = this.#blobs.write(blob, readable);
    const diskFailed = written.then(() => new Promise<never>(() => {}));
    diskFailed.catch(() => {});
    let size = 0;
    let reading = false;
    const take = async (chunk: Uint8Array<ArrayBuffer>): Promise<void> => {
      size += chunk.length;
      validateUploadSize(size);
      await Promise.race([
        Promise.all([file.write(chunk), ...hashes.map((running) => running.write(chunk))]),
        diskFailed,
      ]);
    };
    try {
      for (const piece of start) await take(piece);
      let buffer = new ArrayBuffer(readBytes);
      for (;;) {
        reading = true;
        const chunk = await source.read(buffer);
        reading = false;
        if (chunk.length === 0) break;
        await take(chunk);
        // The file and the hashes have consumed the chunk, so its memory is reused. The garbage
        // collector would not keep up with the chunks of a large upload.
        buffer = chunk.buffer;
      }
      await Promise.race([file.close(), diskFailed]);
      await written;
      const checksums: Checksums = Object.fromEntries(
        await Promise.all(hashes.map(async (running) => [running.algorithm, await running.end()])),
      );
      return { blob, size, checksums };
    } catch (error) {
      await Promise.allSettled([
        source.cancel(error),
        file.abort(error),
        ...hashes.map((running) => running.abort()),
        written,
      ]);
      // The disk service may take an aborted body for a complete one.
      await this.#blobs.remove(blob);
      if (reading || error instanceof StoreError) throw error;
      throw new BlobNotWrittenError(blob, length ?? size, error);
    }
  }

  #newName(): string {
    return makeBlobName(this.#runId, crypto.randomUUID().replaceAll("-", ""));
  }
}

/**
 * The first bytes of a stream, as many as asked for, or all. A piece is as large as what has arrived before, because
 * workerd keeps the memory of a read that waits for a slow client, also after the client has gone.
 */
async function readStart(source: StreamSource, bytes: number): Promise<Uint8Array<ArrayBuffer>[]> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let size = 0; size < bytes;) {
    const step = Math.max(size, firstPieceBytes);
    const rest = bytes - size;
    // A source of a marked stream reads the first byte by itself, and the rest must not be empty.
    const wanted = rest <= 2 * step ? rest : step;
    const piece = await source.read(new ArrayBuffer(wanted));
    pieces.push(piece);
    size += piece.length;
    if (piece.length < wanted) break;
  }
  return pieces;
}

const firstPieceBytes = 8 * 1024;

function sizeOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((size, piece) => size + piece.length, 0);
}

function joined(pieces: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1) return first;
  const bytes = new Uint8Array(sizeOf(pieces));
  let size = 0;
  for (const piece of pieces) {
    bytes.set(piece, size);
    size += piece.length;
  }
  return bytes;
}

async function inline(bytes: Uint8Array, algorithms: HashAlgorithm[]): Promise<Content> {
  // The whole buffer of a view would travel.
  const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
  return { bytes: own, checksums: await hash(bytes, algorithms) };
}

/** Hashes of bytes. One digest after the other: each keeps the isolate busy. */
async function hash(bytes: Uint8Array, algorithms: HashAlgorithm[]): Promise<Checksums> {
  const checksums: Partial<Record<HashAlgorithm, string>> = {};
  for (const algorithm of algorithms) {
    const digest = await crypto.subtle.digest(hashAlgorithms[algorithm].name, bytes);
    checksums[algorithm] = encodeHex(new Uint8Array(digest));
  }
  return checksums;
}

type WriteMethod = "put" | "uploadPart";

type WriteRequest<M extends WriteMethod> = Omit<Request<M>, "content" | "checksum"> & {
  readonly method: M;
  readonly checksum?: ExpectedChecksum<HashAlgorithm>;
};

/**
 * The calls that store a value.
 *
 * The value is written first, and then an operation names the content, and the bucket commits it or
 * not. The bucket, which knows whether a row names the file, removes the file of an operation that it
 * refuses. If the bucket does not answer, the file stays, and the next start collects it if no row
 * names it.
 */
export abstract class WriteCalls {
  readonly #writer: ContentWriter;

  constructor(writer: ContentWriter) {
    this.#writer = writer;
  }

  protected abstract send<M extends WriteMethod>(
    request: Request<M>,
    layer: number | undefined,
  ): Promise<Outcome<M>>;

  /** Says why the disk has not taken so many bytes, or `null`. The failure is that of a remote bucket. */
  protected abstract findDiskProblem(
    bytes: number,
  ): Promise<(DiskProblem & Pick<Partial<StoreError>, "failure">) | null>;

  async put({ value, ...description }: PutRequest): Promise<ObjectRecord | null> {
    const text = await this.#commit(value, { method: "put", ...description });
    return text === null ? null : decodeObject(description.key, text);
  }

  uploadPart({ value, ...part }: PartRequest): Promise<PartReference> {
    return this.#commit(value, { method: "uploadPart", ...part });
  }

  async #commit<M extends WriteMethod>(
    value: Value,
    operation: WriteRequest<M>,
  ): Promise<Result<M>> {
    // The layer in which the call is made: it may end while the value is read.
    const layer = observation.current?.layer();
    try {
      const content = await this.#write(value, operation);
      const request = { ...operation, content } as unknown as Request<M>;
      const outcome = await this.send(request, layer);
      if (outcome.fault !== undefined) await applyFault(outcome.fault);
      return settle(operation, outcome);
    } catch (error) {
      throw hideOwnFrames(error);
    }
  }

  async #write(value: Value, operation: WriteRequest<WriteMethod>): Promise<Content> {
    const { method, checksum } = operation;
    try {
      // All that is known is checked before the value is read.
      validateWrite(operation);
      return await this.#writer.write(value, requiredAlgorithms(checksum));
    } catch (error) {
      await cancelValue(value, error);
      if (error instanceof StoreError) throw refusal(method, error, reasonOf(operation, error));
      if (!(error instanceof BlobNotWrittenError)) throw error;
      const problem = await this.findDiskProblem(error.bytes);
      throw problem === null
        ? internalError(method, error)
        : refusal(method, new StoreError(10001, problem.text, problem), { cause: error });
    }
  }
}

/** Tells the writer of a stream that the stream is not read. A marked stream ends by itself. */
async function cancelValue(value: Value, reason: unknown): Promise<void> {
  if ("bytes" in value || value.marked || value.stream.locked) return;
  await value.stream.cancel(reason).catch(() => {});
}
