/**
 * Alarms of the script's Durable Objects, by the clock of a test.
 *
 * The runtime runs alarms by the real time. While the clock is moved, an alarm is set for the real time that is as
 * far away as the script has said. A move of the clock runs the alarms that become due, in the order of their
 * times and each at its time, and sets the others anew. The storage of an object is what counts: the table here
 * says which objects to look at, and has the layers of the isolate (`pool-session.ts`).
 *
 * An object can only be reached by a request, so an alarm runs in the way of `runInDurableObject()`: the handler
 * of an object is called, and its error is the error of the move. The runtime would call the handler again.
 */
import type { MovedDate, PoolSession } from "./pool-session.ts";

interface ObjectWithAlarm {
  alarm?(info: { retryCount: number; isRetry: boolean; scheduledTime: number }): unknown;
}

interface ObjectState {
  readonly id: { toString(): string };
  readonly storage: object;
}

type Act = (instance: ObjectWithAlarm, state: ObjectState) => Promise<void>;

/** `runInDurableObject()` of the pool. */
type RunInObject = (stub: object, act: Act) => Promise<void>;

interface Namespace {
  idFromString(id: string): object;
  get(id: object): object;
}

/** Alarms of the objects that are constructed from now on. */
export function followAlarms(
  env: Readonly<Record<string, unknown>>,
  { kinds, date }: Pick<PoolSession, "kinds" | "date">,
  { runInObject, base }: { runInObject: RunInObject; base: unknown },
): MovedAlarms {
  const names = [...kinds].filter(([, kind]) => kind === "durable_objects");
  const namespaces = names.map(([name]) => env[name] as Namespace);
  const alarms = new MovedAlarms(date, (id, act) => runInObject(findStub(namespaces, id), act));
  // The pool constructs each object in this way, before it loads the class of the script.
  Reflect.construct = new Proxy(Reflect.construct, {
    apply(construct, self, args: Parameters<typeof Reflect.construct>) {
      const [target, given] = args;
      if (target === base) alarms.adopt(given[0] as ObjectState);
      return Reflect.apply(construct, self, args) as unknown;
    },
  });
  return alarms;
}

/** A namespace refuses the ids of other namespaces. */
function findStub(namespaces: readonly Namespace[], id: string): object {
  for (const namespace of namespaces) {
    try {
      return namespace.get(namespace.idFromString(id));
    } catch {
      continue;
    }
  }
  throw new Error(
    `The clock cannot run the alarm of the Durable Object ${id}: no binding of the script has its class.`,
  );
}

/** Of the storage, and of a transaction. */
interface AlarmMethods {
  getAlarm: (this: object, options?: unknown) => Promise<number | null>;
  setAlarm: (this: object, time: number | Date, options?: unknown) => Promise<void>;
  deleteAlarm: (this: object, options?: unknown) => Promise<void>;
}

type Transaction = (this: object, act: (transaction: object) => unknown) => Promise<unknown>;

function describeLoop(id: string): string {
  return (
    `The alarm of the Durable Object ${id} has run ${runsAtOneTimeMax} times while the clock of the test stood still: ` +
    "the handler sets the next alarm for the time that it is, or for an earlier time. Set it for a later time."
  );
}

/** The time of the alarm of each object, by its id and by the clock of the test. */
type AlarmTimes = ReadonlyMap<string, number>;

/** Longer than a move of the clock can take. */
const parkedMilliseconds = 86_400_000;

/** An alarm that sets itself again for the same time would never let the clock go on. */
const runsAtOneTimeMax = 100;

export class MovedAlarms {
  /** Never changed, but replaced: layers keep it. */
  times: AlarmTimes = new Map();
  readonly #clock: Pick<MovedDate, "now" | "offsetMilliseconds">;
  readonly #enter: (objectId: string, act: Act) => Promise<void>;
  /** The time to which the clock is moving */
  #end: number | null = null;
  /** The objects of storages and transactions */
  readonly #ids = new WeakMap<object, string>();
  /** The runtime's own methods, by the prototypes on which they were replaced */
  readonly #originals = new Map<object, AlarmMethods>();

  /** @param enter calls a function inside of an object */
  constructor(
    clock: Pick<MovedDate, "now" | "offsetMilliseconds">,
    enter: (objectId: string, act: Act) => Promise<void>,
  ) {
    this.#clock = clock;
    this.#enter = enter;
  }

  /** Called when an object is constructed. */
  adopt({ id, storage }: ObjectState): void {
    this.#adopt(storage, id.toString());
  }

