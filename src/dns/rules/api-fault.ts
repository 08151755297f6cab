/**
 * Failures on demand: a fault matches calls by method and path and answers in their place, or
 * delays them. Which call fails depends only on the order of calls, never on chance.
 */
import { problem, type Problem } from "../record/problem.ts";

export interface Fault {
  /** Any method without it. */
  readonly method: string | null;
  /** A path with `*` for any run of characters, e.g. /client/v4/zones/…/dns_records*. */
  readonly path: string;
  /** Without it the call is only delayed. */
  readonly status: number | null;
  readonly delayMilliseconds: number;
  /** This many matching calls pass first. */
  readonly after: number;
  /** This many fail then; every one when null. */
  readonly times: number | null;
  /** "after" lets the call do its work and loses the answer. */
  readonly when: "before" | "after";
}

const delayMillisecondsMax = 60_000;

/** Throws an Error that names the place, for both the configuration and the control. */
export function acceptFault(input: unknown, place: string): Fault {
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

function matches(fault: Fault, call: { readonly method: string; readonly path: string }): boolean {
  if (fault.method !== null && fault.method !== call.method) return false;
  const pattern = fault.path
    .split("*")
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${pattern.join(".*")}$`).test(call.path);
}

/** The faults in force, with how often each was met. */
export class FaultPlan {
  #faults: { readonly fault: Fault; met: number }[];

  constructor(faults: readonly Fault[]) {
    this.#faults = faults.map((fault) => ({ fault, met: 0 }));
  }

  get faults(): readonly Fault[] {
    return this.#faults.map(({ fault }) => fault);
  }

  /** The fault of this call, if any; every fault that matches counts it. */
  take(call: { readonly method: string; readonly path: string }): Fault | null {
    let taken: Fault | null = null;
    for (const entry of this.#faults) {
      if (!matches(entry.fault, call)) continue;
      entry.met += 1;
      const turn = entry.met - entry.fault.after;
      const due = turn > 0 && (entry.fault.times === null || turn <= entry.fault.times);
      if (due) taken ??= entry.fault;
    }
    return taken;
  }
}

export function describeFault(status: number): Problem {
  if (status === 429) return problem.rateLimited();
  if (status === 403) return problem.notAllowed();
  return { ...problem.internal(), status, message: `Fault on demand: status ${status}` };
}
