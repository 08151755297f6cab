/**
 * The state that tests give to the store of a runtime: layers of isolation, faults, and the list of
 * recorded calls.
 *
 * All buckets of a runtime live in one isolate and share one session. A layer is a test or a block
 * of tests; layers nest, and each has its own faults and calls. When a layer is closed, its writes
 * are undone (`base/undo-journal.ts`), and its faults and its changes of the clock end.
 * Without tests, a call costs one look at `active`.
 */
import {
  ArmedFault,
  type InjectedFault,
  type StoreFault,
  type UnusedFault,
  describeCall,
  type Call,
  decideFaults,
  injectFaults,
  notExecuted,
  type Decision,
} from "../core/fault.ts";
import type { Operation, Outcome } from "../core/operations.ts";

class TestSession {
  /** Whether a test has used layers, faults or recorded calls in this runtime. */
  active = false;
  /** Whether calls are recorded here. Tests in the pool record theirs in the script's isolate. */
  #recording = false;
  /** Tells the layers of this runtime from layers that a crashed runtime left in a database. */
  run = "";
  /** The calls of scripts that the test does not observe in its own isolate */
  readonly feed = new CallFeed();
  /** The outermost layer always exists, for tests that use faults and calls without layers. */
  readonly #layers = [newLayer(0, false)];

  activate(): void {
    if (this.active) return;
    this.active = true;
    this.run = crypto.randomUUID();
  }

  recordCalls(): void {
    this.activate();
    this.#recording = true;
    this.#testLayer().calls.length = 0;
  }

  /** The layer that writes belong to; `null` when no layer is open. */
  get layer(): number | null {
    return this.#layers.length === 1 ? null : (this.#layers.at(-1) as Layer).id;
  }

  open(id: number, snapshot: boolean): void {
    this.activate();
    const top = this.#layers.at(-1) as Layer;
    if (id <= top.id) throw new Error(`Cannot open layer ${id} above layer ${top.id}`);
    this.#layers.push(newLayer(id, snapshot));
  }

  /** Closes a layer and the layers above it. Returns the buckets that have writes to undo. */
  close(id: number): string[] {
    const index = this.#layers.findIndex((layer) => layer.id >= id && layer.id > 0);
    if (index === -1) return [];
    const [lowest, ...others] = this.#layers.splice(index) as [Layer, ...Layer[]];
    if (!lowest.snapshot) storeClock.offsetMilliseconds = lowest.clockOffsetMilliseconds;
    return [...new Set([lowest, ...others].flatMap(({ touched }) => [...touched]))];
  }

