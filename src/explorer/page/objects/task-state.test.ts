import { describe, expect, it } from "vitest";
import type { ObjectTask, Task } from "../../api/tasks.ts";
import { deletionFinder } from "./task-state.ts";

const task = (change: Partial<ObjectTask>): Task => ({
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
