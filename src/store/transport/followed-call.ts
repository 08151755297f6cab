/** The calls of other processes, as the owner reports them to a process that follows them. */
import type { Call } from "../core/recorded-call.ts";

export interface FollowedCall extends Call {
  /** Ascending in one runtime. */
  readonly id: number;
  /** When the call began: milliseconds since the epoch. */
  readonly at: number;
  readonly milliseconds: number;
  /** The name that the program gives itself; empty without a name. */
  readonly client: string;
  /** The text of the error, or `null`. */
  readonly text: string | null;
}

/** The answer to `GET /calls?after=ID`. */
export interface FollowedCalls {
  /** The run id of the runtime. The ids of another runtime are others. */
  readonly run: string;
  /** The id of the last call; the next question has it. */
  readonly last: number;
  readonly calls: readonly FollowedCall[];
}
