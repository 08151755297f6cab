import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesFilter, parseFilter } from "./activity-filter.ts";
import { callEntry, requestEntry } from "./entry-fixture.ts";

const put = callEntry();
const query = callEntry({ kind: "query", method: "A", place: "", subject: "www.example.org" });
const failed = callEntry({ outcome: "error", note: "Internal error (10001)", milliseconds: 300 });
const own = callEntry({ source: "explorer", method: "list", subject: "" });
const request = requestEntry({
  calls: [failed, query],
  logs: [{ level: "log", text: "Resized" }],
});
const all = { put, query, failed, own, request };

describe("parseFilter() and matchesFilter()", () => {
  it.each([
    ["", ["put", "query", "failed", "request"]],
    ["kind:request", ["request"]],
    ["kind:query", ["query", "request"]],
    ["kind:query kind:bucket", ["put", "query", "failed", "request"]],
    ["is:error", ["failed", "request"]],
    ["kind:query is:error", []],
    ["bucket:PHOTOS", ["put", "failed", "request"]],
    ["bucket:photo", []],
    ["key:A.PNG method:put is:ok", ["put"]],
    ["name:example kind:query", ["query", "request"]],
    ["zone:Example.org", ["query", "request"]],
    ["zone:ample.org", []],
    [">100ms", ["failed", "request"]],
    [">100", ["failed", "request"]],
    [">1s", []],
    ["10001", ["failed", "request"]],
    ["albums?page", ["request"]],
    ["resized", ["request"]],
    ["images -10001", ["put"]],
    ['"internal error"', ["failed", "request"]],
    ['"kind:request"', []],
    ["http://localhost", ["request"]],
    ["status:2xx", ["request"]],
    ["status:404", []],
    ["bucket:", ["put", "query", "failed", "request"]],
    ["show:explorer kind:bucket is:ok", ["put", "own"]],
    ["source:explorer", ["own"]],
  ])("show with %j exactly %j", (text, names) => {
    const filter = parseFilter(text);
    expect(filter.problem).toBeNull();
    const shown = Object.entries(all).filter(([, entry]) => matchesFilter(filter, entry));
    expect(shown.map(([name]) => name)).toEqual(names);
  });

  it("count a response with the status 500 as an error", () => {
    const filter = parseFilter("is:error");
    expect(matchesFilter(filter, requestEntry({ status: 503 }))).toBe(true);
    expect(matchesFilter(filter, requestEntry({ status: 404 }))).toBe(false);
    expect(matchesFilter(parseFilter("is:ok"), requestEntry({ status: 503 }))).toBe(false);
  });

  it.each([
    ["kind:bukcet", 'After "kind:" write request, bucket, query, api, other.'],
    ["is:bad", 'After "is:" write ok, none, error.'],
    [">soon", "Write >100ms or >2s."],
  ])("say what is wrong with %j, and ignore the word", (text, sentence) => {
    const filter = parseFilter(text);
    expect(filter.problem).toContain(sentence);
    expect(matchesFilter(filter, put)).toBe(true);
  });

  it("read any text", () => {
    const piece = fc.constantFrom("kind:", "is:", '"', ">", "-", " ", "1s", "error", "a", ":");
    const text = fc.oneof(
      fc.string(),
      fc.array(piece).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(text, (given) => {
        expect(matchesFilter(parseFilter(given), request)).toBeTypeOf("boolean");
      }),
    );
  });
});
