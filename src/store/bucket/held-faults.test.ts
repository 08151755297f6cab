import { afterEach, describe, expect, it } from "vitest";
import type { Operation } from "../core/operations.ts";
import { failEffect, makeStoreFault, type FaultEffect } from "../core/fault.ts";
import type { RequestedFaults } from "../client/message.ts";
import { storeClock } from "./test-session.ts";
import { heldFaults } from "./held-faults.ts";

const held: ReturnType<typeof heldFaults.add>[] = [];

/** Faults of a connection, as JSON carries them. */
function hold(faults: Partial<RequestedFaults>): (typeof held)[0] {
  const holder = heldFaults.add();
  held.push(holder);
  heldFaults.replace(holder, carried(faults));
  return holder;
}

function carried(faults: Partial<RequestedFaults>): RequestedFaults {
  const usual = { faults: [], latencyMilliseconds: 0, clockOffsetMilliseconds: 0 };
  return JSON.parse(JSON.stringify({ ...usual, ...faults })) as RequestedFaults;
}

afterEach(() => {
  for (const holder of held.splice(0)) heldFaults.remove(holder);
});

const head = { method: "head", key: "a" } as Operation;
const slow: FaultEffect = { kind: "slow", milliseconds: 100 };
const failHead = makeStoreFault({ method: "head" }, failEffect(10001));

describe("heldFaults", () => {
  it("affect calls only while a connection holds faults or a latency", () => {
    expect(heldFaults.affectsCalls).toBe(false);
    const holder = hold({ clockOffsetMilliseconds: 5 });
    expect(heldFaults.affectsCalls).toBe(false);
    heldFaults.replace(holder, carried({ latencyMilliseconds: 1 }));
    expect(heldFaults.affectsCalls).toBe(true);
    heldFaults.replace(holder, null);
    expect(heldFaults.affectsCalls).toBe(false);
    heldFaults.replace(holder, carried({ faults: [failHead] }));
    expect(heldFaults.affectsCalls).toBe(true);
    heldFaults.remove(holder);
    expect(heldFaults.affectsCalls).toBe(false);
  });

  it("tell each connection the last hits, and forget older ones", () => {
    const [first, second] = [hold({ faults: [failHead] }), hold({})];
    heldFaults.decide("photos", head);
    heldFaults.decide("photos", { method: "get", key: "a" });
    const hit = { bucket: "photos", method: "head", key: "a", nth: 1, when: "before" };
    expect(first.injected).toMatchObject([hit]);
    expect(second.injected).toEqual(first.injected);
    for (let call = 0; call < 500; call++) heldFaults.decide("photos", head);
    expect(first.injected.length).toBeLessThanOrEqual(200);
    expect(first.injected.at(-1)?.nth).toBe(501);
  });

  it("add the longest latency to each call, also to a call that is slow or fails", () => {
    hold({ latencyMilliseconds: 10 });
    hold({ latencyMilliseconds: 30, faults: [makeStoreFault({ method: "get" }, slow), failHead] });
    expect(heldFaults.decide("photos", { method: "list" } as Operation)).toEqual({
      execute: true,
      fault: { delayMilliseconds: 30 },
    });
    expect(heldFaults.decide("photos", { method: "get", key: "a" })).toEqual({
      execute: true,
      fault: { delayMilliseconds: 130 },
    });
    expect(heldFaults.decide("photos", head)).toMatchObject({
      execute: false,
      replacement: { ok: false, code: 10001 },
      fault: { delayMilliseconds: 30 },
    });
  });

  it("do not concern operations that no script can call", () => {
    hold({ latencyMilliseconds: 10, faults: [makeStoreFault({}, slow)] });
    expect(heldFaults.decide("photos", { method: "stats" })).toEqual({ execute: true });
  });

  it("have a clock of the connection that has moved it last", () => {
    const one = hold({ clockOffsetMilliseconds: 1000 });
    const other = hold({ clockOffsetMilliseconds: -500 });
    heldFaults.replace(one, carried({ clockOffsetMilliseconds: 1000, latencyMilliseconds: 1 }));
    expect(storeClock.offsetMilliseconds).toBe(-500);
    heldFaults.replace(one, carried({ clockOffsetMilliseconds: 2000 }));
    expect(storeClock.offsetMilliseconds).toBe(2000);
    heldFaults.remove(one);
    expect(storeClock.offsetMilliseconds).toBe(-500);
    heldFaults.remove(other);
    expect(storeClock.offsetMilliseconds).toBe(0);
  });

  it("count the hits of a fault that stays, and forget a fault that was removed", () => {
    const holder = hold({ faults: [failHead] });
    heldFaults.decide("photos", head);
    const hits = () => holder.faults.map((fault) => fault.hits);
    heldFaults.replace(
      holder,
      carried({ faults: [makeStoreFault({ method: "get" }, slow), failHead] }),
    );
    expect(hits()).toEqual([0, 1]);
    heldFaults.replace(holder, null);
    heldFaults.replace(holder, carried({ faults: [failHead] }));
    expect(hits()).toEqual([0]);
  });
});
