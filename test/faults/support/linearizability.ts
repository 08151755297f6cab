/**
 * Whether a history of calls is linearizable: whether each call can be given one moment between its
 * start and its end, so that an object that executes the calls one after the other, in the order of
 * these moments, gives the same answers.
 *
 * The search is that of Wing and Gong with the memory of Lowe ("Testing for linearizability", 2017).
 * It takes the history's events in the order of time. At a start, it tries to execute the call. At
 * an end, the call must have been executed; otherwise the search takes its last choice back. A set of
 * executed calls with the same state is searched once.
 *
 * Keys are independent, so each key is checked by itself. Values are unique: two writes never write
 * the same value. A call without an answer has no end: it may have taken effect at any time after
 * its start, or never.
 */

/** The value of an object; `null` when the object does not exist. */
export type Value = string | null;

export type Action =
  | { readonly method: "get"; readonly found: Value }
  | {
      readonly method: "put";
      readonly value: string;
      /** The value that the object must have. */
      readonly condition?: { readonly value: Value };
      /** Whether the condition held; `null` without an answer. */
      readonly applied: boolean | null;
    }
  | { readonly method: "delete"; readonly applied: true | null };

export type Call = Action & {
  readonly client: string;
  readonly key: string;
  readonly start: number;
  /** `Infinity` without an answer. */
  readonly end: number;
};

export interface Contradiction {
  readonly key: string;
  /** The longest order of calls that the search found. */
  readonly executed: readonly Call[];
  /** The call whose answer fits no order. */
  readonly call: Call;
}

/** `null` when the history of each key is linearizable. */
export function findContradiction(history: readonly Call[]): Contradiction | null {
  for (const [key, calls] of Map.groupBy(history, (call) => call.key)) {
    const contradiction = checkKey(key, calls);
    if (contradiction !== null) return contradiction;
  }
  return null;
}

export function describeContradiction({ key, executed, call }: Contradiction): string {
  const lines = executed.slice(-8).map((each) => `  ${describeCall(each)}`);
  return [`No order of the calls of ${key} explains`, `  ${describeCall(call)}`, "after", ...lines]
    .join("\n")
    .concat(executed.length === 0 ? "\n  no call" : "");
}

function describeCall({ client, key, start, end, ...action }: Call): string {
  const time = `${start.toFixed(2)} to ${end.toFixed(2)}`;
  return `${client}, ${key}, ${time}: ${JSON.stringify(action)}`;
}

/** An event in a list from which a call's events can be taken, and put back. */
interface Event {
  readonly call: Call;
  /** Position of the call in the set of executed calls. */
  readonly index: number;
  /** Of a start: the event of its end; `null` for a call without an answer. */
  readonly end: Event | null;
  readonly isStart: boolean;
  readonly time: number;
  previous: Event | null;
  next: Event | null;
}

/** Many calls without an answer can make the search endless. */
const statesMax = 2_000_000;

function checkKey(key: string, calls: readonly Call[]): Contradiction | null {
  const first = toList(calls);
  const seen = new Set<string>();
  const choices: { event: Event; state: Value }[] = [];
  let answersLeft = calls.filter(({ end }) => end !== Infinity).length;
  let executed = 0n;
  let state: Value = null;
  let event: Event | null = first.next;
  let longest: Call[] = [];
  let blocked: Call | undefined;

  while (answersLeft > 0) {
    // Events without an answer follow all ends, so the search meets an end before the last event.
    if (event === null) throw new Error("The history ends before its last answer");
    if (seen.size > statesMax) throw new Error(`The history of ${key} is too long to be searched`);
    if (event.isStart) {
      const next = execute(state, event.call);
      const bit = 1n << BigInt(event.index);
      if (next !== undefined && isNew(seen, executed | bit, next)) {
        choices.push({ event, state });
        state = next;
        executed |= bit;
        remove(event);
        if (event.end !== null) answersLeft--;
        event = first.next;
      } else event = event.next;
      continue;
    }
    if (choices.length >= longest.length) {
      longest = choices.map((choice) => choice.event.call);
      blocked = event.call;
    }
    const choice = choices.pop();
    if (choice === undefined) return { key, executed: longest, call: blocked as Call };
    ({ state } = choice);
    executed &= ~(1n << BigInt(choice.event.index));
    restore(choice.event);
    if (choice.event.end !== null) answersLeft++;
    event = choice.event.next;
  }
  return null;
}

/** @returns the next value; `undefined` when the object would have answered otherwise */
function execute(state: Value, call: Call): Value | undefined {
  switch (call.method) {
    case "get":
      return state === call.found ? state : undefined;
    case "delete":
      return null;
    case "put": {
      const holds = call.condition === undefined || call.condition.value === state;
      if (call.applied !== null && call.applied !== holds) return undefined;
      return holds ? call.value : state;
    }
  }
}

function isNew(seen: Set<string>, executed: bigint, state: Value): boolean {
  const size = seen.size;
  seen.add(`${executed.toString(36)} ${state ?? "-"}`);
  return seen.size > size;
}

/** @returns an empty event before the first */
function toList(calls: readonly Call[]): Event {
  const events = calls.flatMap((call, index) => {
    const common = { call, index, previous: null, next: null };
    const end: Event | null =
      call.end === Infinity ? null : { ...common, end: null, isStart: false, time: call.end };
    const start: Event = { ...common, end, isStart: true, time: call.start };
    return end === null ? [start] : [start, end];
  });
  // Of two events at the same time, the start comes first: the calls overlap.
  events.sort(
    (left, right) => left.time - right.time || Number(right.isStart) - Number(left.isStart),
  );
  const empty = { call: calls[0] as Call, index: -1, end: null, isStart: true, time: -Infinity };
  const first: Event = { ...empty, previous: null, next: null };
  let last = first;
  for (const event of events) {
    last.next = event;
    event.previous = last;
    last = event;
  }
  return first;
}

/** Takes the start and the end of a call from the list. Both keep their places in mind. */
function remove(start: Event): void {
  unlink(start);
  if (start.end !== null) unlink(start.end);
}

/** In the reverse order of the removals. */
function restore(start: Event): void {
  if (start.end !== null) link(start.end);
  link(start);
}

function unlink(event: Event): void {
  (event.previous as Event).next = event.next;
  if (event.next !== null) event.next.previous = event.previous;
}

function link(event: Event): void {
  (event.previous as Event).next = event;
  if (event.next !== null) event.next.previous = event;
}
