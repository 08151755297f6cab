import { describe, expect, it } from "vitest";
import { renderRestored, runningWork } from "./dev-state.ts";

const now = 100_000;

const invocation = (info: object, milliseconds: number, isSocket = false) => ({
  id: "1",
  events: [
    { at: now - milliseconds, span: undefined, event: { type: "onset", spanId: "2", info } },
  ],
  isSocket,
});

const request = (path: string) => ({
  type: "fetch",
  method: "GET",
  url: `http://localhost${path}`,
});

describe("runningWork()", () => {
  it.each([
    ["a request", [invocation(request("/a?b=1"), 5040)], [], ["GET /a?b=1, which ran for 5 s"]],
    [
      "a schedule",
      [invocation({ type: "scheduled", cron: "* * * * *" }, 300)],
      [],
      ["scheduled * * * * *, which ran for 0.3 s"],
    ],
    ["an alarm", [invocation({ type: "alarm" }, 300)], [], ["alarm, which ran for 0.3 s"]],
    ["a request before the script", [], [{ name: "GET /", at: now }], ["GET /, which ran for 0 s"]],
    [
      "the same request once",
      [invocation(request("/"), 100)],
      [{ name: "GET /", at: now }],
      ["GET /, which ran for 0.1 s"],
    ],
    ["nothing", [], [], []],
  ])("names %s", (_, invocations, requests, expected) => {
    const running = runningWork({ invocations, requests, answeredAt: 0, now });
    expect(running.map(({ text }) => text)).toEqual(expected);
  });

  it("knows a WebSocket, and the object behind it", () => {
    const invocations = [invocation(request("/ws"), 1, true), invocation(request("/ws"), 0)];
    const running = runningWork({ invocations, requests: [], answeredAt: 0, now });
    expect(running).toMatchObject([{ isSocket: true }]);
  });
});

describe("renderRestored()", () => {
  const restored = { name: "a", undo: null, ended: [], isRestarted: false };

  it.each([
    [
      { ...restored, undo: "before" },
      true,
      'Restored "a" in 18 ms. What was there before is saved as "before".',
    ],
    [restored, false, 'Reset to "a" in 18 ms.'],
    [{ ...restored, name: null, isRestarted: true }, false, "Reset to the empty state in 0 s."],
    [{ ...restored, ended: ["GET /"] }, false, 'Reset to "a" in 18 ms. Ended GET /.'],
  ])("renders %j", (each, savesUndo, expected) => {
    expect(renderRestored(each, { savesUndo, milliseconds: 18 })).toBe(expected);
  });
});
