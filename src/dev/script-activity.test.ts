import { describe, expect, it } from "vitest";
import { activityMark, type Invocation } from "../explorer/activity/invocation.ts";
import { ActivityLog } from "../explorer/server/activity-log.ts";
import { ScriptConsole } from "./script-console.ts";
import { observeScript } from "./script-activity.ts";

function lineOf(id: string, isRunning: boolean): string {
  const info = { type: "fetch", method: "GET", url: `http://script/${id}` };
  const invocation: Invocation = {
    id,
    isRunning,
    dropped: 0,
    reportedAt: 20,
    events: [{ at: 10, span: undefined, event: { type: "onset", spanId: "root", info } }],
  };
  return activityMark + JSON.stringify(invocation);
}

describe("observeScript()", () => {
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
