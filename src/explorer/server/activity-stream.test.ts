import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ActivityBatch } from "../api/activity.ts";
import { ActivityLog, type NewEntry } from "./activity-log.ts";
import { activityStream } from "./activity-stream.ts";

const call: NewEntry = {
  kind: "query",
  at: 0,
  milliseconds: 1,
  outcome: "ok",
  note: null,
  source: "udp",
  method: "A",
  place: "",
  subject: "example.org",
  bytes: null,
};

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
