/** The faults in force, with their counts. There is one for all servers of the zones. */
import { FaultSchedule } from "../../base/fault-schedule.ts";
import {
  matchesQuestion,
  type FaultQuestion,
  type FaultTarget,
  type QueryFault,
  type QueryFaultInput,
} from "./query-fault.ts";

/** A fault as servers know it: without its counts. */
export interface ServedFault extends FaultTarget {
  readonly id: number;
}

/** A fault as it was given, with its counts. */
export interface CountedFault extends QueryFaultInput {
  /** The queries that the fault matches */
  readonly matches: number;
  /** The queries that the fault has hit: at most the matches */
  readonly hits: number;
}

interface ArmedFault {
  readonly id: number;
  readonly fault: QueryFault;
  /** The test layer in which the fault was set; `null` outside of tests */
  readonly layer: number | null;
  readonly schedule: FaultSchedule;
  matches: number;
  hits: number;
}

export class ArmedQueryFaults {
  #armed: ArmedFault[] = [];
  #count = 0;

  arm(fault: QueryFault, layer: number | null): void {
    const schedule = new FaultSchedule(fault);
    this.#armed.push({ id: ++this.#count, fault, layer, schedule, matches: 0, hits: 0 });
  }

  /** The id of the first fault that hits the question, or `null`. Every fault that matches counts it. */
  take(question: FaultQuestion): number | null {
    let taken: number | null = null;
    for (const armed of this.#armed) {
      if (!matchesQuestion(armed.fault.target, question)) continue;
      armed.matches += 1;
      if (armed.schedule.countCall() === null || taken !== null) continue;
      armed.hits += 1;
      taken = armed.id;
    }
    return taken;
  }

  /** Returns whether there were any. */
  clear(): boolean {
    return this.#keep(() => false);
  }

  /** Ends the faults of a test layer and of the layers above it. Returns whether there were any. */
  closeLayer(layer: number): boolean {
    return this.#keep((fault) => fault.layer === null || fault.layer < layer);
  }

  list(): CountedFault[] {
    return this.#armed.map(({ fault, matches, hits }) => ({ ...fault.given, matches, hits }));
  }

  served(): ServedFault[] {
    return this.#armed.map(({ id, fault }) => ({ id, ...fault.target }));
  }

  #keep(isKept: (fault: ArmedFault) => boolean): boolean {
    const before = this.#armed.length;
    this.#armed = this.#armed.filter(isKept);
    return this.#armed.length < before;
  }
}
