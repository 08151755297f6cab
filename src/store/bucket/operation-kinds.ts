/** What kinds of operations a batch has: whether it writes, and whether it needs space. */
import type { Method } from "../core/methods.ts";
import type { Operation, Outcome, Request } from "../core/operations.ts";

/** Whether a batch needs a transaction. Reads need none, and the order of its writes makes a put safe (`object-repository.ts`). */
export function needTransaction(operations: readonly Operation[]): boolean {
  const isSinglePut = operations.length === 1 && operations[0]?.method === "put";
  return !isSinglePut && !areReads(operations);
}

/** A refused write, or a conditional write whose condition does not hold, stores nothing. */
export function isStored(outcome: Outcome): boolean {
  return outcome.ok && outcome.value !== null;
}

/** Whether no operation writes. */
export function areReads(operations: readonly Operation[]): boolean {
  return operations.every(isRead);
}

/** Compares, frequent methods first: a set would compute the hash of every message's method. */
export function isRead({ method }: Operation): boolean {
  switch (method) {
    case "head":
    case "get":
    case "list":
    case "listUploads":
    case "listParts":
    case "getSettings":
    case "stats":
    case "checkDisk":
      return true;
    case "put":
    case "delete":
    case "createUpload":
    case "uploadPart":
    case "completeUpload":
    case "abortUpload":
    case "putSettings":
    case "createBucket":
    case "deleteBucket":
      return false;
  }
}

/** They free more space than they need. */
const freeingMethods: ReadonlySet<Method> = new Set(["delete", "abortUpload", "deleteBucket"]);

/** Whether an operation needs more space than it frees. */
export function needsSpace(operation: Operation): boolean {
  return !isRead(operation) && !freeingMethods.has(operation.method);
}

/** Whether a row may name a file after the operation that no row has named before. */
export function storesFile(operation: Operation): boolean {
  return "content" in operation && "blob" in operation.content;
}

/** Whether a batch is a question about the disk, which travels by itself. */
export function asksForDisk(
  operations: readonly Operation[],
): operations is readonly [Request<"checkDisk">] {
  return operations[0]?.method === "checkDisk";
}

export function isDelete({ method }: Operation): boolean {
  return method === "delete";
}
