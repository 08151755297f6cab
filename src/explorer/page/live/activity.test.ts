import { describe, expect, it } from "vitest";
import { ActivityMeter, addBatch, clearBuffer, emptyBuffer, meterSeconds } from "./activity.ts";
import { callEntry, requestEntry } from "../fixtures.ts";

const batch = (...ids: number[]) => ({ entries: ids.map((id) => callEntry({ id })), dropped: 0 });
const idsOf = (rows: typeof emptyBuffer.rows) => rows.map(({ entry }) => entry.id);

describe("addBatch()", () => {
  it("keeps the newest entries, and counts those that leave", () => {
    const first = addBatch(emptyBuffer, batch(1, 2), 3);
    expect(first).toMatchObject({ lastId: 2, dropped: 0 });
    const second = addBatch(first, batch(3, 4, 5), 3);
    expect(idsOf(second.rows)).toEqual([3, 4, 5]);
    expect(second).toMatchObject({ lastId: 5, dropped: 2 });
  });

  it("orders entries by their start: earlier queries arrive after newer requests", () => {
    const request = { entries: [requestEntry({ id: 1, at: 5000 })], dropped: 0 };
    const earlier = { entries: [callEntry({ id: 2, at: 1000 }), callEntry({ id: 3, at: 6000 })] };
    const buffer = addBatch(addBatch(emptyBuffer, request), { ...earlier, dropped: 0 });
    expect(idsOf(buffer.rows)).toEqual([2, 1, 3]);
    expect(buffer.lastId).toBe(3);
  });

  it("adds up what the server dropped", () => {
    const once = addBatch(emptyBuffer, { entries: [], dropped: 4 });
    expect(addBatch(once, { entries: [], dropped: 3 }).dropped).toBe(7);
    expect(once.lastId).toBe(0);
  });

  it("goes on after the ids of a server that was started again, with serial numbers of its own", () => {
    const before = addBatch(emptyBuffer, batch(70, 71));
    const after = addBatch(before, batch(1));
    expect(after.lastId).toBe(1);
    expect(after.rows.map(({ serial }) => serial)).toEqual([1, 2, 3]);
  });

  it("replaces the entry of the same request, which ran for long", () => {
    const entries = [requestEntry({ id: 1 }), callEntry({ id: 2 })];
    const before = addBatch(emptyBuffer, { entries, dropped: 0 });
    const after = addBatch(before, { entries: [requestEntry({ id: 3, replaces: 1 })], dropped: 0 });
    expect([idsOf(after.rows), after.dropped]).toEqual([[2, 3], 0]);
  });
});

describe("clearBuffer()", () => {
  it("removes the rows, and stays at the same place of the stream", () => {
    const cleared = clearBuffer(addBatch(emptyBuffer, { ...batch(8, 9), dropped: 1 }));
    expect(cleared).toEqual({ ...emptyBuffer, lastId: 9, nextSerial: 3 });
  });
});

const now = 1_700_000_000_500;
/** A call that ends so many milliseconds ago. */
const ended = (ago: number, milliseconds = 5) =>
  callEntry({ at: now - ago - milliseconds, milliseconds });

describe("ActivityMeter", () => {
  it("counts what ended in each whole second, the last second last", () => {
    const meter = new ActivityMeter();
    meter.add([ended(600), ended(1400), ended(1600), ended(1000, 9000), ended(100)], now);
    expect(meter.read(now).all.slice(-3)).toEqual([0, 1, 3]);
    expect(meter.read(now + 1000).all.slice(-3)).toEqual([1, 3, 1]);
    expect(meter.read(now).all).toHaveLength(meterSeconds);
  });

  it("counts errors, also responses with the status 500", () => {
    const meter = new ActivityMeter();
    const failed = { ...ended(1500), outcome: "error" as const };
    meter.add([failed, requestEntry({ at: now - 2000, milliseconds: 500, status: 500 })], now);
    expect(meter.read(now).errors.at(-1)).toBe(2);
  });

  it("leaves out the explorer's own calls, and forgets what ended more than a minute ago", () => {
    const meter = new ActivityMeter();
    meter.add([{ ...ended(1500), source: "explorer" }, ended(62_000)], now);
    expect(Math.max(...meter.read(now).all)).toBe(0);
    meter.add([ended(1500)], now);
    meter.add([], now + 70_000);
    expect(Math.max(...meter.read(now).all)).toBe(0);
  });
});
