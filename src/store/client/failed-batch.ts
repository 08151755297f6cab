/**
 * What a client does when a batch fails as a whole, without an answer.
 *
 * A commit that fails ends the bucket object, and workerd hides the reason. So the client asks the
 * bucket about its disk. If the disk is the reason, reads and deletes are sent again: on a full
 * disk the bucket now makes room for them. Puts are not repeated, and fail with a text that names
 * the disk. The bucket also says whether a row names the file of a failed put; a file that no row
 * names is garbage, and the writer removes it as after every refused put.
 */
import { StoreError } from "../core/errors.ts";
import { bytesCarried } from "../core/operation-size.ts";
import type { DiskQuestion, Operation, Outcome, Result } from "../core/operations.ts";
import {
  operationIn,
  outcomeIn,
  type OperationMessage,
  type OutcomeMessage,
} from "../transport/message.ts";

type Send = (messages: OperationMessage[]) => Promise<OutcomeMessage[]>;

/** The disk of the store, for the case that the bucket does not answer (`bucket/store-disk.ts`). */
export class StoreDiskClient {
  readonly #disk: Fetcher;
  readonly #bucketName: string;

  constructor(disk: Fetcher, bucketName: string) {
    this.#disk = disk;
    this.#bucketName = bucketName;
  }

  /** What to tell callers; `null` when the disk is in order. */
  async findProblem(bytes: number): Promise<string | null> {
    const question: DiskQuestion = { bucketName: this.#bucketName, bytes };
    const body = JSON.stringify(question);
    const response = await this.#disk.fetch("http://disk/", { method: "POST", body });
    return response.json();
  }
}

/**
 * @throws the error of the batch when the disk is not its reason; StoreError when the disk is its
 *   reason, and it is not known whether the batch was committed
 */
export async function answerFailedBatch(
  send: Send,
  disk: StoreDiskClient,
  messages: readonly OperationMessage[],
  error: unknown,
): Promise<OutcomeMessage[]> {
  const operations = messages.map(operationIn);
  const bytes = operations.reduce((sum, operation) => sum + bytesCarried(operation), 0);
  const blobs = operations.flatMap(blobOf);
  const { problem, unreferenced } = await checkDisk(send, disk, bytes, blobs);
  if (problem === null) throw error;
  // A file that a row may name must stay.
  if (blobs.some((blob) => !unreferenced.includes(blob))) throw new StoreError(10001, problem);
  const refusal = refuse(problem);
  const repeated = messages.filter((message) => isRepeatable(operationIn(message)));
  let answers: OutcomeMessage[];
  try {
    answers = repeated.length === 0 ? [] : await send(repeated);
  } catch {
    answers = repeated.map(() => refusal);
  }
  const next = answers.values();
  return operations.map((operation) =>
    isRepeatable(operation) ? (next.next().value as OutcomeMessage) : refusal,
  );
}

/** Asks the bucket about its disk. A bucket that cannot be opened gets space, and is asked again. */
export async function checkDisk(
  send: Send,
  disk: StoreDiskClient,
  bytes: number,
  blobs: readonly string[] = [],
): Promise<Result<"checkDisk">> {
  const ask = async (): Promise<Result<"checkDisk">> => {
    const [answer] = await send([{ method: "checkDisk", bytes, blobs }]);
    const outcome = outcomeIn(answer as OutcomeMessage<"checkDisk">);
    if (outcome.ok) return outcome.value;
    throw new Error(outcome.text);
  };
  try {
    return await ask();
  } catch {
    const problem = await disk.findProblem(bytes);
    return ask().catch(() => ({ problem, unreferenced: [] }));
  }
}

function refuse(problem: string): Outcome {
  const { code, message } = new StoreError(10001, problem);
  return { ok: false, code, text: message };
}

function blobOf(operation: Operation): string[] {
  const isWrite = operation.method === "put" || operation.method === "uploadPart";
  return isWrite && "blob" in operation.content ? [operation.content.blob] : [];
}

/** Whether an operation may be executed twice when the disk has refused its first execution. */
function isRepeatable({ method }: Operation): boolean {
  return !["put", "createUpload", "uploadPart", "completeUpload"].includes(method);
}
