import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { afterEach, expect, it, vi } from "vitest";
import { Restoration } from "./restoration.ts";

afterEach(() => void vi.useRealTimers());

it("Restoration.dropAbandoned() drops the tables a minute after the last step", () => {
  vi.useFakeTimers();
  const database = new DatabaseSync(":memory:");
  const restoration = new Restoration({
    sql: {
      exec: (query: string, ...values: SQLInputValue[]) => database.prepare(query).run(...values),
    },
    transactionSync: (act: () => unknown) => act(),
  } as never);
  const tables = () => database.prepare("SELECT * FROM sqlite_master WHERE type = 'table'").all();

  restoration.collect({ id: "1", step: "begin" });
  const count = tables().length;
  expect(count).toBeGreaterThan(0);
  vi.advanceTimersByTime(59_000);
  restoration.collect({ id: "1", step: "rows", table: "objects", rows: [] });
  vi.advanceTimersByTime(59_000);
  restoration.dropAbandoned();
  expect([restoration.isActive, tables().length]).toEqual([true, count]);
  vi.advanceTimersByTime(1_000);
  restoration.dropAbandoned();
  expect([restoration.isActive, tables().length]).toEqual([false, 0]);
  // The sender is told to begin again.
  expect(restoration.collect({ id: "1", step: "rows", table: "objects", rows: [] })).toBe(false);
});