  /** A bucket is about to write in the open layer. */
  touch(bucketName: string): void {
    (this.#layers.at(-1) as Layer).touched.add(bucketName);
  }

  get calls(): readonly Call[] {
    return this.#testLayer().calls;
  }

  get injectedFaults(): readonly InjectedFault[] {
    return this.#testLayer().injectedFaults;
  }

  get unusedFaults(): readonly UnusedFault[] {
    return this.#layers.flatMap(({ faults }) => faults).flatMap((armed) => armed.unused ?? []);
  }

  arm(fault: StoreFault): void {
    this.activate();
    this.#testLayer().faults.push(new ArmedFault(fault));
  }

  disarm(): void {
    for (const layer of this.#layers) layer.faults.length = 0;
  }

  /** Whether a fault, the recording of calls or a closed layer concerns these operations. */
  concerns(operations: readonly Operation[]): boolean {
    return (
      this.#recording ||
      this.#layers.some(({ faults }) => faults.length > 0) ||
      operations.some((operation) => this.#isForeign(operation) || !this.#isOpen(operation.layer))
    );
  }

  decide(bucketName: string, operation: Operation): Decision {
    if (!this.#isOpen(operation.layer)) {
      return { execute: false, replacement: notExecuted, fault: { late: true } };
    }
    const faults = this.#layers.flatMap((layer) => layer.faults);
    const injected = injectFaults(faults, bucketName, operation);
    this.#testLayer().injectedFaults.push(...injected);
    return decideFaults(operation, injected);
  }

  /** Records calls with their outcomes. The answer waits for the promise, if there is one. */
  record(
    bucketName: string,
    executed: readonly (readonly [Operation, Outcome])[],
  ): Promise<void> | undefined {
    const foreign: Call[] = [];
    for (const [operation, outcome] of executed) {
      const call = describeCall(bucketName, operation, outcome);
      if (call === null) continue;
      if (this.#recording) this.#testLayer().calls.push(call);
      if (this.#isForeign(operation)) foreign.push(call);
    }
    return foreign.length === 0 ? undefined : this.feed.send(foreign);
  }

  /** Whether the test does not observe the script that sent the operation. */
  #isForeign(operation: Operation): boolean {
    return this.feed.isFollowed && operation.layer === undefined;
  }

  /** A call without a layer belongs to the layer that is open. */
  #isOpen(layer: number | undefined): boolean {
    return layer === undefined || this.#layers.some(({ id }) => id === layer);
  }

  /** The innermost layer that is not a snapshot: faults and calls belong to it. */
  #testLayer(): Layer {
    return this.#layers.findLast(({ snapshot }) => !snapshot) as Layer;
  }
}

function newLayer(id: number, snapshot: boolean) {
  return {
    id,
    /** A snapshot is a layer for writes only: faults and calls belong to the test around it. */
    snapshot,
    clockOffsetMilliseconds: storeClock.offsetMilliseconds,
    /** The buckets that may have writes of this layer. */
    touched: new Set<string>(),
    faults: [] as ArmedFault[],
    calls: [] as Call[],
    injectedFaults: [] as InjectedFault[],
  };
}

type Layer = ReturnType<typeof newLayer>;

/**
 * The calls of scripts that no test observes in their own isolate (other workers of the runtime), on
 * their way to the test: a test asks for them in a loop, and each question waits for the next calls.
 *
 * The answer of a call waits until the test has the call: the next question of the test confirms it.
 * So a test that awaits a script finds the calls of that script.
 */

/** The runtime would end a question that waits for nothing but another request. */
const questionMilliseconds = 10_000;
/** After this time the test is taken to have ended: a call never waits longer. */
const confirmationMilliseconds = 30_000;

class CallFeed {
  #waiting: Call[] = [];
  #wake: (() => void) | undefined;
  /** End the waits of the answers: of calls on their way to the test, and of waiting calls */
  #sent: (() => void)[] = [];
  #unsent: (() => void)[] = [];
  isFollowed = false;

  /** The next calls; none when there was no call for a while. */
  async next(): Promise<readonly Call[]> {
    this.isFollowed = true;
    for (const confirm of this.#sent.splice(0)) confirm();
    if (this.#waiting.length === 0) {
      await elapsed(questionMilliseconds, (wake) => (this.#wake = wake));
    }
    this.#sent.push(...this.#unsent.splice(0));
    return this.#waiting.splice(0);
  }

  async send(calls: readonly Call[]): Promise<void> {
    this.#waiting.push(...calls);
    await elapsed(confirmationMilliseconds, (confirm) => {
      this.#unsent.push(confirm);
      this.#wake?.();
    });
  }
}

/** Waits for a time at most, or until the function that `use` receives is called. */
async function elapsed(milliseconds: number, use: (end: () => void) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  use(resolve);
  await promise;
  clearTimeout(timer);
}

/**
 * The store's clock: the machine's time, plus an offset that a test sets.
 *
 * All buckets of a runtime live in one isolate and share one clock.
 */
export const storeClock = {
  offsetMilliseconds: 0,

  /** Milliseconds since the epoch */
  now(): number {
    return Date.now() + this.offsetMilliseconds;
  },

  /** The machine's time at which this clock shows `time`. */
  machineTime(time: number): number {
    return time - this.offsetMilliseconds;
  },
};

export const storeTestSession = new TestSession();
