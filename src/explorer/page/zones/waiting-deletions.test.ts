import { describe, expect, it } from "vitest";
import type { DnsRecord } from "../../api/zones-api.ts";
import { WaitingDeletions } from "./waiting-deletions.ts";

const recordOf = (id: string) => ({ id, name: `${id}.example.org` }) as DnsRecord;

function makeDeletions(refuse: (id: string) => boolean = () => false) {
  const timers = new Set<() => void>();
  const sent: string[] = [];
  const ends: unknown[] = [];
  const deletions = new WaitingDeletions({
    milliseconds: 10_000,
    later: (act) => {
      timers.add(act);
      return () => timers.delete(act);
    },
    send: async ({ record }, isLeaving) => {
      sent.push(`${record.id}${isLeaving ? " leaving" : ""}`);
      if (refuse(record.id)) throw new Error("refused");
    },
  });
  const add = (id: string, zoneId = "zone") =>
    deletions.add({ zoneId, record: recordOf(id) }, (error) => ends.push(error));
  const pass = async () => {
    for (const act of timers) act();
    await Promise.resolve();
    await Promise.resolve();
  };
  return { deletions, add, pass, sent, ends, timers };
}

describe("WaitingDeletions", () => {
  it("sends a deletion when its time has passed, and once", async () => {
    const { deletions, add, pass, sent, ends } = makeDeletions();
    add("a");
    add("a");
    expect(sent).toEqual([]);
    expect(deletions.has("a")).toBe(true);
    await pass();
    await pass();
    expect(sent).toEqual(["a"]);
    expect(ends).toEqual([null]);
    expect(deletions.has("a")).toBe(true);
  });

  it("sends nothing after an undo", async () => {
    const { deletions, add, pass, sent, timers } = makeDeletions();
    add("a");
    expect(deletions.undo("a")).toBe(true);
    expect(deletions.has("a")).toBe(false);
    expect(timers.size).toBe(0);
    await pass();
    expect(sent).toEqual([]);
  });

  it("undoes nothing that was sent", async () => {
    const { deletions, add, pass } = makeDeletions();
    add("a");
    await pass();
    expect(deletions.undo("a")).toBe(false);
    expect(deletions.has("a")).toBe(true);
  });

  it("has the record again when the server refuses", async () => {
    const { deletions, add, pass, ends } = makeDeletions(() => true);
    add("a");
    await pass();
    expect(deletions.has("a")).toBe(false);
    expect(ends).toEqual([new Error("refused")]);
  });

  it("sends everything when the page is left", () => {
    const { deletions, add, sent, timers } = makeDeletions();
    add("a");
    add("b", "other");
    deletions.leave();
    expect(sent).toEqual(["a leaving", "b leaving"]);
    expect(timers.size).toBe(0);
  });

  it("sends the deletions of one zone at once, and tells its listeners", async () => {
    const { deletions, add, sent } = makeDeletions();
    let told = 0;
    const stop = deletions.subscribe(() => (told += 1));
    add("a");
    add("b", "other");
    expect(deletions.waitingIn("zone")).toBe(1);
    await deletions.sendZone("zone");
    expect(sent).toEqual(["a"]);
    expect(deletions.waitingIn("zone")).toBe(0);
    expect(told).toBe(3);
    stop();
    deletions.undo("b");
    expect(told).toBe(3);
  });
});
