import { beforeEach, describe, expect, it, vi } from "vitest";
import type { BindingCall, PlannedCall } from "./binding-call.ts";
import { BindingCalls } from "./binding-calls.ts";
import { PoolSession } from "./pool-session.ts";

const put: PlannedCall = { kind: "kv", binding: "KV", method: "put", key: "a", keys: ["a"] };

let session: PoolSession;
let calls: BindingCalls;
let touches = 0;
const recorded: BindingCall[] = [];
const warnings: [method: string, layer: number, wasRunning: boolean][] = [];

beforeEach(() => {
  recorded.length = 0;
  warnings.length = 0;
  session = new PoolSession(new Map([["KV", "kv"]]), new Map());
  session.openLayer(1);
  calls = new BindingCalls(session, {
    layerOf: (kind) => (kind === "kv" ? 1 : 0),
    touch: () => void touches++,
    record: (call) => void recorded.push(call),
    warnOfLateCall: ({ method }, ofLayer, wasRunning) => {
      warnings.push([method, ofLayer, wasRunning]);
    },
  });
});

const broken = (text: string) => calls.runRpc(put, () => Promise.reject(new Error(text)));
class RpcPromise<Value> extends Promise<Value> {}
const year = () => new Date().getFullYear();

/** A call whose end the test decides. */
function running() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { execute: () => promise, resolve, reject };
}

const state = (promise: PromiseLike<unknown>) =>
  Promise.race([
    Promise.resolve(promise).then(
      () => "fulfilled",
      () => "rejected",
    ),
    new Promise((resolve) => setTimeout(resolve, 20, "pending")),
  ]);

describe("a call", () => {
  it("that may write is announced before it is made, and a read is not", async () => {
    const before = touches;
    await calls.run({ ...put, method: "get" }, async () => "x");
    expect(touches).toBe(before);
    await calls.run(put, async () => expect(touches).toBe(before + 1));
    await calls.runRpc(put, async () => expect(touches).toBe(before + 2));
  });

  it("that reads when its test ends does not continue", async () => {
    const read = running();
    const promise = calls.run({ ...put, method: "get" }, read.execute);
    session.closeLayer(1);
    read.resolve("x");
    expect(await state(promise)).toBe("pending");
    expect(warnings).toEqual([["get", 1, true]]);
  });

  it("is recorded with its outcome", async () => {
    expect(await calls.run(put, async () => undefined)).toBeUndefined();
    await calls.run({ ...put, method: "get" }, async () => null);
    await expect(calls.run(put, () => Promise.reject(new Error("broken")))).rejects.toThrow(
      "broken",
    );
    expect(recorded).toEqual([
      { ...put, outcome: "ok", milliseconds: expect.any(Number) },
      { ...put, method: "get", outcome: "none", milliseconds: expect.any(Number) },
      { ...put, outcome: "error", error: "broken", milliseconds: expect.any(Number) },
    ]);
  });

  it("after the end of its test is not made, and does not end", async () => {
    session.closeLayer(1);
    const execute = vi.fn(async () => "x");
    expect(await state(calls.run(put, execute))).toBe("pending");
    expect(await state(calls.runRpc(put, execute))).toBe("pending");
    expect(execute).not.toHaveBeenCalled();
    expect(warnings).toEqual([
      ["put", 1, false],
      ["put", 1, false],
    ]);
    expect(calls.hasLateCalls).toBe(false);
  });

  it("of a kind that is not isolated is never late", async () => {
    session.closeLayer(1);
    expect(await calls.run({ ...put, kind: "r2" }, async () => "x")).toBe("x");
  });

  it("that isolation cancels does not fail", async () => {
    const call = running();
    const result = calls.run(put, call.execute);
    expect(calls.hasLateCalls).toBe(false);
    session.closeLayer(1);
    expect(calls.hasLateCalls).toBe(true);
    call.reject(new Error("aborted"));
    expect(await state(result)).toBe("pending");
    expect(calls.hasLateCalls).toBe(false);
    expect(warnings).toEqual([["put", 1, true]]);
    expect(recorded).toEqual([]);
  });

  it("that is made slow is not made after the end of its test", async () => {
    session.arm({ binding: "KV" }, { kind: "slow", by: 5 });
    const execute = vi.fn(async () => "x");
    const result = calls.run(put, execute);
    session.closeLayer(1);
    expect(await state(result)).toBe("pending");
    expect(execute).not.toHaveBeenCalled();
  });
});

