import { describe, expect, it } from "vitest";
import { TaskProgress } from "./task-progress.ts";

function progressOf(total: number): TaskProgress {
  const request = { kind: "delete" as const, bucket: "photos", keys: [], prefixes: ["a/"] };
  const progress = new TaskProgress({ id: "1", request, begins: 0, onChange: () => {} });
  progress.count(total);
  progress.begin();
  return progress;
}

describe("TaskProgress", () => {
  it("keeps the first 100 failures, and counts all", () => {
    const progress = progressOf(150);
    for (let index = 0; index < 150; index++) progress.fail(`key ${index}`, "no");
    progress.end(1);
    const { failures, failed, state } = progress.show();
    expect([failures.length, failed, state]).toEqual([100, 150, "failed"]);
  });

  it("is done when a cancellation came after the last object", () => {
    const progress = progressOf(1);
    progress.succeed();
    progress.cancel();
    progress.end(1);
    expect(progress.show().state).toBe("done");
  });

  it("is cancelled when objects are left, and stays so", () => {
    const progress = progressOf(2);
    progress.succeed();
    progress.cancel();
    progress.end(1);
    progress.fail("", "too late");
    progress.end(2);
    const { state, failed } = progress.show();
    expect([state, failed, progress.ended]).toEqual(["cancelled", 0, 1]);
  });
});
