import { expect, it, vi } from "vitest";
import type { LoggedChange, Publication } from "../replication/publication.ts";
import type { ZoneData } from "../rules/zone.ts";
import { ChangeHistory } from "./change-history.ts";

const state = (zoneId: string): Publication => ({
  kind: "state",
  data: { id: zoneId } as ZoneData,
});
const change = (zoneId: string, from: number): Publication => ({
  kind: "change",
  zoneId,
  from,
  change: { serial: from + 1, removed: [], added: [] },
});
const logged = (serial: number): LoggedChange => ({
  serial,
  removed: [],
  added: [],
  headBefore: null,
});

/** A log with the serials up to 20. */
const read = vi.fn(async (_zoneId: string, serial: number) =>
  Array.from({ length: 20 - serial }, (_, index) => logged(serial + 1 + index)),
);

it("since() has the changes after a time, with their times", async () => {
  const history = new ChangeHistory();
  for (let from = 10; from < 20; from++) history.note(change("a", from), from * 100);
  history.note(change("b", 5), 100);
  expect(await history.since(1750, read)).toEqual([
    {
      zoneId: "a",
      from: 18,
      changes: [
        { ...logged(19), milliseconds: 1800 },
        { ...logged(20), milliseconds: 1900 },
      ],
    },
  ]);
  expect(await history.since(1900, read)).toEqual([]);
});

it("a new zone and its first change are old", async () => {
  const history = new ChangeHistory();
  history.note(state("a"), 1000);
  history.note(change("a", 1), 1000);
  expect(await history.since(0, read)).toEqual([]);
  history.note(change("a", 19), 1000);
  expect(await history.since(0, read)).toMatchObject([{ zoneId: "a", from: 19 }]);
});

it("the state of a known zone ends its history, and so does its removal", async () => {
  const history = new ChangeHistory();
  history.note(change("a", 18), 1000);
  history.note(state("a"), 1000);
  expect(await history.since(0, read)).toEqual([]);
  history.note(change("a", 19), 1000);
  expect(await history.since(0, read)).toMatchObject([{ from: 19 }]);
  history.note({ kind: "removed", zoneId: "a" }, 1000);
  expect(await history.since(0, read)).toEqual([]);
});

it("a zone whose log does not reach back has no history", async () => {
  const history = new ChangeHistory();
  history.note(change("a", 18), 1000);
  expect(await history.since(0, async () => null)).toEqual([]);
});
