/**
 * What tests do to the store of a runtime: layers of isolation, faults, and the list of calls.
 *
 * All buckets of a runtime live in one isolate, so this is one object for all of them. A layer is
 * a test or a block of tests; layers nest, and each has faults and calls of its own. A layer that
 * ends takes with it whatever was written in it (`base/workerd/undo-journal.ts`), its faults, and its
 * moves of the clock. Where no test has ever opened one, all of this costs a look at `active`.
 */
import { describeCall, callMethodOf, keysOf, type Call } from "../core/recorded-call.ts";
import { ArmedFault, type StoreFault, type InjectedFault } from "../core/store-fault.ts";
import type { AnswerFault, Operation, Outcome } from "../core/operations.ts";
import type { MovableClock } from "./clock.ts";

interface Layer {
  readonly id: number;
  /** A snapshot is a layer of writes only: faults and calls stay with the test around it. */
  readonly snapshot: boolean;
  readonly clockOffset: number;
  /** Buckets that may have writes of this layer */
  readonly touched: Set<string>;
  readonly faults: ArmedFault[];
  readonly calls: Call[];
  readonly injectedFaults: InjectedFault[];
}

/** What is to be done with an operation. */
interface Verdict {
  readonly execute: boolean;
  /** Instead of what the bucket says */
  readonly instead?: Outcome;
  readonly answerFault?: AnswerFault;
}

export class TestSession {
  /** Whether layers, faults or calls are looked at, since somebody has asked for one. */
  active = false;
  /** Whether calls are listed. The pool's tests list their own. */
  #watching = false;
  /** Tells the layers of this runtime from those that a crashed one left in a database. */
  run = "";
  readonly #clock: MovableClock;
  /** The outermost is there always, for tests that use faults and calls without layers. */
  readonly #layers: Layer[];

  constructor(clock: MovableClock) {
    this.#clock = clock;
    this.#layers = [newLayer(0, { snapshot: false, clockOffset: 0 })];
  }

  activate(): void {
    if (this.active) return;
    this.active = true;
    this.run = crypto.randomUUID();
  }

  watch(): void {
    this.activate();
    this.#watching = true;
    this.#task().calls.length = 0;
  }

  /** The layer that writes belong to; `null` outside of all. */
  get layer(): number | null {
    return this.#layers.length === 1 ? null : (this.#layers.at(-1) as Layer).id;
  }

  open(id: number, snapshot: boolean): void {
    this.activate();
    const top = this.#layers.at(-1) as Layer;
    if (id <= top.id) throw new Error(`Cannot open layer ${id} above layer ${top.id}`);
    this.#layers.push(newLayer(id, { snapshot, clockOffset: this.#clock.offset }));
  }

  /** Closes layers from this one up. Returns the buckets that have writes to undo. */
  close(id: number): string[] {
    const index = this.#layers.findIndex((layer) => layer.id >= id && layer.id > 0);
    if (index === -1) return [];
    const [lowest, ...closed] = this.#layers.splice(index) as [Layer, ...Layer[]];
    if (!lowest.snapshot) this.#clock.offset = lowest.clockOffset;
    const buckets = [...lowest.touched, ...closed.flatMap(({ touched }) => [...touched])];
    return [...new Set(buckets)];
  }

  /** A bucket is going to write in the layer that is open. */
  touch(bucketName: string): void {
    (this.#layers.at(-1) as Layer).touched.add(bucketName);
  }

  get calls(): readonly Call[] {
    return this.#task().calls;
  }

  get injectedFaults(): readonly InjectedFault[] {
    return this.#task().injectedFaults;
  }

  arm(fault: StoreFault): void {
    this.activate();
    this.#task().faults.push(new ArmedFault(fault));
  }

  disarm(): void {
    for (const layer of this.#layers) layer.faults.length = 0;
  }

  /** Whether nothing can happen to operations but what the bucket does with them. */
  leavesAlone(operations: readonly Operation[]): boolean {
    return (
      !this.#watching &&
      this.#layers.every(({ faults }) => faults.length === 0) &&
      operations.every(({ layer }) => this.#isOpen(layer))
    );
  }

  /** What faults and the end of tests make of an operation that has arrived. */
  judge(bucketName: string, operation: Operation): Verdict {
    if (!this.#isOpen(operation.layer)) {
      return { execute: false, instead: refusal, answerFault: { late: true } };
    }
    const injection = this.#meet(bucketName, operation);
    if (injection === null) return { execute: true };
    const { effect, when } = injection;
    switch (effect.kind) {
      case "slow":
        return { execute: true, answerFault: { delayMilliseconds: effect.milliseconds } };
      case "fail": {
        const instead = { ok: false, code: effect.code, text: effect.text } as Outcome;
        return { execute: when === "after", instead };
      }
      case "drop":
        if (operation.method === "get") {
          return { execute: true, answerFault: { lost: { afterBytes: effect.afterBytes ?? -1 } } };
        }
        return when === "after"
          ? { execute: true, answerFault: { lost: "answer" } }
          : { execute: false, instead: refusal, answerFault: { lost: "answer" } };
    }
  }

  record(bucketName: string, operation: Operation, outcome: Outcome): void {
    if (!this.#watching || outcome.answerFault?.late) return;
    const call = describeCall(bucketName, operation, outcome);
    if (call !== null) this.#task().calls.push(call);
  }

  #meet(bucket: string, operation: Operation): (InjectedFault & Pick<StoreFault, "when">) | null {
    const method = callMethodOf(operation);
    if (method === null) return null;
    const keys = keysOf(operation);
    for (const layer of this.#layers) {
      for (const armed of layer.faults) {
        const count = armed.hits({ bucket, method, keys });
        if (count === null) continue;
        const { effect, when } = armed.fault;
        const injection = { bucket, method, key: keys[0] ?? "", effect, count };
        this.#task().injectedFaults.push(injection);
        return { ...injection, when };
      }
    }
    return null;
  }

  /** What says nothing of a layer belongs to whichever is open. */
  #isOpen(layer: number | undefined): boolean {
    return layer === undefined || this.#layers.some(({ id }) => id === layer);
  }

  #task(): Layer {
    return this.#layers.findLast(({ snapshot }) => !snapshot) as Layer;
  }
}

/** For an operation that was not executed; nobody reads the text. */
const refusal: Outcome = { ok: false, code: 10001, text: "Not executed" };

function newLayer(id: number, layer: Pick<Layer, "snapshot" | "clockOffset">): Layer {
  return { id, ...layer, touched: new Set(), faults: [], calls: [], injectedFaults: [] };
}