describe("a call by RPC", () => {
  it("returns the promise of the runtime, and is recorded before its result is seen", async () => {
    const promise = Promise.resolve("x");
    const returned = calls.runRpc(put, () => promise);
    expect(returned).toBe(promise);
    expect(await returned).toBe("x");
    expect(recorded).toMatchObject([{ method: "put", outcome: "ok" }]);
  });

  it("whose error nothing handles is reported, and no other", async () => {
    const reported: unknown[] = [];
    const listeners = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    process.on("unhandledRejection", (error) => reported.push(error));
    try {
      await expect(broken("awaited")).rejects.toThrow("awaited");
      const awaited = (async () => {
        // The script asks for `then` of such a promise in a later microtask.
        await calls.runRpc(put, () => RpcPromise.reject(new Error("awaited")));
      })();
      await expect(awaited).rejects.toThrow("awaited");
      void broken("not awaited");
      await vi.waitFor(() => expect(reported).toEqual([new Error("not awaited")]));
    } finally {
      process.removeAllListeners("unhandledRejection");
      for (const listener of listeners) process.on("unhandledRejection", listener);
    }
  });

  it("is delayed by all faults, and then fails", async () => {
    session.arm({ binding: "KV" }, { kind: "slow", by: 10 });
    session.arm({ binding: "KV", times: 1 }, { kind: "fail" });
    session.arm({ binding: "KV", when: "after" }, { kind: "slow", by: 10 });
    const execute = vi.fn(async () => "x");
    await expect(calls.run(put, execute)).rejects.toThrow("KV PUT failed: 500");
    expect(execute).not.toHaveBeenCalled();
    expect(recorded[0]?.milliseconds).toBeGreaterThan(17);
    expect(await calls.run(put, execute)).toBe("x");
    const kinds = session.injected.map(({ effect }) => effect.kind);
    expect(kinds).toEqual(["slow", "fail", "slow", "slow", "slow"]);
  });

  it("counts a call once for a fault", async () => {
    session.arm({ binding: "KV", nth: 2 }, { kind: "drop" });
    await calls.runRpc(put, async () => "x");
    await expect(calls.runRpc(put, async () => "x")).rejects.toThrow("Network connection lost.");
    await calls.runRpc(put, async () => "x");
    expect(recorded.map(({ outcome }) => outcome)).toEqual(["ok", "error", "ok"]);
  });

  it("that isolation cancels gives a warning", async () => {
    const call = running();
    calls.runRpc(put, call.execute);
    session.closeLayer(1);
    call.reject(new Error("aborted"));
    await vi.waitFor(() => expect(warnings).toEqual([["put", 1, true]]));
    expect(calls.hasLateCalls).toBe(false);
  });
});

describe("the session", () => {
  it("ends faults with the layer of their test, and keeps them over snapshots", () => {
    session.arm({ binding: "KV" }, { kind: "drop" });
    session.openLayer(2, true);
    session.arm({ binding: "KV", key: "b" }, { kind: "drop" });
    session.closeLayer(2);
    expect(session.unused).toHaveLength(2);
    expect(session.hit(put)[0]?.nth).toBe(1);
    expect(session.injected).toHaveLength(1);
    session.closeLayer(1);
    session.openLayer(3);
    expect([session.unused, session.injected, session.hit(put)]).toEqual([[], [], []]);
    expect([session.isOpen(0), session.isOpen(1), session.isOpen(3)]).toEqual([true, false, true]);
  });

  it("knows the faults of a test and of its suite", () => {
    const ofSuite = session.addStoreFault();
    session.openLayer(2);
    session.openLayer(3, true);
    const ofTest = session.addStoreFault();
    session.addDnsFault();
    session.arm({ binding: "KV" }, { kind: "drop" });
    expect(session.faultsOf(1)).toMatchObject({ storeFaults: new Set([ofSuite]), faults: [] });
    expect(session.faultsOf(2)).toMatchObject({ storeFaults: new Set([ofTest]), dnsFaults: 1 });
    expect(session.faultsOf(2)?.faults).toHaveLength(1);
    session.clearFaults();
    session.clearDnsFaults();
    expect(session.faultsOf(2)).toMatchObject({ storeFaults: new Set(), dnsFaults: 0, faults: [] });
    session.closeLayer(1);
    expect(session.faultsOf(2)).toBeUndefined();
  });

  it("moves the date back with the layer", () => {
    const now = year();
    session.moveDate(400 * 86_400_000);
    session.openLayer(2, true);
    session.moveDate(400 * 86_400_000);
    // A snapshot does not contain the time.
    session.closeLayer(2);
    expect(year()).toBeGreaterThanOrEqual(now + 2);
    session.closeLayer(1);
    expect(year()).toBe(now);
  });
});
