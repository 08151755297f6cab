/**
 * The faults of a store that is in use: failing and slow calls, latency of every call, and its clock.
 *
 * Each connection holds faults of its own, and they end with the connection. So a
 * process that is killed leaves nothing unusual behind. With several connections, a call meets the
 * faults of all of them, in the order of the connections, and the longest latency. The clock is that of
 * the connection that has moved it last.
 *
 * Faults concern the calls of scripts and of other programs. The explorer, in which a person sees
 * and ends the faults, is not affected. Without faults, a call costs one look at
 * `affectsCalls`. The isolate of the buckets has one `heldFaults`.
 */
import {
  ArmedFault,
  decideFaults,
  injectFaults,
  type Decision,
  type InjectedFault,
} from "../core/fault.ts";
import { callNames } from "../core/errors.ts";
import type { Operation } from "../core/operations.ts";
import type { ClientName, RequestedFaults } from "../client/message.ts";
import { storeClock, storeTestSession } from "./test-session.ts";

/** Faults do not concern the calls of this program. */
export const exemptClient: ClientName = "explorer";

const arrivalStepMilliseconds = 5;
/** Connecting takes 20 milliseconds, and longer on a busy machine. */
const arrivalMillisecondsMax = 3_000;

interface Held {
  faults: readonly ArmedFault[];
  latencyMilliseconds: number;
  clockOffsetMilliseconds: number;
  /** The last hits, of the faults of all connections. */
  readonly injected: InjectedFault[];
}

/** More than a test looks at. */
const injectedMax = 200;

const usual: RequestedFaults = {
  faults: [],
  latencyMilliseconds: 0,
  clockOffsetMilliseconds: 0,
};

class HeldFaults {
  affectsCalls = false;
  readonly #held = new Set<Held>();
  #latencyMilliseconds = 0;
  #clockOffsetMilliseconds = 0;
  #expectation: "none" | "expected" | "settled" = "none";

  /**
   * The process that has started the runtime holds faults, and is about to connect. Affected calls
   * wait for the faults.
   */
  expect(): void {
    if (this.#expectation !== "none") return;
    this.#expectation = "expected";
    this.#summarize();
  }

  /** Resolves when expected faults are in force. A process that does not connect ends the wait. */
  async arrival(): Promise<void> {
    for (let waited = 0; this.#expectation === "expected"; waited += arrivalStepMilliseconds) {
      if (waited >= arrivalMillisecondsMax) this.#settle();
      else await scheduler.wait(arrivalStepMilliseconds);
    }
  }

  /** Faults for a connection: none at first. */
  add(): Held {
    const held = { faults: [], latencyMilliseconds: 0, clockOffsetMilliseconds: 0, injected: [] };
    this.#held.add(held);
    return held;
  }

  /**
   * Replaces the faults of a connection. A fault that stays goes on counting: its text identifies
   * it.
   *
   * @returns whether the clock has moved
   */
  replace(held: Held, requested: RequestedFaults | null): boolean {
    const { faults, latencyMilliseconds, clockOffsetMilliseconds } = requested ?? usual;
    const before = new Map(held.faults.map((each) => [each.fault.text, each]));
    held.faults = faults.map((fault) => before.get(fault.text) ?? new ArmedFault(fault));
    const isClockMoved = clockOffsetMilliseconds !== held.clockOffsetMilliseconds;
    held.latencyMilliseconds = latencyMilliseconds;
    held.clockOffsetMilliseconds = clockOffsetMilliseconds;
    if (isClockMoved) {
      this.#held.delete(held);
      this.#held.add(held);
    }
    this.#settle();
    return isClockMoved;
  }

  remove(held: Held): void {
    this.#held.delete(held);
    this.#summarize();
  }

  decide(bucketName: string, operation: Operation): Decision {
    if (callNames[operation.method] === undefined) return { execute: true };
    const faults = [...this.#held].flatMap((each) => each.faults);
    const injected = injectFaults(faults, bucketName, operation);
    if (injected.length > 0) this.#note(injected);
    const decision = decideFaults(operation, injected);
    const delay = (decision.fault?.delayMilliseconds ?? 0) + this.#latencyMilliseconds;
    if (delay === 0) return decision;
    return { ...decision, fault: { ...decision.fault, delayMilliseconds: delay } };
  }

  #note(injected: readonly InjectedFault[]): void {
    for (const held of this.#held) {
      if (held.injected.push(...injected) > injectedMax) held.injected.splice(0, injectedMax / 2);
    }
  }

  #settle(): void {
    this.#expectation = "settled";
    this.#summarize();
  }

  #summarize(): void {
    const all = [...this.#held];
    this.#latencyMilliseconds = Math.max(0, ...all.map((each) => each.latencyMilliseconds));
    this.affectsCalls =
      this.#expectation === "expected" ||
      this.#latencyMilliseconds > 0 ||
      all.some(({ faults }) => faults.length > 0);
    const last = all.findLast((each) => each.clockOffsetMilliseconds !== 0);
    const offset = last?.clockOffsetMilliseconds ?? 0;
    // A test may have moved the clock, too.
    storeClock.offsetMilliseconds += offset - this.#clockOffsetMilliseconds;
    this.#clockOffsetMilliseconds = offset;
  }
}

export const heldFaults = new HeldFaults();

/**
 * Which operations of a batch are executed, by the faults of a test and by held faults.
 *
 * @param isAffected whether held faults concern the caller
 */
export function decideCalls(
  bucketName: string,
  operations: readonly Operation[],
  isAffected: boolean,
): Decision[] {
  return operations.map((operation) => {
    const decision = storeTestSession.decide(bucketName, operation);
    const isHit = !decision.execute || "replacement" in decision || "fault" in decision;
    if (isHit || !isAffected) return decision;
    return heldFaults.decide(bucketName, operation);
  });
}

/**
 * The id under which the outcomes of a request are stored. A repetition of the request may meet other
 * faults and execute other operations, so an id stands for the operations that are executed.
 */
export function executedRequestId(
  requestId: string | undefined,
  decisions: readonly Decision[],
): string | undefined {
  if (requestId === undefined || decisions.every(({ execute }) => execute)) return requestId;
  const indices = decisions.flatMap(({ execute }, index) => (execute ? [index] : []));
  return `${requestId}:${indices.join(",")}`;
}
