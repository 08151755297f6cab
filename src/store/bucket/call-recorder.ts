/**
 * The last calls of other processes, for a process that follows them (the explorer).
 *
 * All buckets of a runtime and the endpoint live in one isolate and share one recorder. Calls are
 * recorded while a process asks for them; otherwise a call costs one look at `isFollowed`. Several
 * processes may follow: each says the last call that it has.
 */
import type { Outcome } from "../core/operations.ts";
import { describeCall, type Call } from "../core/fault.ts";
import type { BucketService } from "./bucket-service.ts";
import {
  type FollowedCall,
  type FollowedCalls,
  operationIn,
  outcomeIn,
  type OperationMessage,
  type ChannelAnswer,
  type ChannelRequest,
  decodeFrame,
  encodeFrame,
} from "../client/message.ts";

/** The process that makes a call, and the bucket that it calls. */
interface Caller {
  readonly client: string;
  readonly bucketName: string;
}

/** A flood of calls between two questions must not take the memory. */
const callsMax = 5000;
/** A process that follows asks several times in a second. */
const silenceMilliseconds = 10_000;

class CallRecorder {
  isFollowed = false;
  #askedAt = 0;
  #lastId = 0;
  #calls: FollowedCall[] = [];

  /** @param after `null` for the first question: later calls are of interest */
  answer(run: string, after: number | null): FollowedCalls {
    this.isFollowed = true;
    this.#askedAt = Date.now();
    const last = this.#lastId;
    const calls = after === null ? [] : this.#calls.filter(({ id }) => id > after);
    return { run, last, calls };
  }

  /** @param text of an error */
  add(client: string, call: Call, started: number, text: string | null): void {
    const now = Date.now();
    if (now - this.#askedAt > silenceMilliseconds) {
      this.isFollowed = false;
      this.#calls = [];
      return;
    }
    // Twice the limit, so that the array moves rarely.
    if (this.#calls.length >= 2 * callsMax) this.#calls = this.#calls.slice(-callsMax);
    const id = ++this.#lastId;
    this.#calls.push({ ...call, id, at: started, milliseconds: now - started, client, text });
  }
}

export const callRecorder = new CallRecorder();

/** `execute` for calls of another process. */
export function recorded(
  execute: BucketService["execute"],
  caller: Caller,
): BucketService["execute"] {
  return (messages, requestId) => {
    if (!callRecorder.isFollowed) return execute(messages, requestId);
    const started = Date.now();
    const answers = execute(messages, requestId);
    if (!(answers instanceof Promise)) {
      record(caller, started, messages, answers.map(outcomeIn));
      return answers;
    }
    return answers.then((arrived) => {
      record(caller, started, messages, arrived.map(outcomeIn));
      return arrived;
    });
  };
}

function record(
  { client, bucketName }: Caller,
  started: number,
  messages: readonly OperationMessage[],
  outcomes: readonly Outcome[],
): void {
  for (const [index, message] of messages.entries()) {
    const outcome = outcomes[index] as Outcome;
    const call = describeCall(bucketName, operationIn(message), outcome);
    if (call === null) continue;
    callRecorder.add(client, call, started, outcome.ok ? null : (outcome.text ?? null));
  }
}

/**
 * A channel: a WebSocket from another process to the object of a bucket.
 *
 * A request to the endpoint makes a context in workerd, an object's stub and an RPC call, which take
 * more time than a small operation. A channel makes them once.
 *
 * workerd holds the messages that an object sends until its writes are durable, as it holds
 * responses. When a batch fails, the channel ends without an answer, as workerd ends all channels
 * of an object whose commit has failed. Then the client sends the batch again, by a request with
 * the same id, which the endpoint answers with the reason.
 */

/** RFC 6455, section 7.4.1: the other end has an unexpected problem. */
const internalErrorCode = 1011;

/** @returns the response to the request for an upgrade */
export function openChannel(execute: BucketService["execute"]): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  const answer = async (data: ArrayBuffer): Promise<void> => {
    try {
      const { id, messages } = decodeFrame<ChannelRequest>(data);
      const executed = execute([...messages], id);
      const answers = executed instanceof Promise ? await executed : executed;
      server.send(encodeFrame({ id, answers } satisfies ChannelAnswer));
    } catch {
      server.close(internalErrorCode);
    }
  };
  server.accept();
  server.binaryType = "arraybuffer";
  server.addEventListener("message", ({ data }) => void answer(data as ArrayBuffer));
  server.addEventListener("close", () => server.close());
  return new Response(null, { status: 101, webSocket: client });
}
