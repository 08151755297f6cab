/** Calls of the record API: their headers, their log, and the faults that a test injects. */
import { FaultSchedule, matchesPattern, toPlainPattern } from "../../base/fault-schedule.ts";
import { problem, type Problem } from "../record/problem.ts";

/**
 * A fault matches calls by method and path. It answers in their place, or delays them. The order of
 * the calls alone decides which of them the fault hits.
 */
export interface ApiFault {
  readonly method: string | null;
  /** A path in which `*` stands for any characters: `/client/v4/zones/*` */
  readonly path: string;
  /** `null`: the call is only delayed */
  readonly status: number | null;
  readonly delayMilliseconds: number;
  /** The number of matching calls that pass before the fault hits one. */
  readonly after: number;
  /** The number of matching calls that the fault hits then. `null`: all of them */
  readonly times: number | null;
  /** "after": the call does its work, and only the answer is lost. */
  readonly when: "before" | "after";
}

export class FaultPlan {
  readonly #armed: readonly { readonly fault: ApiFault; readonly schedule: FaultSchedule }[];

  constructor(faults: readonly ApiFault[]) {
    this.#armed = faults.map((fault) => ({
      fault,
      schedule: new FaultSchedule({ first: fault.after + 1, times: fault.times ?? Infinity }),
    }));
  }

  get faults(): readonly ApiFault[] {
    return this.#armed.map(({ fault }) => fault);
  }

  /** The first fault that hits this call, or `null`. Every fault that matches counts the call. */
  take({ method, path }: { readonly method: string; readonly path: string }): ApiFault | null {
    let first: ApiFault | null = null;
    for (const { fault, schedule } of this.#armed) {
      if (fault.method !== null && fault.method !== method) continue;
      if (!matchesPattern(toPlainPattern(fault.path), path)) continue;
      if (schedule.countCall() !== null) first ??= fault;
    }
    return first;
  }
}

export function apiFaultProblem(status: number): Problem {
  if (status === 429) return problem.rateLimited();
  if (status === 403) return problem.notAllowed();
  return { ...problem.internal(), status, message: `Fault on demand: status ${status}` };
}

/** The header with the name of the program that makes a request. */
export const clientHeader = "x-ledge-client";
/** The name of a script, which calls through its binding or by `fetch()`. */
export const scriptClient = "script";

/** A call, as the companion worker reports it to a process that follows the calls. */
export interface LoggedCall {
  readonly id: number;
  /** When the request arrived: milliseconds since the epoch. */
  readonly at: number;
  readonly milliseconds: number;
  /** `null` for a program that does not say its name. */
  readonly client: string | null;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly errors: readonly Pick<Problem, "code" | "message">[];
}

/**
 * The header of a write of a record: its `modified_on`. The write is refused when the record was changed
 * after that time. The deployed service has no such header; the explorer sends it.
 */
export const unmodifiedHeader = "x-ledge-unmodified-since";

/**
 * The header with the id of a request that writes. A client of another process repeats a request
 * whose answer was lost, with the same id, and the zone executes the request once. Only the endpoint
 * for other processes reads the header.
 */
export const requestIdHeader = "x-ledge-request-id";
