import { describe, expect, it } from "vitest";
import type { Task } from "../../api/tasks.ts";
import {
  deletionFinder,
  describeSelection,
  secondsLeft,
  taskOutcome,
  taskTitle,
} from "./task-state.ts";

const task = (change: Partial<Task>): Task => ({
  id: "1",
  kind: "delete",
  bucket: "photos",
  keys: ["a", "b"],
  prefixes: [],
  state: "waiting",
  begins: 10_000,
  done: 0,
  total: null,
  failures: [],
  failed: 0,
  ...change,
});

describe("describeSelection()", () => {
  it("counts folders and objects", () => {
    expect(describeSelection({ keys: ["a"], prefixes: [] })).toBe("1 object");
    expect(describeSelection({ keys: ["a", "b"], prefixes: ["c/"] })).toBe(
      "1 folder and 2 objects",
    );
    expect(describeSelection({ keys: [], prefixes: ["c/", "d/"] })).toBe("2 folders");
  });
});

describe("taskTitle()", () => {
  it("says what happens", () => {
    expect(taskTitle(task({}))).toBe("Deleting 2 objects");
    expect(taskTitle(task({ kind: "move" }))).toBe("Moving 2 objects");
  });
});

describe("taskOutcome()", () => {
  it("says what was done and what failed", () => {
    expect(taskOutcome(task({ state: "done", done: 1200 }))).toBe("Deleted 1,200 objects.");
    expect(taskOutcome(task({ state: "failed", kind: "copy", done: 1, failed: 2 }))).toBe(
      "Copied 1 object, and 2 objects failed.",
    );
  });

  it("says how far a cancelled task came", () => {
    expect(taskOutcome(task({ state: "cancelled" }))).toBe("Cancelled: no object was deleted.");
    expect(taskOutcome(task({ state: "cancelled", kind: "move", done: 3 }))).toBe(
      "Moved 3 objects before the task was cancelled.",
    );
  });
});

describe("secondsLeft()", () => {
  it("counts down to 0", () => {
    expect(secondsLeft(task({}), 0)).toBe(10);
    expect(secondsLeft(task({}), 8001)).toBe(2);
    expect(secondsLeft(task({}), 11_000)).toBe(0);
  });
});

describe("deletionFinder()", () => {
  it("finds objects by their keys, and by the folder that they are in", () => {
    const find = deletionFinder([task({ keys: ["a"], prefixes: ["c/"] })], "photos");
    expect(find({ kind: "object", path: "a" })?.id).toBe("1");
    expect(find({ kind: "object", path: "c/d" })?.id).toBe("1");
    expect(find({ kind: "folder", path: "c/" })?.id).toBe("1");
    expect(find({ kind: "object", path: "b" })).toBeUndefined();
  });

  it("does not take an object for the folder of the same name", () => {
    const find = deletionFinder([task({ keys: ["c/"] })], "photos");
    expect(find({ kind: "folder", path: "c/" })).toBeUndefined();
    expect(find({ kind: "object", path: "c/" })?.id).toBe("1");
  });

  it("finds nothing of other buckets, of copies and of tasks that ended", () => {
    const others = [
      task({ bucket: "other" }),
      task({ kind: "copy" }),
      task({ state: "cancelled" }),
      task({ state: "done" }),
    ];
    expect(deletionFinder(others, "photos")({ kind: "object", path: "a" })).toBeUndefined();
  });
});
