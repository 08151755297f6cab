/**
 * The unusual conditions of a store that is in use: faults and latency of its calls, and its clock.
 *
 * Each connection that asks for conditions holds its own, and they end with the connection. So a
 * process that is killed leaves nothing unusual behind. With several connections, a call meets the
 * faults of all of them, in the order of the connections, and the longest latency. The clock is that of
 * the connection that has moved it last.
 *
 * Conditions concern the calls of scripts and of other programs. The explorer, in which a person sees
 * and ends the conditions, is not affected. Without conditions, a call costs one look at
 * `affectsCalls`. The isolate of the buckets has one `heldConditions`.
 */
import type { Operation } from "../core/operations.ts";
import {
  callMethodOf,
  keysOf,
  ArmedFault,
  type StoreFault,
  decideFault,
  type Decision,
} from "../core/fault.ts";
import {
  type ClientName,
  type RequestedConditions,
  type ConditionsReport,
  type ConditionsRequest,
} from "../client/message.ts";
import { storeClock, storeTestSession } from "./test-session.ts";

/** Conditions do not concern the calls of this program. */
export const exemptClient: ClientName = "explorer";

const arrivalStepMilliseconds = 5;
/** Connecting takes 20 milliseconds, and longer on a busy machine. */
const arrivalMillisecondsMax = 3_000;

class HeldConditions {
  /** Whether calls may fail or take longer. */
  affectsCalls = false;
  readonly #holders = new Set<ConditionsHolder>();
  #latencyMilliseconds = 0;
  #clockOffsetMilliseconds = 0;
  #expectation: "none" | "expected" | "settled" = "none";

  /**
   * The process that has started the runtime holds conditions, and is about to connect. Affected calls
   * wait for the conditions.
   */
  expect(): void {
    if (this.#expectation !== "none") return;
    this.#expectation = "expected";
    this.#summarize();
  }

  /** Resolves when expected conditions are in force. A process that does not connect ends the wait. */
  async arrival(): Promise<void> {
    for (let waited = 0; this.#expectation === "expected"; waited += arrivalStepMilliseconds) {
      if (waited >= arrivalMillisecondsMax) this.#settle();
      else await scheduler.wait(arrivalStepMilliseconds);
    }
  }

  /** Conditions for a connection: none at first. */
  add(): ConditionsHolder {
    const holder = new ConditionsHolder((isClockMoved) => this.#update(holder, isClockMoved));
    this.#holders.add(holder);
    return holder;
  }

  remove(holder: ConditionsHolder): void {
    this.#holders.delete(holder);
    this.#summarize();
  }

  decide(bucketName: string, operation: Operation): Decision {
    const method = callMethodOf(operation);
    if (method === null) return { execute: true };
    const call = { bucket: bucketName, method, keys: keysOf(operation) };
    const hit = [...this.#holders]
      .flatMap(({ faults }) => faults)
      .find((fault) => fault.take(call));
    const decision: Decision =
      hit === undefined ? { execute: true } : decideFault(operation, hit.fault);
    const delay = (decision.fault?.delayMilliseconds ?? 0) + this.#latencyMilliseconds;
    if (delay === 0) return decision;
    return { ...decision, fault: { ...decision.fault, delayMilliseconds: delay } };
  }

  #update(holder: ConditionsHolder, isClockMoved: boolean): void {
    if (isClockMoved) {
      this.#holders.delete(holder);
      this.#holders.add(holder);
    }
    this.#settle();
  }

  #settle(): void {
    this.#expectation = "settled";
    this.#summarize();
  }

  #summarize(): void {
    const holders = [...this.#holders];
    this.#latencyMilliseconds = Math.max(0, ...holders.map((each) => each.latencyMilliseconds));
    this.affectsCalls =
      this.#expectation === "expected" ||
      this.#latencyMilliseconds > 0 ||
      holders.some(({ faults }) => faults.length > 0);
    const last = holders.findLast((each) => each.clockOffsetMilliseconds !== 0);
    const offset = last?.clockOffsetMilliseconds ?? 0;
    // A test may have moved the clock, too.
    storeClock.offsetMilliseconds += offset - this.#clockOffsetMilliseconds;
    this.#clockOffsetMilliseconds = offset;
  }
}

const usual: RequestedConditions = {
  faults: [],
  latencyMilliseconds: 0,
  clockOffsetMilliseconds: 0,
};

/** The conditions of one connection. */
class ConditionsHolder {
  faults: readonly CountedFault[] = [];
  latencyMilliseconds = 0;
  clockOffsetMilliseconds = 0;
  readonly #onChange: (isClockMoved: boolean) => void;

