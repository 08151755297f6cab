import { describe, expect, it } from "vitest";
import type { AnyCall } from "./call-details.ts";
import { CallLists, type CallList } from "./call-lists.ts";

const call = (key: string) => ({ method: "put", key }) as AnyCall;
const keys = (calls: readonly AnyCall[]) => calls.map(({ key }) => key);

describe("CallLists", () => {
  it("gives each of two running tests its own calls", () => {
    const lists = new CallLists();
    const [one, two] = [lists.begin(true), lists.begin(true)];
    lists.record(call("a"), one);
    lists.record(call("b"), two);
    expect(keys(one.calls)).toEqual(["a"]);
    expect(keys(two.calls)).toEqual(["b"]);
  });

  it("gives all running tests a call of an unknown test, and a call of their suite", () => {
    const lists = new CallLists();
    const suite = lists.begin(false);
    const [one, two] = [lists.begin(true), lists.begin(true)];
    lists.end(two);
    lists.record(call("unknown"), undefined);
    lists.record(call("suite"), suite);
    expect(keys(one.calls)).toEqual(["unknown", "suite"]);
    expect(keys(two.calls)).toEqual([]);
    expect(keys(suite.calls)).toEqual(["suite"]);
  });

  it("gives a late call to no other test", () => {
    const lists = new CallLists();
    const one = lists.begin(true);
    lists.end(one);
    const two = lists.begin(true);
    lists.record(call("late"), one);
    expect(keys(two.calls)).toEqual([]);
  });
});

describe("show()", () => {
  it("behaves like the array of the task that reads", () => {
    const lists = new CallLists();
    let reader: CallList | undefined = lists.begin(true);
    const other = lists.begin(true);
    const shown = lists.show(() => reader);
    lists.record(call("a"), reader);
    lists.record(call("b"), reader);
    lists.record(call("c"), other);
    expect(Array.isArray(shown)).toBe(true);
    expect(shown).toHaveLength(2);
    expect(shown).toEqual([call("a"), call("b")]);
    expect(shown).toStrictEqual([call("a"), call("b")]);
    expect([...shown].length).toBe(2);
    expect(shown[1]?.key).toBe("b");
    expect(shown.at(-1)?.key).toBe("b");
    expect(JSON.stringify(shown)).toBe(JSON.stringify([call("a"), call("b")]));
    expect(() => expect(shown).toEqual([])).toThrow("expected [ { method: 'put', key: 'a' }");
    reader = other;
    expect(keys(shown)).toEqual(["c"]);
    reader = undefined;
    expect(keys(shown)).toEqual(["a", "b", "c"]);
  });

  it("clears the calls of the task that reads", () => {
    const lists = new CallLists();
    const [one, two] = [lists.begin(true), lists.begin(true)];
    lists.record(call("a"), one);
    lists.record(call("b"), two);
    lists.show(() => one).clear();
    expect(one.calls).toEqual([]);
    expect(keys(two.calls)).toEqual(["b"]);
  });
});
