import { describe, expect, it } from "vitest";
import { callEntry, requestEntry } from "./entry-fixture.ts";
import {
  durationText,
  outcomeText,
  outcomeTone,
  pathOf,
  subjectOf,
  timeText,
} from "./entry-words.ts";

describe("durationText()", () => {
  it.each([
    [0, "0 ms"],
    [0.44, "0.4 ms"],
    [9.96, "10 ms"],
    [123.4, "123 ms"],
    [999.7, "1.00 s"],
    [12_345, "12.35 s"],
  ])("writes %d as %s", (milliseconds, text) => {
    expect(durationText(milliseconds)).toBe(text);
  });
});

describe("timeText()", () => {
  it("has two digits for each part, and three for milliseconds", () => {
    expect(timeText(new Date(2030, 0, 2, 3, 4, 5, 6).getTime())).toBe("03:04:05.006");
  });
});

describe("pathOf()", () => {
  it.each([
    ["http://localhost:8787/a?b#c", "/a?b#c"],
    ["http://localhost", "http://localhost"],
    ["*/5 * * * *", "*/5 * * * *"],
    ["/a", "/a"],
  ])("of %s is %s", (url, path) => {
    expect(pathOf(url)).toBe(path);
  });
});

describe("a row", () => {
  it("names its subject", () => {
    expect(subjectOf(callEntry())).toBe("photos/images/a.png");
    expect(subjectOf(callEntry({ subject: "" }))).toBe("photos");
    expect(subjectOf(callEntry({ kind: "query", place: "", subject: "a.test" }))).toBe("a.test");
    expect(subjectOf(requestEntry())).toBe("/albums?page=2");
  });

  it("has the status or the outcome, in a tone", () => {
    expect(outcomeText(requestEntry({ status: 404 }))).toBe("404");
    expect(outcomeTone(requestEntry({ status: 404 }))).toBe("warning");
    expect(outcomeTone(requestEntry({ status: 500 }))).toBe("bad");
    expect(outcomeText(requestEntry({ status: null, outcome: "error" }))).toBe("error");
    expect(outcomeTone(callEntry({ outcome: "none" }))).toBe("warning");
    expect(outcomeTone(callEntry())).toBe("good");
  });
});
