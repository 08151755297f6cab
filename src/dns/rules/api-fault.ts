/**
 * Faults that a test injects into calls of the record API.
 *
 * A fault matches calls by method and path. It answers in their place, or delays them. The order
 * of the calls alone decides which of them the fault hits.
 */
import { FaultSchedule } from "../../base/fault-schedule.ts";
import { matchesPattern, toPlainPattern } from "../../base/text-pattern.ts";
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

const delayMillisecondsMax = 60_000;

/**
 * Checks a fault of the configuration file or of the test control.
 *
 * @throws Error whose message begins with `place`
 */
export function acceptApiFault(input: unknown, place: string): ApiFault {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new Error(`${place} must be a table`);
  }
  const given = input as Readonly<Record<string, unknown>>;
  const count = (name: string, max = Number.MAX_SAFE_INTEGER): number | null => {
    const value = given[name];
    if (value === undefined || value === null) return null;
    if (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max) {
      return value as number;
    }
    throw new Error(`${place}.${name} must be a whole number of at most ${max}`);
  };
  const { method = null, path = "*", when = "before" } = given;
  if (method !== null && typeof method !== "string")
    throw new Error(`${place}.method must be a string`);
  if (typeof path !== "string") throw new Error(`${place}.path must be a string`);
  if (when !== "before" && when !== "after") {
    throw new Error(`${place}.when must be "before" or "after"`);
  }
  const status = count("status", 599);
  if (status !== null && status < 400) throw new Error(`${place}.status must be from 400 to 599`);
  const delayMilliseconds = count("delay_ms", delayMillisecondsMax) ?? 0;
  if (status === null && delayMilliseconds === 0) {
    throw new Error(`${place} needs a status or a delay_ms`);
  }
  return {
    method: method?.toUpperCase() ?? null,
    path,
    status,
    delayMilliseconds,
    after: count("after") ?? 0,
    times: count("times"),
    when,
  };
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
