import { describe, expect, it } from "vitest";
import { lifetimeText, transferTimeText } from "./time-left.ts";

describe("transferTimeText()", () => {
  it("is rounded", () => {
    expect(transferTimeText(0.2)).toBe("a few seconds left");
    expect(transferTimeText(31)).toBe("about 40 seconds left");
    expect(transferTimeText(61)).toBe("about 1 minute left");
    expect(transferTimeText(3000)).toBe("about 50 minutes left");
    expect(transferTimeText(3 * 3600)).toBe("about 3 hours left");
    expect(transferTimeText(3 * 86_400)).toBe("about 3 days left");
  });
});

describe("lifetimeText()", () => {
  const day = 86_400_000;
  it("has the two largest units", () => {
    expect(lifetimeText(7 * day)).toBe("7 days");
    expect(lifetimeText(7 * day - 1)).toBe("6 days 23 hours");
    expect(lifetimeText(day + 3_600_000)).toBe("1 day 1 hour");
    expect(lifetimeText(3_600_000 + 60_000)).toBe("1 hour 1 minute");
    expect(lifetimeText(119_000)).toBe("1 minute");
    expect(lifetimeText(59_000)).toBe("59 seconds");
  });

  it("says that an upload has expired", () => {
    expect(lifetimeText(999)).toBe("expired");
    expect(lifetimeText(-day)).toBe("expired");
  });
});
