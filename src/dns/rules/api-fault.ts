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
