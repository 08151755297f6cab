import { describe, expect, it } from "vitest";
import { objectTask as task } from "../fixtures.ts";
import { describeSelection, secondsLeft, taskOutcome, taskTitle } from "./task-words.ts";

it.each([
  [{ keys: ["a"], prefixes: [] }, "1 object"],
  [{ keys: ["a", "b"], prefixes: ["c/"] }, "1 folder and 2 objects"],
  [{ keys: [], prefixes: ["c/", "d/"] }, "2 folders"],
])("describeSelection() counts folders and objects: %j", (selection, text) => {
  expect(describeSelection(selection)).toBe(text);
});

const record = { id: "1", name: "www.example.org", type: "A" };
const zone = { kind: "deleteRecords", zone: "1", zoneName: "example.org" } as const;

it.each([
  [task({}), "Deleting 2 objects of photos"],
  [
    task({ prefixes: ["c/"], total: 14 }),
    "Deleting 1 folder and 2 objects (14 objects in all) of photos",
  ],
  [task({ kind: "move" }), "Moving 2 objects of photos"],
  [{ ...task({}), ...zone, records: [record] }, "Deleting A www.example.org"],
  [{ ...task({}), ...zone, records: [record, record] }, "Deleting 2 records of example.org"],
])("taskTitle() says what happens: %#", (given, title) => {
  expect(taskTitle(given)).toBe(title);
});

it.each([
  [task({ state: "done", done: 1200 }), "Deleted 1,200 objects."],
  [
    task({ state: "failed", kind: "copy", done: 1, failed: 2 }),
    "Copied 1 object, and 2 objects failed.",
  ],
  [task({ state: "cancelled" }), "Cancelled: no object was deleted."],
  [
    task({ state: "cancelled", kind: "move", done: 3 }),
    "Moved 3 objects before the task was cancelled.",
  ],
])("taskOutcome() says what was done, and what not: %#", (given, text) => {
  expect(taskOutcome(given)).toBe(text);
});

describe("secondsLeft()", () => {
  it("counts down to 0", () => {
    expect(secondsLeft(task({}), 0)).toBe(10);
    expect(secondsLeft(task({}), 8001)).toBe(2);
    expect(secondsLeft(task({}), 11_000)).toBe(0);
  });
});
