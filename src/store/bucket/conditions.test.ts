import { afterEach, describe, expect, it } from "vitest";
import type { Operation } from "../core/operations.ts";
import { failEffect, makeStoreFault, type FaultEffect } from "../core/fault.ts";
import type { RequestedConditions } from "../client/message.ts";
import { storeClock } from "./test-session.ts";
import { heldConditions } from "./conditions.ts";

const held: ReturnType<typeof heldConditions.add>[] = [];

/** Conditions of a connection, as JSON carries them. */
function hold(conditions: Partial<RequestedConditions>): (typeof held)[0] {
  const holder = heldConditions.add();
  held.push(holder);
  heldConditions.replace(holder, carried(conditions));
  return holder;
}

function carried(conditions: Partial<RequestedConditions>): RequestedConditions {
  const usual = { faults: [], latencyMilliseconds: 0, clockOffsetMilliseconds: 0 };
  return JSON.parse(JSON.stringify({ ...usual, ...conditions })) as RequestedConditions;
}

afterEach(() => {
  for (const holder of held.splice(0)) heldConditions.remove(holder);
});

const head = { method: "head", key: "a" } as Operation;
const slow: FaultEffect = { kind: "slow", milliseconds: 100 };
const failHead = makeStoreFault({ method: "head" }, failEffect(10001));

describe("heldConditions", () => {
  it("affect calls only while a connection holds faults or a latency", () => {
    expect(heldConditions.affectsCalls).toBe(false);
    const holder = hold({ clockOffsetMilliseconds: 5 });
    expect(heldConditions.affectsCalls).toBe(false);
    heldConditions.replace(holder, carried({ latencyMilliseconds: 1 }));
    expect(heldConditions.affectsCalls).toBe(true);
    heldConditions.replace(holder, null);
    expect(heldConditions.affectsCalls).toBe(false);
    heldConditions.replace(holder, carried({ faults: [failHead] }));
    expect(heldConditions.affectsCalls).toBe(true);
    heldConditions.remove(holder);
    expect(heldConditions.affectsCalls).toBe(false);
  });

  it("add the longest latency to each call, also to a call that is slow or fails", () => {
    hold({ latencyMilliseconds: 10 });
    hold({ latencyMilliseconds: 30, faults: [makeStoreFault({ method: "get" }, slow), failHead] });
    expect(heldConditions.decide("photos", { method: "list" } as Operation)).toEqual({
      execute: true,
      fault: { delayMilliseconds: 30 },
    });
    expect(heldConditions.decide("photos", { method: "get", key: "a" })).toEqual({
      execute: true,
      fault: { delayMilliseconds: 130 },
    });
    expect(heldConditions.decide("photos", head)).toMatchObject({
      execute: false,
      replacement: { ok: false, code: 10001 },
      fault: { delayMilliseconds: 30 },
    });
  });

  it("do not concern operations that no script can call", () => {
    hold({ latencyMilliseconds: 10, faults: [makeStoreFault({}, slow)] });
    expect(heldConditions.decide("photos", { method: "stats" })).toEqual({ execute: true });
  });

  it("have a clock of the connection that has moved it last", () => {
    const one = hold({ clockOffsetMilliseconds: 1000 });
    const other = hold({ clockOffsetMilliseconds: -500 });
    heldConditions.replace(one, carried({ clockOffsetMilliseconds: 1000, latencyMilliseconds: 1 }));
    expect(storeClock.offsetMilliseconds).toBe(-500);
    heldConditions.replace(one, carried({ clockOffsetMilliseconds: 2000 }));
    expect(storeClock.offsetMilliseconds).toBe(2000);
    heldConditions.remove(one);
    expect(storeClock.offsetMilliseconds).toBe(-500);
    heldConditions.remove(other);
    expect(storeClock.offsetMilliseconds).toBe(0);
  });

  it("count the hits of a fault that stays, and forget a fault that was removed", () => {
    const holder = hold({ faults: [failHead] });
    heldConditions.decide("photos", head);
    const hits = () => holder.faults.map((fault) => fault.hits);
    heldConditions.replace(
      holder,
      carried({ faults: [makeStoreFault({ method: "get" }, slow), failHead] }),
    );
    expect(hits()).toEqual([0, 1]);
    heldConditions.replace(holder, null);
    heldConditions.replace(holder, carried({ faults: [failHead] }));
    expect(hits()).toEqual([0]);
  });
});
