/**
 * Writes a value to its place: a small value travels to the bucket with the operation; a large one
 * is streamed to a file and hashed on the way, and only its name travels. The bucket decides what is
 * small.
 *
 * Until the bucket has committed the name, the file belongs to its writer.
 */
import {
  BlobNotWrittenError,
  type BlobDirectory,
  MarkedSource,
  StreamSource,
} from "./blob-directory.ts";
import { makeBlobName } from "../core/content.ts";
import {
  hashAlgorithms,
  type HashAlgorithm,
  type Checksums,
  requiredAlgorithms,
  type ExpectedChecksum,
} from "../core/checksum.ts";
import { StoreError, type Method } from "../core/errors.ts";
import { encodeHex } from "../../base/hex.ts";
import { inlineBytesMax } from "../core/limits.ts";
import { validateUploadSize } from "../core/multipart.ts";
import type { Content, Request, Result } from "../core/operations.ts";
import type { DiskProblem } from "../../state/disk-problem.ts";
import { type Value, observation, type StreamValue } from "./bucket-calls.ts";
import { validateWrite } from "../core/metadata.ts";
import type { OutcomeMessage } from "./message.ts";
import { applyFault, internalError, reasonOf, refusal, settle } from "./failure.ts";

/** The size of one read of a stream: hashing small chunks makes large uploads slow. */
const readBytes = 256 * 1024;

/** The largest values that need no file. */
interface MemoryLimits {
  /** Of a value that is in memory already. */
  readonly bytesMax: number;
  readonly streamBytesMax: number;
}

const limitsDefault: MemoryLimits = { bytesMax: inlineBytesMax, streamBytesMax: inlineBytesMax };

export class ContentWriter {
  readonly #blobs: BlobDirectory;
  readonly #runId: string;
  readonly #limits: MemoryLimits;

  constructor(blobs: BlobDirectory, runId: string, limits: MemoryLimits = limitsDefault) {
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
    // One byte more: a stream that does not fill the buffer has ended. A source of a marked stream reads the
    // first byte by itself, and the rest must not be empty.
    const { streamBytesMax } = this.#limits;
    const startBytes = Math.max(1, Math.min(length ?? streamBytesMax, streamBytesMax)) + 1;
    const start = await source.read(new ArrayBuffer(startBytes));
    if (start.length < startBytes) return inline(start, algorithms);

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
    try {
      let chunk: Uint8Array<ArrayBuffer> = start;
      while (chunk.length > 0) {
        size += chunk.length;
        validateUploadSize(size);
        await Promise.race([
          Promise.all([file.write(chunk), ...hashes.map((running) => running.write(chunk))]),
          diskFailed,
        ]);
        // The file and the hashes have consumed the chunk, so its memory is reused. The garbage
        // collector would not keep up with the chunks of a large upload.
        const buffer = chunk === start ? new ArrayBuffer(readBytes) : chunk.buffer;
        reading = true;
        chunk = await source.read(buffer);
        reading = false;
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

async function inline(bytes: Uint8Array, algorithms: HashAlgorithm[]): Promise<Content> {
  return { bytes: ownBytes(bytes), checksums: await hash(bytes, algorithms) };
}

/** The bytes in a buffer of the same length: the whole buffer of a view would travel. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
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

/** A hash of content that arrives in chunks. */
class RunningHash {
  readonly algorithm: HashAlgorithm;
  readonly #stream: DigestStream;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;

  constructor(algorithm: HashAlgorithm) {
    this.algorithm = algorithm;
    this.#stream = new crypto.DigestStream(hashAlgorithms[algorithm].name);
    // The digest of a failed upload is not awaited.
    this.#stream.digest.catch(() => {});
    this.#writer = this.#stream.getWriter();
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#writer.write(chunk);
  }

  async end(): Promise<string> {
    await this.#writer.close();
    return encodeHex(new Uint8Array(await this.#stream.digest));
  }

  abort(): Promise<void> {
    return this.#writer.abort();
  }
}

/**
 * Where content is written and committed.
 *
 * A value is written first (`ContentWriter`): a small one into memory, a large one to
 * a file. Then an operation names the content, and the bucket commits it or not. The bucket, which
 * knows whether a row names the file, removes the file of an operation that it refuses. If the
 * bucket does not answer, the file stays, and the next start collects it if no row names it.
 */

/** The operations that store content, without the content. */
interface WriteOperations {
  put: Omit<Request<"put">, "content" | "checksum"> & {
    readonly checksum?: ExpectedChecksum<HashAlgorithm>;
  };
  uploadPart: Omit<Request<"uploadPart">, "content" | "checksum">;
}
type WriteMethod = keyof WriteOperations;

type Send = <M extends WriteMethod>(
  request: Request<M>,
  layer: number | undefined,
) => Promise<OutcomeMessage<M>>;

export class ContentCommitter {
  readonly #writer: ContentWriter;
  readonly #send: Send;
  readonly #findDiskProblem: (bytes: number) => Promise<DiskProblem | null>;

  /** @param findDiskProblem asks the bucket why its disk has not taken so many bytes */
  constructor(
    writer: ContentWriter,
    send: Send,
    findDiskProblem: (bytes: number) => Promise<DiskProblem | null>,
  ) {
    this.#findDiskProblem = findDiskProblem;
    this.#writer = writer;
    this.#send = send;
  }

  async commit<M extends WriteMethod>(
    value: Value,
    operation: WriteOperations[M],
  ): Promise<Result<M>> {
    // The layer in which the call is made: it may end while the value is read.
    const layer = observation.current?.layer();
    const method = operation.method as M;
    let content: Content;
    try {
      // All that is known is checked before the value is read.
      validateWrite(operation);
      const checksum = "checksum" in operation ? operation.checksum : undefined;
      content = await this.#writer.write(value, requiredAlgorithms(checksum));
    } catch (error) {
      await cancelValue(value, error);
      if (error instanceof BlobNotWrittenError) throw await this.#notWritten(method, error);
      if (!(error instanceof StoreError)) throw error;
      throw refusal(method, error, reasonOf(operation, error.code));
    }
    const answer = await this.#send({ ...operation, content } as unknown as Request<M>, layer);
    const request = operation as typeof operation & { readonly method: M };
    if (!("fault" in answer)) return settle(request, answer);
    await applyFault(answer.fault);
    return settle(request, answer.outcome);
  }

  /** The error of a value that the disk has not taken: the bucket says why. */
  async #notWritten(method: Method, cause: BlobNotWrittenError): Promise<Error> {
    const problem = await this.#findDiskProblem(cause.bytes);
    return problem === null
      ? internalError(method, cause)
      : refusal(method, new StoreError(10001, problem.text), { cause });
  }
}

/** Tells the writer of a stream that the stream is not read. A marked stream ends by itself. */
async function cancelValue(value: Value, reason: unknown): Promise<void> {
  if ("bytes" in value || value.marked || value.stream.locked) return;
  await value.stream.cancel(reason).catch(() => {});
}
