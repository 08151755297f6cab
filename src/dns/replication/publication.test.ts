import { describe, expect, test, vi } from "vitest";
import type { ZoneRecord } from "../record/zone-record.ts";
import {
  followChange,
  netChange,
  groupSteps,
  rewind,
  type ChangeStep,
  servedRecord,
  PublicationQueue,
  type Publication,
} from "./publication.ts";
import * as fc from "fast-check";
import { zoneData } from "../../../test/dns/support/served.ts";
import { ExternalAddressCache } from "../answer/external-addresses.ts";
import { ServedZones } from "../answer/served-zones.ts";
import type { ZoneHead } from "../rules/zone.ts";
import { replayZone, TransferredZone } from "../transfer/transferred-zone.ts";

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

const first = 7;

/** A zone that follows steps, as the zone object and its log do. */
class LoggedZone {
  readonly steps: ChangeStep[] = [];
  records: ZoneRecord[] = [];
  head: Pick<ZoneHead, "http3"> = { http3: true };
  serial = first;

  get data() {
    const { serial, head, records } = this;
    return zoneData("example.org", records.map(servedRecord), { serial, ...head });
  }

  write(removed: readonly ZoneRecord[], added: readonly ZoneRecord[]): void {
    // A write that changes nothing takes no serial.
    if (removed.length + added.length === 0) return;
    this.serial += 1;
    const { serial } = this;
    for (const [action, list] of [
      ["remove", removed],
      ["add", added],
    ] as const) {
      for (const each of list) this.steps.push({ serial, action, record: each });
    }
    this.records = [...this.records.filter((each) => !removed.includes(each)), ...added];
  }

  toggle(): void {
    const { nameServers, settings, http2, http3, paused } = this.data;
    this.serial += 1;
    const headBefore = { nameServers, settings, http2, http3, paused };
    this.steps.push({ serial: this.serial, action: "settings", headBefore });
    this.head = { http3: !http3 };
  }

  /** The copy for transfers with the journal since a serial; `null` when it cannot be made. */
  replay(from: number): TransferredZone | null {
    const steps = this.steps.filter(({ serial }) => serial > from);
    const changes = groupSteps(steps, { from, to: this.serial });
    if (changes === null) return null;
    const start = rewind(this.data, from, changes);
    return replayZone(start.data, start.changes, this.context);
  }

  get context() {
    const platformAddresses = ["198.18.0.1"];
    const zones = new ServedZones({ platformAddresses });
    zones.put(this.data);
    const base = { zones, external: new ExternalAddressCache(), nowSeconds: 1000 };
    const current = new TransferredZone(zones.get("example.org")!, base);
    return { ...base, platformAddresses, current };
  }
}

function texts(zone: TransferredZone): string[] {
  return Array.from(
    zone.records(),
    ({ name, type, ttlSeconds, data }) => `${name} ${type} ${ttlSeconds} ${data.join(".")}`,
  ).sort();
}

test("replayZone() has the differences from every serial of the log", () => {
  const names = ["example.org", "a.example.org", "b.a.example.org", "*.example.org"];
  const made = fc.record({
    name: fc.constantFrom(...names),
    kind: fc.constantFrom("A", "TXT", "proxied"),
  });
  const step = fc.oneof(
    fc.record({ add: fc.array(made, { maxLength: 3 }), remove: fc.nat() }),
    fc.constant("toggle" as const),
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
      const zone = new LoggedZone();
      const before = new Map([[first, texts(zone.context.current)]]);
      let id = 0;
      for (const each of steps) {
        if (each === "toggle") zone.toggle();
        else {
          const removed = zone.records.slice(0, each.remove % (zone.records.length + 1));
          const added = each.add.map(({ name, kind }) => {
            if (kind === "TXT") return record(++id, name, { type: "TXT", content: `"${id}"` });
            return record(++id, name, { proxied: kind === "proxied" });
          });
          zone.write(removed, added);
        }
        before.set(zone.serial, texts(zone.context.current));
      }
      for (const [serial, records] of before) {
        const replayed = zone.replay(serial)!;
        let following = records;
        for (const { removed, added } of replayed.since(serial) ?? []) {
          const lines = (list: typeof removed) =>
            list.map((r) => `${r.name} ${r.type} ${r.ttlSeconds} ${r.data.join(".")}`);
          const gone = new Set(lines(removed));
          following = [...following.filter((line) => !gone.has(line)), ...lines(added)].sort();
        }
        expect(following).toEqual(before.get(zone.serial));
      }
    }),
    { numRuns: 60 },
  );
});

test("groupSteps() returns null for a log that does not reach or has a gap", () => {
  const zone = new LoggedZone();
  zone.write([], [record(1, "a.example.org")]);
  zone.write([], [record(2, "b.example.org")]);
  const { steps } = zone;
  expect(groupSteps(steps, { from: first, to: first + 2 })).toHaveLength(2);
  expect(groupSteps(steps, { from: first - 1, to: first + 2 })).toBeNull();
  expect(groupSteps(steps, { from: first, to: first + 3 })).toBeNull();
  expect(groupSteps(steps.slice(1), { from: first, to: first + 2 })).toBeNull();
});

test("replayZone() returns null when a flattened name has its addresses from elsewhere", () => {
  const settings = { flatten_cname: true };
  for (const [content, isReplayed] of [
    ["a.example.org", true],
    ["host.example.net", false],
    ["gone.example.org", false],
  ] as const) {
    const zone = new LoggedZone();
    zone.write([], [record(1, "a.example.org")]);
    zone.write([], [record(2, "flat.example.org", { type: "CNAME", content, settings })]);
    expect(zone.replay(first) !== null).toBe(isReplayed);
  }
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
