/**
 * The state that tests give to the isolate of the script: faults of its bindings, and the time of its `Date`.
 *
 * It has the isolation layers of the runtime (`isolation-layers.ts`). When a layer is closed, its faults and
 * its moves of the time end. `store/bucket/test-session.ts` is the same for the store.
 */
import { hitByAll, type UnusedFault } from "../store/core/fault.ts";
import type { PlannedCall } from "./binding-call.ts";
import {
  makeBindingFault,
  type ArmedBindingFault,
  type BindingFaultOptions,
  type BindingFaultTarget,
  type BindingKinds,
  type InjectedBindingFault,
} from "./binding-fault.ts";

interface Layer {
  readonly id: number;
  /** A snapshot has no faults: those of a test that has taken a snapshot belong to the test. */
  readonly snapshot: boolean;
  readonly faults: ArmedBindingFault[];
  readonly injected: InjectedBindingFault[];
  /** The ids of the faults that the test has set in the store */
  readonly storeFaults: Set<number>;
  /** The number of faults that the test has set in the DNS */
  dnsFaults: number;
  /** The offset of the date when the layer was opened */
  readonly offsetMilliseconds: number;
  readonly alarmTimes?: MovableAlarms["times"];
}

interface MovableAlarms {
  times: ReadonlyMap<string, number>;
  advance(milliseconds: number, move: (milliseconds: number) => Promise<void>): Promise<void>;
}

export class PoolSession {
  /** The names of the buckets, by their bindings */
  readonly bucketNames: ReadonlyMap<string, string>;
  /** The other bindings */
  readonly kinds: BindingKinds;
  readonly date = new MovedDate();
  /** The alarms of the script's Durable Objects (`moved-alarms.ts`) */
  alarms?: MovableAlarms;
  /** The outermost layer always exists, for tests without isolation. */
  readonly #layers = [newLayer(0, false, 0)];
  #lastFault = 0;

  constructor(kinds: BindingKinds, bucketNames: ReadonlyMap<string, string>) {
    this.kinds = kinds;
    this.bucketNames = bucketNames;
  }

  openLayer(id: number, snapshot = false): void {
    const layer = newLayer(id, snapshot, this.date.offsetMilliseconds);
    this.#layers.push({ ...layer, alarmTimes: this.alarms?.times });
  }

  closeLayer(id: number): void {
    const index = this.#layers.findIndex((layer) => layer.id >= id && layer.id > 0);
    const lowest = index === -1 ? undefined : this.#layers.splice(index)[0];
    if (lowest?.snapshot === false) this.date.setOffset(lowest.offsetMilliseconds);
    if (lowest?.alarmTimes !== undefined) this.alarms!.times = lowest.alarmTimes;
  }

  isOpen(id: number): boolean {
    return this.#layers.some((layer) => layer.id === id);
  }

  moveDate(milliseconds: number): void {
    this.date.setOffset(this.date.offsetMilliseconds + milliseconds);
  }

  /** @throws TypeError that names the wrong field */
  arm(target: BindingFaultTarget, options: BindingFaultOptions): void {
    this.#testLayer.faults.push(makeBindingFault(target, options, this.kinds));
  }

  /** A test sets a fault in the store. Returns an id for the fault. */
  addStoreFault(): number {
    const id = ++this.#lastFault;
    this.#testLayer.storeFaults.add(id);
    return id;
  }

  addDnsFault(): void {
    this.#testLayer.dnsFaults++;
  }

  clearFaults(): void {
    for (const { faults, storeFaults } of this.#layers) {
      faults.length = 0;
      storeFaults.clear();
    }
  }

  clearDnsFaults(): void {
    for (const layer of this.#layers) layer.dnsFaults = 0;
  }

  /** The faults that the test or suite of a layer has set. */
  faultsOf(id: number): Pick<Layer, "faults" | "storeFaults" | "dnsFaults"> | undefined {
    return this.#layers.find((layer) => layer.id === id);
  }

  hit(call: PlannedCall): readonly InjectedBindingFault[] {
    const faults = this.#layers.flatMap((layer) => layer.faults);
    const injected = hitByAll(
      faults,
      ({ kind }) => kind,
      (fault) => fault.hit(call),
    );
    this.#testLayer.injected.push(...injected);
    return injected;
  }

  get injected(): readonly InjectedBindingFault[] {
    return this.#testLayer.injected;
  }

  get unused(): readonly UnusedFault[] {
    return this.#layers.flatMap(({ faults }) => faults).flatMap((fault) => fault.unused ?? []);
  }

  get #testLayer(): Layer {
    return this.#layers.findLast(({ snapshot }) => !snapshot) as Layer;
  }
}

function newLayer(id: number, snapshot: boolean, offsetMilliseconds: number): Layer {
  const ownFaults = { faults: [], injected: [], storeFaults: new Set<number>(), dnsFaults: 0 };
  return { id, snapshot, ...ownFaults, offsetMilliseconds };
}

/** The `Date` of an isolate, moved with the clock of a test. */

export class MovedDate {
  readonly #scope: { Date: DateConstructor };
  readonly #real: DateConstructor;
  readonly #moved: DateConstructor;
  #offset = 0;

  constructor(scope: { Date: DateConstructor } = globalThis) {
    this.#scope = scope;
    this.#real = scope.Date;
    const now = (): number => this.now();
    // A proxy, because `instanceof` and the prototype are those of the real class.
    this.#moved = new Proxy(this.#real, {
      construct: (real, args, newTarget: DateConstructor) => {
        const target = newTarget === this.#moved ? real : newTarget;
        return Reflect.construct(real, args.length === 0 ? [now()] : args, target) as Date;
      },
      apply: (real) => new real(now()).toString(),
      get: (real, name, receiver) => (name === "now" ? now : Reflect.get(real, name, receiver)),
    });
  }

  get offsetMilliseconds(): number {
    return this.#offset;
  }

  /** The moved time, also while fake timers have replaced `Date`. */
  now(): number {
    return this.#real.now() + this.#offset;
  }

  /** A `Date` that is neither the real nor the moved one belongs to fake timers, and stays. */
  setOffset(milliseconds: number): void {
    this.#offset = milliseconds;
    const { Date: current } = this.#scope;
    if (current !== this.#real && current !== this.#moved) return;
    this.#scope.Date = milliseconds === 0 ? this.#real : this.#moved;
  }
}

/** A name in the source of the pool's proxies, by which they are known. A pool without it is left alone. */
const mark = "getUnknownPrototypeKey";

/**
 * Keeps the Durable Objects of long test files fast.
 *
 * The pool wraps each class, and puts a proxy before the prototype whenever an object is constructed: before
 * the proxy of the object before. After n objects, each property of an object is looked up through n proxies.
 * Isolation constructs objects again for each test, and the 400th construction took 30 times as long as the
 * first. All these proxies do the same, and one is enough.
 *
 * @param onConstruct an object of such a class is constructed; `isNew` for the first object of the class
 */
export function shareProxiesOfPool(
  onConstruct: (prototype: object, isNew: boolean) => void,
  scope: { Proxy: ProxyConstructor } = globalThis,
): void {
  const proxies = new WeakSet();
  scope.Proxy = new Proxy(scope.Proxy, {
    construct(target, [object, handler]: [object, { get?: unknown }]) {
      const isOfPool = String(handler.get).includes(mark);
      if (isOfPool) onConstruct(object, !proxies.has(object));
      if (isOfPool && proxies.has(object)) return object;
      const proxy = new target(object, handler as ProxyHandler<object>);
      if (isOfPool) proxies.add(proxy);
      return proxy;
    },
  });
}
