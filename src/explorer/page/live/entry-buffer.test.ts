import { describe, expect, it } from "vitest";
import { addBatch, clearBuffer, emptyBuffer } from "./entry-buffer.ts";
import { callEntry } from "./entry-fixture.ts";

const batch = (...ids: number[]) => ({ entries: ids.map((id) => callEntry({ id })), dropped: 0 });
const idsOf = (rows: typeof emptyBuffer.rows) => rows.map(({ entry }) => entry.id);

describe("addBatch()", () => {
  it("keeps the newest entries, and counts those that leave", () => {
    const first = addBatch(emptyBuffer, batch(1, 2), 3);
    expect(first).toMatchObject({ lastId: 2, droppedByPage: 0 });
    const second = addBatch(first, batch(3, 4, 5), 3);
    expect(idsOf(second.rows)).toEqual([3, 4, 5]);
    expect(second).toMatchObject({ lastId: 5, droppedByPage: 2 });
  });

  it("adds up what the server dropped", () => {
    const once = addBatch(emptyBuffer, { entries: [], dropped: 4 });
    expect(addBatch(once, { entries: [], dropped: 3 }).droppedByServer).toBe(7);
    expect(once.lastId).toBe(0);
  });

  it("goes on after the ids of a server that was started again, with serial numbers of its own", () => {
    const before = addBatch(emptyBuffer, batch(70, 71));
    const after = addBatch(before, batch(1));
    expect(after.lastId).toBe(1);
    expect(after.rows.map(({ serial }) => serial)).toEqual([1, 2, 3]);
  });
});

describe("clearBuffer()", () => {
  it("removes the rows, and stays at the same place of the stream", () => {
    const cleared = clearBuffer(addBatch(emptyBuffer, { ...batch(8, 9), dropped: 1 }));
    expect(cleared).toEqual({ ...emptyBuffer, lastId: 9, nextSerial: 3 });
  });
});
