import { describe, expect, it } from "vitest";
import { retryAfterMilliseconds, retryDelay } from "./retry.ts";

type Attempt = Parameters<typeof retryDelay>[0];

const attempt = (parts: Partial<Attempt>): Attempt => ({
  failed: 1,
  restMilliseconds: 20_000,
  askedMilliseconds: null,
  random: 0.5,
  ...parts,
});

describe("retryDelay()", () => {
  it("doubles the longest delay, and takes a random part of it", () => {
    const delays = [1, 2, 3, 4].map((failed) => retryDelay(attempt({ failed })));
    expect(delays).toEqual([100, 200, 400, 800]);
    expect(retryDelay(attempt({ random: 0 }))).toBe(0);
  });

  it("ends after five attempts, and when the time is over", () => {
    expect(retryDelay(attempt({ failed: 5 }))).toBeNull();
    expect(retryDelay(attempt({ restMilliseconds: 101 }))).toBe(100);
    expect(retryDelay(attempt({ restMilliseconds: 100 }))).toBeNull();
  });

  it("waits as long as the service has asked for", () => {
    expect(retryDelay(attempt({ askedMilliseconds: 3000 }))).toBe(3000);
    expect(retryDelay(attempt({ askedMilliseconds: 50 }))).toBe(100);
    expect(retryDelay(attempt({ askedMilliseconds: 20_000 }))).toBeNull();
  });
});

describe("retryAfterMilliseconds()", () => {
  const now = Date.parse("2026-02-03T04:05:06Z");

  it.each([
    [null, null],
    ["2", 2000],
    ["0", 0],
    ["3600", 3_600_000],
    ["Tue, 03 Feb 2026 04:05:09 GMT", 3000],
    ["Tue, 03 Feb 2026 04:05:00 GMT", 0],
    ["soon", null],
    ["", null],
  ])("reads %s", (header, expected) => {
    expect(retryAfterMilliseconds(header, now)).toBe(expected);
  });
});
