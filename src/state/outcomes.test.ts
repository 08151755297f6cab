import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { outcomeTable, RequestOutcomes } from "./outcomes.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function openOutcomes() {
  const database = new DatabaseSync(":memory:");
  database.exec(outcomeTable);
  const queries: string[] = [];
  const outcomes = new RequestOutcomes({
    exec: (query, ...values) => {
      queries.push(query);
      const rows = database.prepare(query).all(...values);
      return { raw: () => rows.map((row) => Object.values(row)) as never[] };
    },
  });
  return { outcomes, queries };
}

const minute = 60_000;

describe("RequestOutcomes", () => {
  it("find() returns what add() has stored, also if the text is longer than a row", () => {
    const { outcomes } = openOutcomes();
    const long = JSON.stringify("long".repeat(300_000));
    outcomes.add("short", '"text"');
    outcomes.add("long", long);
    expect(outcomes.find("short")).toBe('"text"');
    expect(outcomes.find("long")).toBe(long);
    expect(outcomes.find("other")).toBeNull();
    expect(outcomes.find(null)).toBeNull();
  });

  it("add() refuses an id that is stored, so that the transaction of a repetition is undone", () => {
    const { outcomes } = openOutcomes();
    outcomes.add("id", "1");
    expect(() => outcomes.add("id", "2")).toThrow("UNIQUE constraint failed");
    expect(outcomes.find("id")).toBe("1");
  });

  it("add() forgets requests that are older than ten minutes, and twice as many as it adds", () => {
    const { outcomes } = openOutcomes();
    for (let id = 0; id <= 250; id++) outcomes.add(`old ${id}`, "1");
    const olds = () => outcomes.rows().filter(([id]) => id.startsWith("old")).length;
    let count = 0;
    const addNew = (wanted: number) => {
      for (let index = 0; index < wanted; index++) outcomes.add(`new ${count++}`, "1");
    };
    vi.advanceTimersByTime(9 * minute);
    addNew(50);
    expect(olds()).toBe(251);
    vi.advanceTimersByTime(2 * minute);
    addNew(49);
    expect(olds()).toBe(251);
    addNew(1);
    expect(olds()).toBe(151);
    addNew(50);
    expect(olds()).toBe(51);
    addNew(50);
    expect(olds()).toBe(0);
    expect(outcomes.rows()).toHaveLength(200);
  });

  it("add() looks for old requests at the first request of a runtime, and then seldom", () => {
    const { outcomes, queries } = openOutcomes();
    const deletes = () => queries.filter((query) => query.startsWith("DELETE")).length;
    outcomes.add("first", "1");
    expect(deletes()).toBe(1);
    for (let id = 0; id < 49; id++) outcomes.add(String(id), "1");
    expect(deletes()).toBe(1);
    outcomes.add("last", "1");
    expect(deletes()).toBe(2);
  });
});
