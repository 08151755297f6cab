/** `recorded-invocations.jsonl` has traces of a script in a dev server, as its tail worker reported them. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  activityMark,
  readInvocation,
  requestEntry,
  type Invocation,
  type TraceEventBody,
} from "./trace.ts";

const recorded = readFileSync(new URL("recorded-invocations.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => readInvocation(activityMark + line) as Invocation)
  .map((invocation) => ({ invocation, entry: requestEntry(invocation) }));

/** The entry of the invocation with this method and an address that ends so. */
function entryOf(method: string, end: string, isRunning = false) {
  const found = recorded.find(
    ({ entry, invocation }) =>
      entry.method === method && entry.url.endsWith(end) && invocation.isRunning === isRunning,
  );
  if (found === undefined) throw new Error(`No invocation ${method} ${end}`);
  return found.entry;
}

/** A trace of our own: the onset of a request, and events at 10, 20, 30 … milliseconds. */
function invocationOf(
  events: readonly (readonly [span: string, event: TraceEventBody])[],
): Invocation {
  const info = { type: "fetch", method: "GET", url: "http://script/" };
  const onset = { at: 0, span: undefined, event: { type: "onset", spanId: "root", info } as const };
  const others = events.map(([span, event], index) => ({ at: 10 * (index + 1), span, event }));
  return { id: "1", events: [onset, ...others], dropped: 0, reportedAt: 1000, isRunning: false };
}

describe("readInvocation()", () => {
  it("ignores lines of the script", () => {
    expect(readInvocation("ledge:activity {}")).toBeNull();
  });
});

describe("requestEntry()", () => {
  it("has the calls of a request in their order, without what belongs to a call", () => {
    const { status, outcome, note, calls } = entryOf("GET", "/all");
    expect({ status, outcome, note }).toEqual({ status: 201, outcome: "ok", note: null });
    const described = calls.map((call) => {
      const { kind, method, place, subject, bytes } = call;
      return [kind, method, place, subject.slice(0, 12), bytes, call.outcome];
    });
    expect(described).toEqual([
      ["bucket", "put", "photos", "a/b.txt", 5, "ok"],
      ["bucket", "get", "photos", "absent", null, "none"],
      ["bucket", "get", "photos", "a/b.txt", 5, "ok"],
      ["bucket", "list", "photos", "a/", null, "ok"],
      ["bucket", "delete", "photos", "x", null, "ok"],
      ["bucket", "put", "photos", "big", 500_000, "ok"],
      ["bucket", "get", "photos", "big", 500_000, "ok"],
      ["bucket", "get", "photos", "kkkkkkkkkkkk", null, "error"],
      ["kv", "get", "KV", "x", 1, "ok"],
      ["kv", "put", "KV", "x", 1, "ok"],
      ["d1", "all", "", "select 1", null, "ok"],
      ["r2", "put", "R2", "r", 1, "ok"],
      ["r2", "get", "R2", "none", null, "none"],
      ["durable_object", "subrequest", "", "de74e79fec03", null, "ok"],
      ["queue", "send", "", "", null, "ok"],
      ["fetch", "GET", expect.stringMatching(/^localhost:\d+$/), "/other?x=1", 4, "ok"],
      ["fetch", "GET", "127.0.0.1:1", "/refused", null, "error"],
    ]);
    expect(calls.every(({ source }) => source === "script")).toBe(true);
    expect(calls.map(({ id }) => id)).toEqual(calls.map((_, index) => index + 1));
  });

  it("says why a call failed, and how many keys it had", () => {
    const notes = entryOf("GET", "/all").calls.map(({ note }) => note);
    expect(notes[4]).toBe("and 1 more");
    expect(notes[7]).toBe("get: The specified object name is not valid. (10020)");
    expect(notes[16]).toBe("No response.");
  });

  it("has durations of calls that begin after the request", () => {
    const entry = entryOf("GET", "/all");
    for (const { at, milliseconds } of entry.calls) {
      expect(at).toBeGreaterThanOrEqual(entry.at);
      expect(milliseconds).toBeGreaterThanOrEqual(0);
    }
    expect(entry.calls[0]?.milliseconds).toBe(21);
  });

  it("has what the script wrote", () => {
    expect(entryOf("GET", "/all").logs).toEqual([
      { level: "warn", text: 'refused {"a":[1,null]} Error: Network connection lost.' },
      { level: "log", text: "done" },
    ]);
  });

  it("knows calls of the record API and queries by HTTPS", () => {
    const { calls } = entryOf("GET", "/dns");
    expect(calls.map(({ kind, method, subject, note }) => [kind, method, subject, note])).toEqual([
      ["api", "GET", "/client/v4/zones", "Status 400"],
      ["query", "A", "example.org", null],
    ]);
  });

  it("counts a response of 500 as an error", () => {
    expect(entryOf("GET", "/throw")).toMatchObject({ status: 500, outcome: "error" });
  });

  it("has the exception after a response, and the time until the response", () => {
    const entry = entryOf("GET", "/wait");
    expect(entry).toMatchObject({ status: 200, outcome: "error", note: "Error: late" });
    expect(entry.milliseconds).toBe(5);
  });

  it("describes a WebSocket that is open, and one that was closed", () => {
    const open = entryOf("GET", "/ws", true);
    expect(open).toMatchObject({ status: null, outcome: "ok", note: "Still running." });
    expect(open.calls.map(({ method }) => method)).toEqual(["get"]);
    const closed = entryOf("GET", "/ws");
    expect(closed).toMatchObject({ status: 101, outcome: "ok", note: null });
    expect(closed.milliseconds).toBe(1512);
  });

  it("names events that are no requests", () => {
    expect(entryOf("scheduled", "* * * * *")).toMatchObject({ status: null, outcome: "ok" });
    expect(entryOf("queue", "q").calls[0]).toMatchObject({ method: "put", subject: "queued" });
    expect(entryOf("alarm", "Counter").calls[0]).toMatchObject({ method: "head", outcome: "none" });
    // Without the table in which Miniflare keeps the names of objects.
    expect(entryOf("rpc", "Counter.inc").calls.map(({ method }) => method)).toEqual([
      "storage_get",
      "storage_put",
      "storage_setAlarm",
    ]);
  });

  it("says that the client went away", () => {
    const entry = requestEntry(invocationOf([["root", { type: "outcome", outcome: "canceled" }]]));
    expect(entry).toMatchObject({
      status: null,
      outcome: "error",
      note: "The client closed the connection before the end.",
      milliseconds: 10,
    });
  });

  it("keeps calls inside of the script's own spans, and calls without an end", () => {
    const { calls } = requestEntry(
      invocationOf([
        ["root", { type: "spanOpen", name: "resize", spanId: "own" }],
        ["own", { type: "spanOpen", name: "store_get", spanId: "get" }],
        ["get", { type: "spanOpen", name: "durable_object_subrequest", spanId: "inner" }],
        ["own", { type: "spanClose", outcome: "ok" }],
      ]),
    );
    expect(calls.map(({ method, milliseconds, note }) => [method, milliseconds, note])).toEqual([
      ["resize", 30, null],
      ["get", 980, "The call has not ended."],
    ]);
  });

  it("tells a bucket call from a span of the script with another name", () => {
    const { calls } = requestEntry(
      invocationOf([
        ["root", { type: "spanOpen", name: "restore_all", spanId: "own" }],
        ["own", { type: "spanOpen", name: "fetch", spanId: "fetch" }],
      ]),
    );
    expect(calls.map(({ kind, method }) => [kind, method])).toEqual([
      ["other", "restore_all"],
      ["fetch", ""],
    ]);
  });
});
