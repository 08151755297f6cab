import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasWord, parseFilter, toggleWord } from "./activity-filter.ts";
import { callEntry, requestEntry } from "../fixtures.ts";

const put = callEntry();
const query = callEntry({ kind: "query", method: "A", place: "", subject: "www.example.org" });
const failed = callEntry({ outcome: "error", note: "Internal error (10001)", milliseconds: 300 });
const own = callEntry({ source: "explorer", method: "list", subject: "" });
const request = requestEntry({
  calls: [failed, query],
  logs: [{ level: "log", text: "Resized" }],
});
const kv = callEntry({ kind: "kv" as never, place: "SETTINGS", subject: "theme", outcome: "none" });
const thrown = requestEntry({
  url: "http://localhost/thrown",
  status: 404,
  exceptions: [{ name: "TypeError", message: "x is not a function", stack: "" }],
});
const all = { put, query, failed, own, request, kv, thrown };

describe("parseFilter()", () => {
  it.each([
    ["", ["put", "query", "failed", "request", "kv", "thrown"]],
    ["kind:request", ["request", "thrown"]],
    ["kind:query", ["query", "request"]],
    ["kind:query kind:bucket", ["put", "query", "failed", "request"]],
    ["is:error", ["failed", "request"]],
    ["kind:query is:error", []],
    ["A.PNG put is:ok", ["put"]],
    [">100ms", ["failed", "request"]],
    [">100", ["failed", "request"]],
    [">1s", []],
    ["PHOTOS", ["put", "failed", "request"]],
    ["404", ["thrown"]],
    ["10001", ["failed", "request"]],
    ["albums?page", ["request"]],
    ["resized", ["request"]],
    ["images -10001", ["put"]],
    ['"internal error"', ["failed", "request"]],
    ['"kind:request"', []],
    ["http://localhost", ["request", "thrown"]],
    ["source:", ["put", "query", "failed", "request", "kv", "thrown"]],
    ["source:explorer", ["own"]],
    ["source:script kind:query", ["query", "request"]],
    ["kind:other", ["kv"]],
    ["kind:kv is:not-found", ["kv"]],
    ["typeerror", ["thrown"]],
  ])("show with %j exactly %j", (text, names) => {
    const filter = parseFilter(text);
    expect(filter.problem).toBeNull();
    const shown = Object.entries(all).filter(([, entry]) => filter.matches(entry));
    expect(shown.map(([name]) => name)).toEqual(names);
  });

  it("count a response with the status 500 as an error", () => {
    const filter = parseFilter("is:error");
    expect(filter.matches(requestEntry({ status: 503 }))).toBe(true);
    expect(filter.matches(requestEntry({ status: 404 }))).toBe(false);
    expect(parseFilter("is:ok").matches(requestEntry({ status: 503 }))).toBe(false);
  });

  it.each([
    ["is:bad", 'After "is:" write ok, not-found, error.'],
    [">soon", "Write >100ms or >2s."],
  ])("say what is wrong with %j, and ignore the word", (text, sentence) => {
    const filter = parseFilter(text);
    expect(filter.problem).toContain(sentence);
    expect(filter.matches(put)).toBe(true);
  });

  it("read any text", () => {
    const piece = fc.constantFrom("kind:", "is:", '"', ">", "-", " ", "1s", "error", "a", ":");
    const text = fc.oneof(
      fc.string(),
      fc.array(piece).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(text, (given) => {
        expect(parseFilter(given).matches(request)).toBeTypeOf("boolean");
      }),
    );
  });
});

describe("toggleWord()", () => {
  it("adds a word, and removes the word again", () => {
    const added = toggleWord("cat pictures", "is:error");
    expect(added).toBe("cat pictures is:error");
    expect(hasWord(added, "is:error")).toBe(true);
    expect(toggleWord(added, "is:error")).toBe("cat pictures");
  });

  it("leaves a text in quotes alone", () => {
    expect(toggleWord('"a is:error b"', "is:error")).toBe('"a is:error b" is:error');
  });
});
