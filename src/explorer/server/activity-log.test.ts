import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ActivityBatch } from "../api/activity.ts";
import {
  ActivityLog,
  activityStream,
  ChangeFeed,
  changeStream,
  type NewEntry,
} from "./activity-log.ts";

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

  it("tells when a page follows, and when the last page leaves", () => {
    const log = new ActivityLog();
    const told: boolean[] = [];
    log.onFollowed(() => told.push(log.isFollowed));
    let woken = 0;
    const endOne = log.follow(() => woken++);
    const endOther = log.follow(() => woken++);
    log.add(call);
    endOne();
    endOne();
    expect([told, woken]).toEqual([[true, true, true], 2]);
    endOther();
    expect(told.at(-1)).toBe(false);
  });
});

function open(after = 0, log = new ActivityLog()) {
  const ended = new AbortController();
  const stream = activityStream(log, { after, signal: ended.signal });
  const next = async () => {
    const { value, done } = await stream.next();
    return done === true ? null : new TextDecoder().decode(value);
  };
  return { log, ended, next };
}

function idsIn(message: string | null): number[] {
  const data = /^data: (.*)$/m.exec(message ?? "")?.[1] ?? "";
  return (JSON.parse(data) as ActivityBatch).entries.map(({ id }) => id);
}

describe("activityStream()", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("collects the entries of a short time", async () => {
    const { log, next } = open();
    log.add(call);
    expect(await next()).toBe("retry: 1000\n\n");
    const first = await next();
    expect(first).toMatch(/^id: 1\ndata: \{.*\}\n\n$/);
    const second = next();
    log.add(call);
    log.add(call);
    await vi.advanceTimersByTimeAsync(99);
    log.add(call);
    await vi.advanceTimersByTimeAsync(1);
    expect(idsIn(await second)).toEqual([2, 3, 4]);
  });

  it("sends an entry at once after a silence, and a comment in a long silence", async () => {
    const { log, next } = open();
    await next();
    const comment = next();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await comment).toBe(":\n\n");
    const entry = next();
    await vi.advanceTimersByTimeAsync(5000);
    log.add(call);
    expect(idsIn(await entry)).toEqual([1]);
  });

  it("continues after the last id, in messages of a limited size", async () => {
    const log = new ActivityLog();
    for (let index = 0; index < 502; index++) log.add(call);
    const { next } = open(1, log);
    await next();
    expect(idsIn(await next())).toHaveLength(500);
    expect(idsIn(await next())).toEqual([502]);
  });

  it("ends with its signal, while it waits and before", async () => {
    const { log, ended, next } = open();
    await next();
    const waiting = next();
    await vi.advanceTimersByTimeAsync(10);
    expect(log.isFollowed).toBe(true);
    ended.abort();
    expect(await waiting).toBeNull();
    expect(log.isFollowed).toBe(false);
  });
});

function openChanges() {
  const feed = new ChangeFeed();
  const stream = changeStream(feed, new AbortController().signal);
  const next = async () => new TextDecoder().decode((await stream.next()).value ?? undefined);
  return { feed, next };
}

describe("changeStream()", () => {
  const photos = { topic: "objects", bucket: "photos" } as const;

  it("sends each change once, in one message", async () => {
    const { feed, next } = openChanges();
    await next();
    feed.add(photos, { topic: "zones" }, { ...photos });
    expect(await next()).toBe(`data: ${JSON.stringify([photos, { topic: "zones" }])}\n\n`);
  });
});
