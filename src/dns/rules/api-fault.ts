/**
 * Faults that a test injects into calls of the record API.
 *
 * A fault matches calls by method and path. It answers in their place, or delays them. The order
 * of the calls alone decides which of them the fault hits.
 */
import { FaultSchedule, matchesPattern, toPlainPattern } from "../../base/fault-schedule.ts";
import { problem, type Problem } from "../record/problem.ts";

export interface ApiFault {
  /** `null`: every method */
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

/** The faults in force, each with its count of matching calls. */
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
