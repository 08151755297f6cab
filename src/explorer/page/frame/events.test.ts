import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { atMostEvery } from "./events.ts";

describe("atMostEvery()", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("acts once for many wishes, and not before the interval is over", () => {
    const act = vi.fn<() => void>();
    const reloads = atMostEvery(500, act);
    for (let wish = 0; wish < 10; wish++) reloads.wish();
    vi.advanceTimersByTime(499);
    expect(act).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(act).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(5000);
    expect(act).toHaveBeenCalledTimes(1);
  });

  it("acts at once after a quiet interval, and for a wish that came while it waited", () => {
    const act = vi.fn<() => void>();
    const reloads = atMostEvery(500, act);
    vi.advanceTimersByTime(600);
    reloads.wish();
    vi.advanceTimersByTime(0);
    expect(act).toHaveBeenCalledTimes(1);
    reloads.wish();
    vi.advanceTimersByTime(499);
    expect(act).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1);
    expect(act).toHaveBeenCalledTimes(2);
  });

  it("does nothing after its end", () => {
    const act = vi.fn<() => void>();
    const reloads = atMostEvery(500, act);
    reloads.wish();
    reloads.stop();
    vi.advanceTimersByTime(5000);
    expect(act).not.toHaveBeenCalled();
  });
});
