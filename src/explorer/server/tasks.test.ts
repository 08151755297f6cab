import { describe, expect, it } from "vitest";
import { TaskProgress } from "./tasks.ts";

function progressOf(total: number): TaskProgress {
  const request = { kind: "delete" as const, bucket: "photos", keys: [], prefixes: ["a/"] };
  const progress = new TaskProgress(request, 0, () => {});
  progress.count(total);
  progress.begin();
  return progress;
}

describe("TaskProgress", () => {
  it("keeps the first 100 failures, and counts all", () => {
    const progress = progressOf(150);
    for (let index = 0; index < 150; index++) progress.fail(`key ${index}`, "no");
    progress.end();
    const { failures, failed, state } = progress.show();
    expect([failures.length, failed, state]).toEqual([100, 150, "failed"]);
  });

  it("is done when a cancellation came after the last object", () => {
    const progress = progressOf(1);
    progress.succeed();
    progress.cancel();
    progress.end();
    expect(progress.show().state).toBe("done");
  });

  it("is cancelled when objects are left, and stays so", () => {
    const progress = progressOf(2);
    progress.succeed();
    progress.cancel();
    progress.end();
    progress.fail("", "too late");
    progress.end();
    const { state, failed } = progress.show();
    expect([state, failed]).toEqual(["cancelled", 0]);
  });
});