  constructor(onChange: (isClockMoved: boolean) => void) {
    this.#onChange = onChange;
  }

  /**
   * Replaces the conditions. A fault that stays goes on counting: its text identifies it.
   *
   * @returns whether the clock has moved
   */
  replace(conditions: RequestedConditions | null): boolean {
    const { faults, latencyMilliseconds, clockOffsetMilliseconds } = conditions ?? usual;
    const before = new Map(this.faults.map((each) => [each.fault.text, each]));
    this.faults = faults.map((fault) => before.get(fault.text) ?? new CountedFault(fault));
    const isClockMoved = clockOffsetMilliseconds !== this.clockOffsetMilliseconds;
    this.latencyMilliseconds = latencyMilliseconds;
    this.clockOffsetMilliseconds = clockOffsetMilliseconds;
    this.#onChange(isClockMoved);
    return isClockMoved;
  }
}

class CountedFault {
  readonly fault: StoreFault;
  readonly #armed: ArmedFault;
  hits = 0;

  constructor(fault: StoreFault) {
    this.fault = fault;
    // JSON has no `Infinity`, and carries `null` instead.
    const times = (fault.times as number | null) ?? Infinity;
    this.#armed = new ArmedFault({ ...fault, times });
  }

  /** Whether the fault hits the call. */
  take(call: Parameters<ArmedFault["hits"]>[0]): boolean {
    const isHit = this.#armed.hits(call) !== null;
    if (isHit) this.hits++;
    return isHit;
  }
}

export const heldConditions = new HeldConditions();

/**
 * Which operations of a batch are executed, by the faults of a test and by conditions.
 *
 * @param isAffected whether conditions concern the caller
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
    return heldConditions.decide(bucketName, operation);
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

/**
 * A WebSocket that holds conditions (`bucket/conditions.ts`): they are in force while the
 * connection is open.
 *
 * A move of the clock is answered when the buckets that are awake have done what has become due, such
 * as the expiry of uploads. The end of the connection moves the clock back; uploads that have expired
 * stay expired.
 */

/** RFC 6455, section 7.4.1: the other end has an unexpected problem. */
const internalErrorCode = 1011;

/**
 * @param housekeep does the work of all buckets that has become due
 * @returns the response to the request for an upgrade
 */
export function holdConditions(housekeep: () => Promise<void>): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  const holder = heldConditions.add();
  const answer = async (data: ArrayBuffer): Promise<void> => {
    try {
      const { conditions } = JSON.parse(new TextDecoder().decode(data)) as ConditionsRequest;
      if (conditions !== undefined && holder.replace(conditions)) await housekeep();
      const hits = holder.faults.map((fault) => fault.hits);
      const report: ConditionsReport = { hits, storeTime: storeClock.now() };
      server.send(new TextEncoder().encode(JSON.stringify(report)));
    } catch {
      server.close(internalErrorCode);
    }
  };
  const end = (): void => {
    heldConditions.remove(holder);
    server.close();
  };
  server.accept();
  server.binaryType = "arraybuffer";
  let answered = Promise.resolve();
  server.addEventListener("message", ({ data }) => {
    answered = answered.then(() => answer(data as ArrayBuffer));
  });
  server.addEventListener("close", end);
  server.addEventListener("error", end);
  return new Response(null, { status: 101, webSocket: client });
}
