import { describe, expect, test, vi } from "vitest";
import type { ZoneRecord } from "../record/zone-record.ts";
import {
  followChange,
  netChange,
  groupSteps,
  type ChangeStep,
  PublicationQueue,
  type Publication,
} from "./publication.ts";

function record(id: number, name: string, part: Partial<ZoneRecord> = {}): ZoneRecord {
  return {
    id: String(id),
    name,
    type: "A",
    content: `192.0.2.${id % 256}`,
    priority: null,
    ttl: 300,
    proxied: false,
    comment: null,
    tags: [],
    settings: {},
    privateRouting: false,
    createdOn: "",
    modifiedOn: "",
    commentModifiedOn: null,
    tagsModifiedOn: null,
    ...part,
  };
}

const withContent = (content: string) => record(1, "a.example.org", { content });

describe("netChange()", () => {
  test("has a record as it was before and as it is after, and no state between", () => {
    const { removed, added } = netChange([
      { action: "remove", record: withContent("192.0.2.1") },
      { action: "add", record: withContent("192.0.2.2") },
      { action: "remove", record: withContent("192.0.2.2") },
      { action: "add", record: withContent("192.0.2.3") },
    ]);
    expect(removed).toMatchObject([{ id: "1", content: "192.0.2.1" }]);
    expect(added).toMatchObject([{ id: "1", content: "192.0.2.3" }]);
  });

  test("leaves out records that were added and removed again", () => {
    const steps = [
      { action: "add" as const, record: record(1, "a.example.org") },
      { action: "remove" as const, record: record(1, "a.example.org") },
    ];
    expect(netChange(steps)).toEqual({ removed: [], added: [] });
  });

  test("leaves out comments, tags and dates", () => {
    const { added } = netChange([{ action: "add", record: record(1, "a.example.org") }]);
    expect(Object.keys(added[0]!).sort()).toEqual(
      ["content", "id", "name", "priority", "proxied", "settings", "ttl", "type"].sort(),
    );
  });
});

describe("followChange()", () => {
  test.each([
    [null, "reload"],
    [4, "reload"],
    [5, "apply"],
    [6, "ignore"],
    [7, "ignore"],
  ] as const)("at %s: %s", (at, expected) => {
    expect(followChange(at, { from: 5, to: 6 })).toBe(expected);
  });

  test("wraps at the largest serial (RFC 1982)", () => {
    const [last, first] = [2 ** 32 - 1, 0];
    expect(followChange(last, { from: last, to: first })).toBe("apply");
    expect(followChange(1, { from: last, to: first })).toBe("ignore");
    expect(followChange(last - 1, { from: last, to: first })).toBe("reload");
  });
});

test("groupSteps() returns null for a log that does not reach or has a gap", () => {
  const steps = [8, 9].map((serial): ChangeStep => {
    return { serial, action: "add", record: record(serial, "a.example.org") };
  });
  expect(groupSteps(steps, { from: 7, to: 9 })).toHaveLength(2);
  expect(groupSteps(steps, { from: 6, to: 9 })).toBeNull();
  expect(groupSteps(steps, { from: 7, to: 10 })).toBeNull();
  expect(groupSteps(steps.slice(1), { from: 7, to: 9 })).toBeNull();
});

const removed = (zoneId: string): Publication => ({ kind: "removed", zoneId });

/** Listeners that take a message, or fail, as `answers` says; then they take all. */
function listeners(...answers: ("taken" | "lost")[]) {
  const messages: string[][] = [];
  const waits: PromiseWithResolvers<void>[] = [];
  const publisher = new PublicationQueue({
    async send(publications) {
      messages.push((publications as readonly { zoneId: string }[]).map(({ zoneId }) => zoneId));
      if (answers.shift() === "lost") throw new Error("expected in this test");
    },
    wait() {
      const wait = Promise.withResolvers<void>();
      waits.push(wait);
      return wait.promise;
    },
    onLost: () => {},
  });
  return { publisher, messages, waits };
}

test("PublicationQueue repeats a message that was lost, before later ones", async () => {
  const { publisher, messages, waits } = listeners("lost", "lost");
  publisher.enqueue(removed("a"));
  await publisher.flushed();
  expect(messages).toEqual([["a"]]);
  // The write is answered; the repetition waits.
  waits.shift()!.resolve();
  await vi.waitFor(() => expect(messages).toEqual([["a"], ["a"]]));
  await vi.waitFor(() => expect(waits).toHaveLength(1));
  publisher.enqueue(removed("b"));
  await publisher.flushed();
  expect(messages).toEqual([["a"], ["a"], ["a", "b"]]);
  waits.shift()!.resolve();
  await publisher.flushed();
  expect(messages).toHaveLength(3);
});

test("PublicationQueue keeps only the last of many publications that were lost", async () => {
  const { publisher, messages } = listeners("lost");
  for (let index = 0; index < 1000; index++) publisher.enqueue(removed(String(index)));
  await publisher.flushed();
  publisher.enqueue(removed("last"));
  await publisher.flushed();
  // The listeners find the gap in the serials and fetch the zone.
  expect(messages[1]).toEqual(["999", "last"]);
});
