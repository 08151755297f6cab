import { describe, expect, it } from "vitest";
import { ActivityLog, type NewEntry } from "./activity-log.ts";

const call: NewEntry = {
  kind: "bucket",
  at: 0,
  milliseconds: 1,
  outcome: "ok",
  note: null,
  source: "s3",
  method: "put",
  place: "photos",
  subject: "a",
  bytes: 1,
};

function filled(count: number): ActivityLog {
  const log = new ActivityLog();
  for (let index = 0; index < count; index++) log.add(call);
  return log;
}

const ids = (log: ActivityLog, after: number) => log.after(after).entries.map(({ id }) => id);

describe("ActivityLog", () => {
  it("lists the entries after an id", () => {
    const log = filled(3);
    expect(ids(log, 0)).toEqual([1, 2, 3]);
    expect(ids(log, 2)).toEqual([3]);
    expect(ids(log, 3)).toEqual([]);
  });

  it("gives all entries to a page of an earlier server", () => {
    expect(filled(2).after(70)).toMatchObject({ entries: [{ id: 1 }, { id: 2 }], dropped: 0 });
  });

  it("says how many entries are lost", () => {
    const log = filled(10_001);
    expect(log.after(1).dropped).toBe(4999);
    expect(ids(log, 1)[0]).toBe(5001);
    // A page that has just been opened misses nothing.
    expect(log.after(0).dropped).toBe(0);
  });

  it("tells when the first page follows, and when the last page leaves", () => {
    const log = new ActivityLog();
    const told: boolean[] = [];
    log.onFollowed((isFollowed) => told.push(isFollowed));
    let woken = 0;
    const endOne = log.follow(() => woken++);
    const endOther = log.follow(() => woken++);
    log.add(call);
    endOne();
    endOne();
    expect([told, log.isFollowed, woken]).toEqual([[true], true, 2]);
    endOther();
    expect([told, log.isFollowed]).toEqual([[true, false], false]);
  });
});
