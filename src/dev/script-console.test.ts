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

describe("observeScript()", () => {
  it("gives an exception to the failed request that ended nearest in time", () => {
    vi.useFakeTimers({ now: 1000 });
    onTestFinished(() => void vi.useRealTimers());
    const console = new ScriptConsole("none");
    const activity = new ActivityLog();
    observeScript(console, activity);
    const thrown = {
      text: "RangeError: too far",
      stack: "RangeError: too far\n    at f (a.ts:8:2)",
    };
    console.write({ level: "log", message: lineOf("own", false, { at: 300, status: 500 }) });
    console.addException(thrown);
    vi.advanceTimersByTime(100);
    console.write({ level: "log", message: lineOf("fine", false, { at: 990, status: 200 }) });
    console.write({ level: "log", message: lineOf("thrown", false, { at: 980, status: 500 }) });
    vi.advanceTimersByTime(200);
    expect(activity.after(3).entries).toMatchObject([
      {
        url: "http://script/thrown",
        replaces: 3,
        note: "RangeError: too far",
        exceptions: [{ name: "RangeError", message: "too far", stack: "    at f (a.ts:8:2)" }],
      },
    ]);
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
