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
import type { Operation, Outcome } from "../core/operations.ts";
import {
  operationIn,
  outcomeIn,
  type OperationMessage,
  type OutcomeMessage,
} from "../transport/message.ts";

type Send = (messages: OperationMessage[]) => Promise<OutcomeMessage[]>;

/** @throws the error of the batch when the disk is not its reason */
export async function answerFailedBatch(
  send: Send,
  messages: readonly OperationMessage[],
  error: unknown,
): Promise<OutcomeMessage[]> {
  const operations = messages.map(operationIn);
  const bytes = operations.reduce((sum, operation) => sum + bytesCarried(operation), 0);
  const disk = await checkDisk(send, bytes, operations.flatMap(blobOf));
  if (disk === null || disk.problem === null) throw error;
  const refusal = refuse(disk.problem);
  if (
    operations.some((operation) =>
      blobOf(operation).some((blob) => !disk.unreferenced.includes(blob)),
    )
  ) {
    // The bucket has committed the batch, or cannot be asked: the files must stay.
    throw new StoreError(10001, disk.problem);
  }
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

/** @returns what the bucket says of its disk; `null` when the bucket does not answer */
export async function checkDisk(
  send: Send,
  bytes: number,
  blobs: readonly string[] = [],
): Promise<{ problem: string | null; unreferenced: string[] } | null> {
  try {
    const [answer] = await send([{ method: "checkDisk", bytes, blobs }]);
    const outcome = outcomeIn(answer as OutcomeMessage<"checkDisk">);
    return outcome.ok ? outcome.value : null;
  } catch {
    return null;
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
