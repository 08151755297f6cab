/** The faults that are in force, and which queries they hit. One list counts for all servers. */
import { FaultSchedule } from "../../base/fault-schedule.ts";
import {
  matchesQuestion,
  type FaultQuestion,
  type QueryFault,
  type QueryFaultInput,
  type ServedFault,
} from "./query-fault.ts";

export interface CountedFault extends QueryFaultInput {
  readonly matches: number;
  /** The queries that the fault has hit: at most the matches */
  readonly hits: number;
}

interface ArmedFault {
  readonly id: number;
  readonly fault: QueryFault;
  /** The test layer in which the fault was set; `null` outside of tests */
  readonly layer: number | null;
  /** Whether the fault is held by a connection, and ends with it */
  readonly isHeld: boolean;
  readonly schedule: FaultSchedule;
  matches: number;
  hits: number;
}

export class ArmedQueryFaults {
  #armed: ArmedFault[] = [];
  #count = 0;

  arm(fault: QueryFault, layer: number | null): void {
    this.#add(fault, layer, false);
  }

  /** Arms a fault until `release`. Returns its id. */
  hold(fault: QueryFault): number {
    return this.#add(fault, null, true);
  }

  release(ids: readonly number[]): void {
    this.#keep(({ id }) => !ids.includes(id));
  }

  hitsOf(id: number): number {
    return this.#armed.find((armed) => armed.id === id)?.hits ?? 0;
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

  /** Ends all faults but those that are held. Returns whether there were any. */
  clear(): boolean {
    return this.#keep(({ isHeld }) => isHeld);
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

  #add(fault: QueryFault, layer: number | null, isHeld: boolean): number {
    const schedule = new FaultSchedule(fault);
    const id = ++this.#count;
    this.#armed.push({ id, fault, layer, isHeld, schedule, matches: 0, hits: 0 });
    return id;
  }

  #keep(isKept: (fault: ArmedFault) => boolean): boolean {
    const before = this.#armed.length;
    this.#armed = this.#armed.filter(isKept);
    return this.#armed.length < before;
  }
}
