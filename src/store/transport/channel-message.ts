/** The messages of a channel (`bucket/channel.ts`), each a frame. */
import type { OperationMessage, OutcomeMessage } from "./message.ts";

export interface ChannelRequest {
  /** Of the request, the same in every repetition. */
  readonly id: string;
  readonly messages: readonly OperationMessage[];
}

export interface ChannelAnswer {
  /** Of the request. Answers may arrive in another order than the requests. */
  readonly id: string;
  readonly answers: readonly OutcomeMessage[];
}
