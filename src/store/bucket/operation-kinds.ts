/** What kinds of operations a batch has: whether it writes, and whether it needs space. */
import type { Method } from "../core/methods.ts";
import type { Operation, Outcome } from "../core/operations.ts";

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

export function isRead({ method }: Operation): boolean {
  return readMethods.has(method);
}

const readMethods: ReadonlySet<Method> = new Set([
  "head",
  "get",
  "list",
  "listUploads",
  "listParts",
  "getSettings",
  "stats",
  "checkDisk",
]);

/** They free more space than they need. */
const freeingMethods: ReadonlySet<Method> = new Set(["delete", "abortUpload", "deleteBucket"]);

/** Whether an operation needs more space than it frees. */
export function needsSpace({ method }: Operation): boolean {
  return !readMethods.has(method) && !freeingMethods.has(method);
}
