import { describe, expect, it } from "vitest";
import { objectTask as task } from "../fixtures.ts";
import { describeSelection, secondsLeft, taskOutcome, taskTitle } from "./task-words.ts";

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
    expect(taskTitle(task({}))).toBe("Deleting 2 objects of photos");
    expect(taskTitle(task({ prefixes: ["c/"], total: 14 }))).toBe(
      "Deleting 1 folder and 2 objects (14 objects in all) of photos",
    );
    expect(taskTitle(task({ kind: "move" }))).toBe("Moving 2 objects of photos");
    const record = { id: "1", name: "www.example.org", type: "A" };
    const zone = { kind: "deleteRecords", zone: "1", zoneName: "example.org" } as const;
    expect(taskTitle({ ...task({}), ...zone, records: [record] })).toBe(
      "Deleting A www.example.org",
    );
    expect(taskTitle({ ...task({}), ...zone, records: [record, record] })).toBe(
      "Deleting 2 records of example.org",
    );
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
