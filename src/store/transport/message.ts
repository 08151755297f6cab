/**
 * The messages between a client and a bucket: operations, and their outcomes.
 *
 * A test puts an envelope around a message. The envelope of an operation adds the layer of
 * isolation in which the call was made (`base/undo-journal.ts`); the envelope of an outcome
 * adds a fault, which the client applies to the answer (`client/apply-fault.ts`). Outside of tests
 * an operation and its outcome are the messages, and nothing is added.
 */
import type { Method } from "../core/methods.ts";
import type { Operation, Outcome } from "../core/operations.ts";
import { shortAnswer, type ShortAnswer } from "../core/short-form.ts";

interface LayeredOperation {
  readonly layer: number;
  readonly operation: Operation;
}

interface FaultyOutcome<M extends Method = Method> {
  readonly fault: AnswerFault;
  readonly outcome: Outcome<M>;
}

export type OperationMessage = Operation | LayeredOperation;
export type OutcomeMessage<M extends Method = Method> = Outcome<M> | FaultyOutcome<M>;
/** A short answer. In a test its long form may have an envelope. */
export type ShortMessage = ShortAnswer<OutcomeMessage>;

export interface AnswerFault {
  readonly delayMilliseconds?: number;
  /** The connection is lost: before the answer, or after so many bytes of the body of a `get`. */
  readonly lost?: "answer" | { readonly afterBytes: number };
  /** The test of the call has ended and the operation was not executed: the call never returns. */
  readonly late?: true;
}

export function outcomeIn<M extends Method>(message: OutcomeMessage<M>): Outcome<M> {
  return "fault" in message ? message.outcome : message;
}

export function faultOf(message: OutcomeMessage): AnswerFault | undefined {
  return "fault" in message ? message.fault : undefined;
}

/** The short form of the only answer of `answers`. */
export function shortMessage(answers: readonly OutcomeMessage[]): ShortMessage {
  const answer = answers[0] as OutcomeMessage;
  return "fault" in answer ? answer : shortAnswer(answer);
}

/** The message of an operation: in an envelope if the call has a layer. */
export function inLayer(operation: Operation, layer: number | undefined): OperationMessage {
  return layer === undefined ? operation : { layer, operation };
}

export function operationIn(message: OperationMessage): Operation {
  return isLayered(message) ? message.operation : message;
}

/** The operations of messages: the same array if no message has an envelope. */
export function operationsIn(messages: readonly OperationMessage[]): readonly Operation[] {
  return messages.some(isLayered) ? messages.map(operationIn) : (messages as readonly Operation[]);
}

export function layerOf(message: OperationMessage): number | undefined {
  return isLayered(message) ? message.layer : undefined;
}

function isLayered(message: OperationMessage): message is LayeredOperation {
  return "layer" in message;
}
