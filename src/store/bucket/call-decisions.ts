/** Which operations of a batch are executed, by the faults of a test and by conditions. */
import { operationIn, type OperationMessage } from "../transport/message.ts";
import type { Decision } from "./fault-decision.ts";
import { heldConditions } from "./held-conditions.ts";
import { storeTestSession } from "./test-session.ts";

/** @param isAffected whether conditions concern the caller */
export function decideCalls(
  bucketName: string,
  messages: readonly OperationMessage[],
  isAffected: boolean,
): Decision[] {
  return messages.map((message) => {
    const decision = storeTestSession.decide(bucketName, message);
    const isHit = !decision.execute || "replacement" in decision || "fault" in decision;
    if (isHit || !isAffected) return decision;
    return heldConditions.decide(bucketName, operationIn(message));
  });
}

/**
 * The id under which the outcomes of a request are stored. A repetition of the request may meet other
 * faults and execute other operations, so an id stands for the operations that are executed.
 */
export function executedRequestId(
  requestId: string | undefined,
  decisions: readonly Decision[],
): string | undefined {
  if (requestId === undefined || decisions.every(({ execute }) => execute)) return requestId;
  const indices = decisions.flatMap(({ execute }, index) => (execute ? [index] : []));
  return `${requestId}:${indices.join(",")}`;
}
