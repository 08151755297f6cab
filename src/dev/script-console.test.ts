import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { activityMark, type Invocation } from "../explorer/activity/trace.ts";
import { ActivityLog } from "../explorer/server/activity-log.ts";
import { observeScript, ScriptConsole } from "./script-console.ts";

/** A bundle whose third line, from column 5 on, comes from line 8 of src/a.ts. */
function bundle(): { console: ScriptConsole; path: string; source: string } {
  const folder = mkdtempSync(join(tmpdir(), "ledge-console-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "index.js");
  const sourceMapPath = `${path}.map`;
  // wrangler names the map by a path from the folder of the project.
  const map = { version: 3, sources: ["src/a.ts"], names: [], mappings: ";;IAOC" };
  writeFileSync(sourceMapPath, JSON.stringify(map));
  const console = new ScriptConsole("info");
  console.useBundle({ path, sourceMapPath: relative(folder, sourceMapPath) });
  return { console, path, source: relative(process.cwd(), join(folder, "src/a.ts")) };
}

describe("ScriptConsole.mapStack()", () => {
  it("maps positions to the sources, in a stack and in messages of the runtime", () => {
    const { console, path, source } = bundle();
    expect(console.mapStack(`Error: x\n    at f (file://${path}:3:9)`)).toBe(
      `Error: x\n    at f (${source}:8:2)`,
    );
    expect(console.mapStack("Uncaught Error: x\n  at index.js:3:9")).toBe(
      `Uncaught Error: x\n  at ${source}:8:2`,
    );
  });

  it("keeps other text", () => {
    const { console } = bundle();
    for (const text of ["index.js: 3", "at other.js:3:9", "10:20:30", "http://a:80/index.js:"]) {
      expect(console.mapStack(text)).toBe(text);
    }
    expect(new ScriptConsole("info").mapStack("at index.js:3:9")).toBe("at index.js:3:9");
  });

  it("removes the frames of wrangler's own code", () => {
    const { console } = bundle();
    const stack =
      "Error: x\n    at f (index.js:3:9)\n    at g (/n/wrangler/templates/middleware/common.ts:5:3)";
    expect(console.mapStack(stack)).not.toContain("wrangler");
    const withCause = `${stack} {\n  [cause]: [Error: y]\n}`;
    expect(console.mapStack(withCause)).toMatch(/:8:2\) \{\n {2}\[cause\]: \[Error: y\]\n\}$/);
  });
});

function lineOf(
  id: string,
  isRunning: boolean,
  { at, status }: { readonly at?: number; readonly status?: number } = {},
): string {
  const info = { type: "fetch", method: "GET", url: `http://script/${id}` };
  const invocation: Invocation = {
    id,
    isRunning,
    dropped: 0,
    reportedAt: 20,
    events: [
      { at: 10, span: undefined, event: { type: "onset", spanId: "root", info } },
      ...(at === undefined
        ? []
        : [{ at, span: "root", event: { type: "return" as const, info: { statusCode: status } } }]),
    ],
  };
  return activityMark + JSON.stringify(invocation);
}

function observed() {
  vi.useFakeTimers({ now: 1000 });
  onTestFinished(() => void vi.useRealTimers());
  const console = new ScriptConsole("none");
  const activity = new ActivityLog();
  observeScript(console, activity);
  return {
    activity,
    /** A request that ends with the status 500, as a rule. */
    end: (id: string, at: number, status = 500) =>
      console.write({ level: "log", message: lineOf(id, false, { at, status }) }),
    /** @param id of the request; without it, the URL is not known */
    raise: (text: string, id?: string) => {
      const url = id === undefined ? undefined : `http://script/${id}`;
      console.addException({ url, text, stack: `${text}\n    at f (a.ts:8:2)` });
    },
    /** The explained requests with their exceptions. */
    explained: () =>
      activity
        .after(0)
        .entries.flatMap((entry) =>
          entry.kind === "request" && entry.replaces !== undefined
            ? [[entry.url.replace("http://script/", ""), entry.note]]
            : [],
        ),
  };
}

describe("observeScript()", () => {
  it("gives an exception to the request of its URL, which is reported before or after it", () => {
    const { activity, end, raise, explained } = observed();
    end("returned", 990);
    raise("RangeError: too far", "a");
    end("fine", 990, 200);
    end("a", 980);
    end("b", 980);
    end("bb…", 980);
    raise("second", "bbb");
    expect(explained()).toEqual([
      ["a", "RangeError: too far"],
      ["bb…", "second"],
    ]);
    expect(activity.after(3).entries[0]).toMatchObject({
      replaces: 3,
      exceptions: [{ name: "RangeError", message: "too far", stack: "    at f (a.ts:8:2)" }],
    });
  });

  it("gives the exceptions of requests that ended at once in their order", () => {
    const { end, raise, explained } = observed();
    const names = Array.from({ length: 20 }, (_, index) => `${index}`);
    for (const name of names.slice(0, 4)) raise(name);
    for (const [index, name] of names.entries()) end(name, 900 + index);
    for (const name of names.slice(4)) raise(name);
    expect(explained()).toEqual(names.map((name) => [name, name]));
  });

  it("explains a request that is reported late, but not another request of its URL", () => {
    const { end, raise, explained } = observed();
    raise("late", "a");
    vi.advanceTimersByTime(8000);
    end("a", 9000);
    expect(explained()).toEqual([]);
    end("a", 1010);
    expect(explained()).toEqual([["a", "late"]]);
  });

  it("maps the stacks of exceptions to the sources", () => {
    const { console, path, source } = bundle();
    const activity = new ActivityLog();
    observeScript(console, activity);
    const thrown = { type: "exception", name: "Error", message: "x", stack: `at f (${path}:3:9)` };
    const invocation = JSON.parse(lineOf("a", false).slice(activityMark.length)) as Invocation;
    const events = [...invocation.events, { at: 15, span: "root", event: thrown }];
    const message = activityMark + JSON.stringify({ ...invocation, events });
    console.write({ level: "log", message });
    expect(activity.after(0).entries).toMatchObject([
      { exceptions: [{ name: "Error", message: "x", stack: `at f (${source}:8:2)` }] },
    ]);
  });

  it("adds an entry for each invocation, and a second one that replaces a running one", () => {
    const console = new ScriptConsole("none");
    const activity = new ActivityLog();
    observeScript(console, activity);
    for (const [id, isRunning] of [["a", true] as const, ["b", false] as const]) {
      console.write({ level: "log", message: lineOf(id, isRunning) });
    }
    console.write({ level: "log", message: lineOf("a", false) });
    console.write({ level: "log", message: lineOf("a", false) });
    const { entries } = activity.after(0);
    expect(entries.map((entry) => [entry.id, "replaces" in entry && entry.replaces])).toEqual([
      [1, false],
      [2, false],
      [3, 1],
      [4, false],
    ]);
    expect(entries[0]).toMatchObject({ url: "http://script/a", note: "Still running." });
  });
});
