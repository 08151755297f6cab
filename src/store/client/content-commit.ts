/**
 * Where content is written and committed.
 *
 * A value is written first (`content/content-writer.ts`): a small one into memory, a large one to
 * a file. Then an operation names the content, and the bucket commits it or not. The bucket, which
 * knows whether a row names the file, removes the file of an operation that it refuses. If the
 * bucket does not answer, the file stays, and the next start collects it if no row names it.
 */
import type { DiskProblem } from "../../state/disk.ts";
import { BlobNotWrittenError } from "../content/blob-directory.ts";
import type { Value } from "../content/content-value.ts";
import type { ContentWriter } from "../content/content-writer.ts";
import { requiredAlgorithms, type ExpectedChecksum, type HashAlgorithm } from "../core/checksum.ts";
import { StoreError } from "../core/errors.ts";
import type { Method } from "../core/methods.ts";
import type { Content, Request, Result } from "../core/operations.ts";
import { validateWrite } from "../core/write-operation.ts";
import { faultOf, outcomeIn, type OutcomeMessage } from "../transport/message.ts";
import { applyFault } from "./apply-fault.ts";
import { observation } from "./call-observer.ts";
import { internalError, reasonOf, refusal, settle } from "./failure.ts";

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
    const outcome = outcomeIn(answer);
    const fault = faultOf(answer);
    if (fault !== undefined) await applyFault(fault);
    return settle({ ...operation, method }, outcome);
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
