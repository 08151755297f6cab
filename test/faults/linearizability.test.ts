/** The checker of histories accepts what an object can answer, and refuses what it cannot. */
import { describe, expect, it } from "vitest";
import { SeededRandom } from "./support/seed.ts";
import {
  describeContradiction,
  findContradiction,
  type Action,
  type Call,
  type Value,
} from "./support/linearizability.ts";

function call(client: string, start: number, end: number, action: Action): Call {
  return { client, key: "key", start, end, ...action };
}
const get = (found: Value): Action => ({ method: "get", found });
const put = (value: string): Action => ({ method: "put", value, applied: true });
const putIf = (condition: Value, value: string, applied: boolean | null): Action => ({
  method: "put",
  value,
  condition: { value: condition },
  applied,
});
const lostPut = (value: string): Action => ({ method: "put", value, applied: null });
const remove: Action = { method: "delete", applied: true };

const cases: [name: string, linearizable: boolean, history: Call[]][] = [
  ["an empty history", true, []],
  ["calls in sequence", true, [call("a", 0, 1, put("1")), call("b", 2, 3, get("1"))]],
  ["a read of an object that was never written", true, [call("a", 0, 1, get(null))]],
  ["a read of a value that was never written", false, [call("a", 0, 1, get("1"))]],
  ["a stale read", false, [call("a", 0, 1, put("1")), call("b", 2, 3, get(null))]],
  [
    "a read before an overlapping put",
    true,
    [call("a", 0, 9, put("1")), call("b", 2, 3, get(null))],
  ],
  ["a read after an overlapping put", true, [call("a", 0, 9, put("1")), call("b", 2, 3, get("1"))]],
  [
    "two reads during a put, the second of which goes back",
    false,
    [call("a", 0, 9, put("1")), call("b", 1, 2, get("1")), call("c", 3, 4, get(null))],
  ],
  [
    "two conditional puts that both win",
    false,
    [call("a", 0, 5, putIf(null, "1", true)), call("b", 0, 5, putIf(null, "2", true))],
  ],
  [
    "two conditional puts of which one wins",
    true,
    [call("a", 0, 5, putIf(null, "1", true)), call("b", 0, 5, putIf(null, "2", false))],
  ],
  [
    "a conditional put that fails without a reason",
    false,
    [call("a", 0, 1, put("1")), call("b", 2, 3, putIf("1", "2", false))],
  ],
  [
    "a delete that another put follows",
    true,
    [call("a", 0, 5, remove), call("b", 0, 5, put("1")), call("c", 6, 7, get("1"))],
  ],
  [
    "a value that comes back after a delete",
    false,
    [call("a", 0, 1, put("1")), call("a", 2, 3, remove), call("b", 4, 5, get("1"))],
  ],
  [
    "a put without an answer that took effect",
    true,
    [call("a", 0, Infinity, lostPut("1")), call("b", 5, 6, get("1"))],
  ],
  [
    "a put without an answer that had no effect",
    true,
    [call("a", 0, Infinity, lostPut("1")), call("b", 5, 6, get(null))],
  ],
  [
    "a put without an answer that took effect later",
    true,
    [call("a", 0, Infinity, lostPut("1")), call("b", 1, 2, get(null)), call("b", 3, 4, get("1"))],
  ],
  [
    "a put without an answer that took effect twice",
    false,
    [
      call("a", 0, Infinity, lostPut("1")),
      call("b", 1, 2, get("1")),
      call("b", 3, 4, put("2")),
      call("b", 5, 6, get("1")),
    ],
  ],
  [
    "a conditional put without an answer whose condition never held",
    false,
    [call("a", 0, Infinity, putIf("0", "1", null)), call("b", 1, 2, get("1"))],
  ],
];

/** Calls of several clients on an object that executes each call at a moment between its ends. */
function simulate(random: SeededRandom, count: number): Call[] {
  let state: Value = null;
  const clients = Array.from({ length: 5 }, (_, index) => ({ name: `c${index}`, free: 0 }));
  const planned = Array.from({ length: count }, (_, index) => {
    const client = random.pick(clients);
    const start = client.free + random.next();
    const moment = start + random.next() * 3;
    const end = moment + random.next() * 3;
    client.free = end;
    return { client: client.name, start, moment, end, value: `v${index}` };
  }).toSorted((left, right) => left.moment - right.moment);
  return planned.map(({ client, start, end, value }) => {
    const chance = random.next();
    const lost = random.next() < 0.03;
    if (chance < 0.4) return call(client, start, end, get(state));
    if (chance < 0.5) {
      state = null;
      return call(client, start, end, remove);
    }
    const condition: Value = chance < 0.8 ? state : "other";
    const applied = condition === state;
    if (applied) state = value;
    return call(
      client,
      start,
      lost ? Infinity : end,
      putIf(condition, value, lost ? null : applied),
    );
  });
}

describe("findContradiction()", () => {
  it.each(cases)("decides about %s", (_, linearizable, history) => {
    expect(findContradiction(history) === null).toBe(linearizable);
  });

  it("checks each key by itself", () => {
    const good = call("a", 0, 1, put("1"));
    const bad = { ...call("b", 2, 3, get("1")), key: "other" };
    expect(findContradiction([good, bad])).toMatchObject({ key: "other", call: bad });
  });

  it("names the call that fits no order", () => {
    const history = [call("a", 0, 1, put("1")), call("b", 2, 3, get("2"))];
    const contradiction = findContradiction(history);
    expect(contradiction).toMatchObject({ call: history[1], executed: [history[0]] });
    expect(describeContradiction(contradiction!)).toContain('{"method":"get","found":"2"}');
  });

  it("accepts simulated histories of many clients, and refuses each with one changed read", () => {
    const random = new SeededRandom("linearizability");
    for (let round = 0; round < 30; round++) {
      const history = simulate(random, 200);
      expect(findContradiction(history)).toBeNull();
      const reads = history.filter(({ method }) => method === "get");
      const changed = random.pick(reads);
      const found = changed.method === "get" && changed.found === null ? "never" : null;
      const overlaps = history.some(
        (other) => other !== changed && other.start < changed.end && other.end > changed.start,
      );
      // A changed read can fit when a write overlaps it; a value that was never written cannot.
      const value = overlaps ? "never" : found;
      const falsified = history.map((each) =>
        each === changed ? { ...each, ...get(value) } : each,
      );
      expect(findContradiction(falsified)).not.toBeNull();
    }
  });
});
