/**
 * The calls of each test, which `calls` of `ledge/test` shows.
 *
 * Each attempt of a test has a list, and so have suites and files. Tests that run concurrently have different
 * lists. A call belongs to the list of the task that made it. Where that is not known (another worker, a
 * Durable Object, a queue, a hook of a suite), the call is in the lists of all tests that are running.
 */
import type { AnyCall } from "./call-details.ts";

export interface CallList {
  readonly isOfTest: boolean;
  readonly calls: AnyCall[];
}

/** The calls of the test that reads them. */
export interface Calls extends ReadonlyArray<AnyCall> {
  /** Forgets the calls until now: `calls` then has only what the test does afterwards. */
  clear(): void;
}

export class CallLists {
  readonly #running = new Set<CallList>();
  /** All calls since a task began while no test was running, for code that runs in no task */
  #all: AnyCall[] = [];

  begin(isOfTest: boolean): CallList {
    if (this.#running.size === 0) this.#all = [];
    const list = { isOfTest, calls: [] };
    if (isOfTest) this.#running.add(list);
    return list;
  }

  end(list: CallList): void {
    this.#running.delete(list);
  }

  /** @param list of the task that made the call */
  record(call: AnyCall, list: CallList | undefined): void {
    this.#all.push(call);
    list?.calls.push(call);
    if (list?.isOfTest === true) return;
    for (const { calls } of this.#running) calls.push(call);
  }

  /** @param listOfReader the list of the task that reads the calls */
  show(listOfReader: () => CallList | undefined): Calls {
    return showArray(() => listOfReader()?.calls ?? this.#all);
  }
}

/** By this symbol, `console.log()` finds how to print an object. A proxy is printed as its target otherwise. */
const inspect = Symbol.for("nodejs.util.inspect.custom");

/** A view of the array that `current` returns. */
function showArray(current: () => AnyCall[]): Calls {
  const own = {
    clear: () => void (current().length = 0),
    [inspect]: () => [...current()],
  };
  const target: AnyCall[] = [];
  for (const name of Reflect.ownKeys(own)) {
    // Configurable, because the keys of a proxy must include other properties of its target.
    const value = own[name as keyof typeof own];
    Object.defineProperty(target, name, { configurable: true, value });
  }
  return new Proxy(target, {
    get: (_, name) => Reflect.get(Object.hasOwn(own, name) ? own : current(), name) as unknown,
    set: (_, name, value) => Reflect.set(current(), name, value),
    has: (_, name) => Object.hasOwn(own, name) || name in current(),
    ownKeys: () => Reflect.ownKeys(current()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(current(), name),
  }) as unknown as Calls;
}
