/**
 * What a client does when a batch fails as a whole, without an answer.
 *
 * A commit that fails ends the bucket object, and workerd hides the reason. So the client asks the
 * bucket about its disk. If the disk is the reason, reads and deletes are sent again: on a full
 * disk the bucket now makes room for them. Puts fail with a text that names the disk. The bucket
 * removes the files of the batch that no row names.
 */
import type { DiskProblem } from "../../state/disk.ts";
import { StoreError } from "../core/errors.ts";
import { bytesCarried } from "../core/operation-size.ts";
import type { DiskQuestion, Operation } from "../core/operations.ts";
import { refusedOutcome } from "../core/refused-outcome.ts";
import {
  operationIn,
  outcomeIn,
  type OperationMessage,
  type OutcomeMessage,
} from "../transport/message.ts";

type Send = (messages: OperationMessage[]) => Promise<OutcomeMessage[]>;

/** How a client recovers from a failed batch. */
export interface Recovery {
  readonly send: Send;
  readonly disk: StoreDiskClient;
  /** Whether `send` adds an id to each batch, so that the bucket executes a repeated batch once. */
  readonly hasRequestId: boolean;
}

/** The disk of the store, for the case that the bucket does not answer (`bucket/store-disk.ts`). */
export class StoreDiskClient {
  readonly #disk: Fetcher;
  readonly #bucketName: string;

  constructor(disk: Fetcher, bucketName: string) {
    this.#disk = disk;
    this.#bucketName = bucketName;
  }

  /** What to tell callers; `null` when the disk is in order. */
  async findProblem(bytes: number): Promise<DiskProblem | null> {
    const question: DiskQuestion = { bucketName: this.#bucketName, bytes };
    const body = JSON.stringify(question);
    const response = await this.#disk.fetch("http://disk/", { method: "POST", body });
    return response.json();
  }
}

/**
 * @throws the error of the batch when the disk is not its reason; StoreError when the disk is its
 *   reason, and the bucket cannot answer
 */
export async function answerFailedBatch(
  { send, disk, hasRequestId }: Recovery,
  messages: readonly OperationMessage[],
  error: unknown,
): Promise<OutcomeMessage[]> {
  const operations = messages.map(operationIn);
  const bytes = operations.reduce((sum, operation) => sum + bytesCarried(operation), 0);
  const problem = await findDiskProblem(send, disk, bytes, operations.flatMap(blobOf));
  if (problem === null) throw error;
  const isRepeated = (operation: Operation): boolean => hasRequestId || mayRepeat(operation);
  const repeated = messages.filter((message) => isRepeated(operationIn(message)));
  const answers = repeated.length === 0 ? [] : await send(repeated).catch(() => null);
  if (answers === null) throw new StoreError(10001, problem.text, problem);
  const next = answers.values();
  return operations.map((operation) =>
    isRepeated(operation) ? (next.next().value as OutcomeMessage) : refusedOutcome(problem),
  );
}

/**
 * Asks the bucket about its disk. A bucket that cannot be opened gets space, and is asked again.
 *
 * @param blobs files of a failed batch: the bucket removes them unless a row names them
 * @returns what to tell callers; `null` when the disk is in order
 */
export async function findDiskProblem(
  send: Send,
  disk: StoreDiskClient,
  bytes: number,
  blobs: readonly string[] = [],
): Promise<DiskProblem | null> {
  const ask = async (): Promise<DiskProblem | null> => {
    const [answer] = await send([{ method: "checkDisk", bytes, blobs }]);
    const outcome = outcomeIn(answer as OutcomeMessage<"checkDisk">);
    if (outcome.ok) return outcome.value.problem;
    throw new Error(outcome.text);
  };
  try {
    return await ask();
  } catch {
    const problem = await disk.findProblem(bytes);
    return ask().catch(() => problem);
  }
}

function blobOf(operation: Operation): string[] {
  const isWrite = operation.method === "put" || operation.method === "uploadPart";
  return isWrite && "blob" in operation.content ? [operation.content.blob] : [];
}

/** Whether an operation may be executed again when the disk has refused its first execution. */
function mayRepeat({ method }: Operation): boolean {
  return !["put", "createUpload", "uploadPart", "completeUpload"].includes(method);
}
