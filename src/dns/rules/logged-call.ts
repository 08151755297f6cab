/** A call of the record API, as the companion worker reports it to a process that follows the calls. */
import type { Problem } from "../record/problem.ts";

/** The header with the name of the program that makes a request. */
export const clientHeader = "x-ledge-client";
/** The name of a script, which calls through its binding or by `fetch()`. */
export const scriptClient = "script";

export interface LoggedCall {
  /** Ascending in one runtime. */
  readonly id: number;
  /** When the request arrived: milliseconds since the epoch. */
  readonly at: number;
  readonly milliseconds: number;
  /** `null` for a program that does not say its name. */
  readonly client: string | null;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly status: number;
  readonly errors: readonly Pick<Problem, "code" | "message">[];
}
