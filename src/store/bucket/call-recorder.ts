/**
 * The last calls of the script and of other processes, for a process that follows them (the explorer).
 *
 * All buckets of a runtime and the endpoint live in one isolate and share one recorder. Calls are
 * recorded while a process asks for them; otherwise a call costs one look at `isFollowed`. Several
 * processes may follow: each says the last call that it has.
 */
import type { Operation, Outcome } from "../core/operations.ts";
import { describeCall, type Call } from "../core/fault.ts";
import type { BucketService } from "./bucket-service.ts";
import type { FollowedCall, FollowedCalls } from "../client/message.ts";

interface Caller {
  readonly client: string;
  readonly bucketName: string;
}

type RecordedCall = Omit<Call, "method"> & Pick<FollowedCall, "method">;

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

  add(client: string, call: RecordedCall, started: number, text: string | null): void {
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

/** `execute`, with a record of its calls. */
export function recorded(
  execute: BucketService["execute"],
  { client, bucketName }: Caller,
): BucketService["execute"] {
  return (operations, requestId) => {
    if (!callRecorder.isFollowed) return execute(operations, requestId);
    const started = Date.now();
    const record = (outcomes: Outcome[]): Outcome[] => {
      for (const [index, operation] of operations.entries()) {
        const outcome = outcomes[index] as Outcome;
        const call = describe(bucketName, operation, outcome);
        if (call !== null)
          callRecorder.add(client, call, started, outcome.ok ? null : outcome.text);
      }
      return outcomes;
    };
    const outcomes = execute(operations, requestId);
    return outcomes instanceof Promise ? outcomes.then(record) : record(outcomes);
  };
}

function describe(bucket: string, operation: Operation, outcome: Outcome): RecordedCall | null {
  const { method } = operation;
  if (method !== "createBucket" && method !== "deleteBucket") {
    return describeCall(bucket, operation, outcome);
  }
  const call = { bucket, method, key: "", keys: [], bytes: 0 };
  if (outcome.ok) return { ...call, outcome: "ok" };
  return { ...call, outcome: "error", code: outcome.code };
}
