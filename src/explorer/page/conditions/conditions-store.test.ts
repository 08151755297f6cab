import { describe, expect, it } from "vitest";
import type { Conditions, ConditionsState } from "../../api/conditions.ts";
import { addFault, moveClock, usualConditions } from "./condition-changes.ts";
import { ConditionsStore } from "./conditions-store.ts";

const stateOf = (conditions: Conditions): ConditionsState => ({
  ...conditions,
  hits: {},
  storeTime: 0,
  problem: null,
});

/** A server in memory that refuses the fault "bad". */
function fakeApi() {
  const sent: Conditions[] = [];
  let current = usualConditions;
  return {
    sent,
    read: async () => stateOf(current),
    replace: async (next: Conditions) => {
      sent.push(next);
      if (next.bucketFaults.some(({ text }) => text === "bad")) throw new Error("refused");
      current = next;
      return stateOf(current);
    },
  };
}

describe("ConditionsStore", () => {
  it("makes each change on what the change before has left", async () => {
    const api = fakeApi();
    const store = new ConditionsStore(api);
    await Promise.all([store.change(moveClock(1000)), store.change(moveClock(1000))]);
    expect(store.known.state?.clockOffsetMilliseconds).toBe(2000);
    expect(Object.keys(api.sent[1]!)).toEqual(Object.keys(usualConditions));
  });

  it("keeps the state when the server refuses a change, and goes on", async () => {
    const store = new ConditionsStore(fakeApi());
    await store.change(addFault("put:*:10001"));
    await expect(store.change(addFault("bad"))).rejects.toThrow("refused");
    expect(store.known.state?.bucketFaults).toEqual([{ text: "put:*:10001" }]);
    await store.change(moveClock(5));
    expect(store.known.state?.bucketFaults).toHaveLength(1);
  });

  it("drops the answer of a read that a change has overtaken", async () => {
    const api = fakeApi();
    const slow = Promise.withResolvers<ConditionsState>();
    let reads = 0;
    const read = () => (reads++ === 0 ? slow.promise : api.read());
    const store = new ConditionsStore({ ...api, read });
    const reading = store.refresh();
    await store.change(moveClock(7));
    slow.resolve(stateOf(usualConditions));
    await reading;
    expect(store.known.state?.clockOffsetMilliseconds).toBe(7);
  });

  it("keeps the last state when a read fails, says why, and tells its listeners", async () => {
    const api = fakeApi();
    let fails = false;
    const read = async () => {
      if (fails) throw new Error("gone");
      return api.read();
    };
    const store = new ConditionsStore({ ...api, read });
    let told = 0;
    const end = store.listen(() => told++);
    await store.refresh();
    fails = true;
    await store.refresh();
    expect(store.known.state).not.toBeNull();
    expect(store.known.problem?.message).toBe("gone");
    fails = false;
    await store.refresh();
    expect(store.known.problem).toBeNull();
    expect(told).toBe(3);
    end();
    await store.refresh();
    expect(told).toBe(3);
  });
});