  /**
   * Moves the clock.
   *
   * @param move moves it without alarms
   */
  async advance(
    milliseconds: number,
    move: (milliseconds: number) => Promise<void>,
  ): Promise<void> {
    const end = this.#clock.now() + milliseconds;
    this.#end = end;
    try {
      const moved = await this.#runUntil(end, move);
      await move(milliseconds - moved);
    } finally {
      this.#end = null;
      await Promise.all([...this.times].map(([id, time]) => this.#setAnew(id, time)));
    }
  }

  /** @returns by how much the clock was moved */
  async #runUntil(end: number, move: (milliseconds: number) => Promise<void>): Promise<number> {
    const runs = new Map<string, number>();
    let [moved, last] = [0, -Infinity];
    for (let next = this.#firstUntil(end); next !== undefined; next = this.#firstUntil(end)) {
      const [id, time] = next;
      if (time > last) runs.clear();
      last = Math.max(last, time);
      runs.set(id, (runs.get(id) ?? 0) + 1);
      const wait = Math.max(0, time - this.#clock.now());
      if (wait > 0) await move(wait);
      moved += wait;
      await this.#run(id, time, runs.get(id) === runsAtOneTimeMax);
    }
    return moved;
  }

  #firstUntil(end: number): [string, number] | undefined {
    const due = [...this.times].filter(([, time]) => time <= end);
    return due.toSorted(([, one], [, other]) => one - other)[0];
  }

  async #run(id: string, time: number, isLoop: boolean): Promise<void> {
    await this.#enter(id, async (instance, { storage }) => {
      const { getAlarm, deleteAlarm } = this.#originalsOf(storage);
      this.#forget(id);
      // The runtime may have run the alarm, or the script has removed its data.
      if ((await getAlarm.call(storage)) === null) return;
      await deleteAlarm.call(storage);
      if (isLoop) throw new Error(describeLoop(id));
      await instance.alarm?.({ retryCount: 0, isRetry: false, scheduledTime: time });
    });
  }

  async #setAnew(id: string, time: number): Promise<void> {
    await this.#enter(id, async (_, { storage }) => {
      const { getAlarm, setAlarm } = this.#originalsOf(storage);
      if ((await getAlarm.call(storage)) === null) this.#forget(id);
      else await setAlarm.call(storage, this.#toReal(time));
    });
  }

  #toReal(time: number): number {
    const offset = this.#clock.offsetMilliseconds;
    // The move of the clock will run this alarm. The runtime must not run it at the same time.
    if (this.#end !== null && time <= this.#end)
      return this.#clock.now() - offset + parkedMilliseconds;
    // The runtime refuses times before 1970.
    return Math.max(1, time - offset);
  }

  #forget(id: string): void {
    this.times = new Map([...this.times].filter(([each]) => each !== id));
  }

  #originalsOf(storage: object): AlarmMethods {
    return this.#originals.get(Object.getPrototypeOf(storage) as object) as AlarmMethods;
  }

  #adopt(storage: object, id: string): void {
    this.#ids.set(storage, id);
    const prototype = Object.getPrototypeOf(storage) as AlarmMethods & {
      transaction?: Transaction;
    };
    if (this.#originals.has(prototype)) return;
    const { getAlarm, setAlarm, deleteAlarm, transaction } = prototype;
    this.#originals.set(prototype, { getAlarm, setAlarm, deleteAlarm });
    const idOf = (each: object): string => this.#ids.get(each) ?? "";
    const toMoved = (each: object, time: number): number =>
      this.times.get(idOf(each)) ?? time + this.#clock.offsetMilliseconds;
    const toReal = (time: number): number => this.#toReal(time);
    const remember = (each: object, time: number): void => {
      if (this.#ids.has(each)) this.times = new Map([...this.times, [idOf(each), time]]);
    };
    const forget = (each: object): void => this.#forget(idOf(each));
    const adopt = (each: object, owner: object): void => this.#adopt(each, idOf(owner));
    prototype.getAlarm = async function (options) {
      const time = await getAlarm.call(this, options);
      return time === null ? null : toMoved(this, time);
    };
    prototype.setAlarm = async function (time, options) {
      const moved = Number(time);
      // The runtime says what is wrong with other values.
      if (!(moved > 0)) return setAlarm.call(this, time, options);
      const set = setAlarm.call(this, toReal(moved), options);
      remember(this, moved);
      await set;
    };
    prototype.deleteAlarm = async function (options) {
      forget(this);
      await deleteAlarm.call(this, options);
    };
    if (transaction === undefined) return;
    prototype.transaction = function (act) {
      return transaction.call(this, (inner) => {
        adopt(inner, this);
        return act(inner);
      });
    };
  }
}
