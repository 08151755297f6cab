import { describe, expect, it } from "vitest";
import { linkDurationOf, linkDurations } from "./link-duration.ts";

describe("linkDurations", () => {
  it("are an hour, a day and the seven days that a signature allows at most", () => {
    expect(linkDurations.map(({ seconds }) => seconds)).toEqual([3600, 86_400, 604_800]);
  });
});

describe("linkDurationOf()", () => {
  it("reads the value of the form, and takes the shortest for any other", () => {
    expect(linkDurationOf("86400").label).toBe("1 day");
    expect(linkDurationOf("999999999").label).toBe("1 hour");
  });
});
