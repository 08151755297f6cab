import { beforeEach, describe, expect, it, onTestFinished, test, vi } from "vitest";
import { composeQuery, udp } from "../../../test/dns/support/query.ts";
import { zoneData } from "../../../test/dns/support/served.ts";
import { Query } from "../answer/query.ts";
import { ServedZones } from "../answer/served-zones.ts";
import type { Secondary } from "../config/dns-table.ts";
import type { Message } from "../wire/message.ts";
import { opcodes, rcodes } from "../wire/numbers.ts";
import type { TsigKey } from "../wire/tsig.ts";
import { isDelivered, Notifier, retryPauses } from "./notifier.ts";

const announced = { serial: 7, acknowledged: true, asked: null, told: null };

test.each([
  ["an acknowledgement alone", {}, false],
  ["the serial of the secondary", { told: 7 }, true],
  ["the serial without an acknowledgement", { told: 7, acknowledged: false }, false],
  ["an older serial", { told: 6 }, false],
  // Another secondary at the same address has asked.
  ["an older serial, and a question", { told: 6, asked: 7 }, false],
  ["a question, and no serial", { asked: 7 }, true],
  ["a question before the last change", { asked: 6 }, false],
  // A secondary that signs the zone has serials of its own.
  ["a later serial", { told: 8 }, false],
  ["a later serial, and a question", { told: 8, asked: 7 }, true],
  ["a serial before the numbers started again", { serial: 1, told: 4_294_967_295 }, false],
])("isDelivered() with %s", (_what, evidence, delivered) => {
  expect(isDelivered({ ...announced, ...evidence })).toBe(delivered);
});

test("retryPauses() grow to five minutes, and end with the refresh time", () => {
  const pauses = [...retryPauses(10_000)];
  expect(pauses.slice(0, 4)).toEqual([500, 1000, 2000, 4000]);
  expect(Math.max(...pauses)).toBe(300_000);
  const total = pauses.reduce((sum, pause) => sum + pause, 0);
  expect(total).toBeGreaterThanOrEqual(10_000_000);
  expect(total - pauses.at(-1)!).toBeLessThan(10_000_000);
});

const key: TsigKey = { name: "k", algorithm: "hmac-sha256", secret: new Uint8Array(32) };
const hour = 60 * 60 * 1000;

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

/**
 * A notifier with the given zones and one secondary.
 *
 * @param reply to a message; `null`: no reply
 */
function start(
  names: readonly string[],
  reply: (message: Message) => Partial<Message> | null,
  secondary: Secondary = { host: "127.0.0.1", port: 5301 },
) {
  const zones = new ServedZones({ platformAddresses: [] });
  const sent: Message[] = [];
  const flight = { now: 0, most: 0 };
  const notifier: Notifier = new Notifier({
    zones,
    secondaries: [secondary],
    losesNotify: () => Promise.resolve(false),
    exchanges: {
      stop: () => {},
      async exchange(_secondary, message) {
        sent.push(message);
        flight.now += 1;
        flight.most = Math.max(flight.most, flight.now);
        await new Promise((resolve) => setTimeout(resolve, 10));
        flight.now -= 1;
        const fields = reply(message);
        return fields && { ...message, response: true, answers: [], ...fields };
      },
    },
  });
  onTestFinished(() => notifier.stop());
  const put = (name: string, serial: number): void => {
    zones.put(zoneData(name, [], { id: name, serial }));
    notifier.changed(name);
  };
  for (const name of names) put(name, 1);
  const notifications = () => sent.filter(({ opcode }) => opcode === opcodes.NOTIFY);
  /** A query for the SOA of the first zone. */
  const ask = (by: { address?: string; key?: TsigKey } = {}): void => {
    const query = new Query();
    query.read(composeQuery(`${names[0]} SOA`));
    const address = Uint8Array.from((by.address ?? secondary.host).split("."), Number);
    query.source = { ...udp, address };
    query.signature = by.key === undefined ? null : { key: by.key, mac: new Uint8Array() };
    notifier.asked(query);
  };
  return { notifier, zones, sent, notifications, flight, put, ask };
}

const refusal = { rcode: rcodes.REFUSED };
/** Acknowledges, and does not tell its serial. */
const silent = ({ opcode }: Message) => (opcode === opcodes.NOTIFY ? {} : refusal);

describe("Notifier", () => {
  it("sends nothing before start(), then every zone once", async () => {
    const { notifier, notifications } = start(["one.test", "two.test"], silent);
    await vi.advanceTimersByTimeAsync(hour);
    expect(notifications()).toEqual([]);
    notifier.start();
    await vi.advanceTimersByTimeAsync(1);
    const names = notifications().map(({ questions }) => questions[0]!.name);
    expect(names).toEqual(["one.test", "two.test"]);
  });

  it("repeats a message that is acknowledged until the secondary asks for the SOA", async () => {
    const { notifier, notifications, ask } = start(["one.test"], silent);
    notifier.start();
    await vi.advanceTimersByTimeAsync(5000);
    expect(notifications()).toHaveLength(4);
    ask({ address: "127.0.0.2" });
    await vi.advanceTimersByTimeAsync(5000);
    expect(notifications()).toHaveLength(5);
    ask();
    await vi.advanceTimersByTimeAsync(hour);
    expect(notifications()).toHaveLength(5);
  });

  it("takes a question with the key of the secondary only", async () => {
    const secondary = { host: "127.0.0.1", port: 5301, key };
    const { notifier, notifications, ask } = start(["one.test"], silent, secondary);
    notifier.start();
    ask();
    ask({ key: { ...key, name: "other" } });
    await vi.advanceTimersByTimeAsync(600);
    expect(notifications()).toHaveLength(2);
    ask({ key });
    await vi.advanceTimersByTimeAsync(hour);
    expect(notifications()).toHaveLength(2);
  });

  it("ends when the secondary serves the serial", async () => {
    let served = 0;
    const { notifier, zones, notifications } = start(["one.test"], ({ opcode, questions }) => {
      if (opcode === opcodes.NOTIFY) return {};
      const data = Uint8Array.from(zones.get("one.test")!.soa.data[0]!);
      new DataView(data.buffer).setUint32(data.length - 20, served);
      return { authoritative: true, answers: [{ ...questions[0]!, ttlSeconds: 60, data }] };
    });
    notifier.start();
    await vi.advanceTimersByTimeAsync(700);
    expect(notifications()).toHaveLength(2);
    served = 1;
    await vi.advanceTimersByTimeAsync(hour);
    expect(notifications()).toHaveLength(2);
  });

  it("announces a change at once, with short pauses again", async () => {
    const { notifier, notifications, put } = start(["one.test"], silent);
    notifier.start();
    await vi.advanceTimersByTimeAsync(hour);
    const before = notifications().length;
    put("one.test", 2);
    await vi.advanceTimersByTimeAsync(600);
    expect(notifications()).toHaveLength(before + 2);
  });

  it("announces a change after the reply to the message before", async () => {
    const { notifier, notifications, put } = start(["one.test"], silent);
    notifier.start();
    await vi.advanceTimersByTimeAsync(5);
    put("one.test", 2);
    put("one.test", 3);
    expect(notifications()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(10);
    expect(notifications()).toHaveLength(2);
  });

  it("announces a change that comes while the secondary is asked for its serial", async () => {
    const { notifier, sent, notifications, put, ask } = start(["one.test"], silent);
    notifier.start();
    await vi.advanceTimersByTimeAsync(100);
    ask();
    // The message is acknowledged, the secondary has asked, and the question for its serial is on its way.
    await vi.advanceTimersByTimeAsync(415);
    expect(sent).toHaveLength(2);
    put("one.test", 2);
    await vi.advanceTimersByTimeAsync(20);
    expect(notifications()).toHaveLength(2);
  });

  it("announces a change that comes during the last message about a serial", async () => {
    let last = Infinity;
    const { notifier, sent, put } = start(["one.test"], () => {
      if (sent.length === last) put("one.test", 3);
      return null;
    });
    notifier.start();
    await vi.advanceTimersByTimeAsync(24 * hour);
    const messages = sent.length;
    last = 2 * messages;
    put("one.test", 2);
    await vi.advanceTimersByTimeAsync(24 * hour);
    expect(sent).toHaveLength(3 * messages);
  });

  it("gives up after the refresh time, and asks a silent secondary for nothing", async () => {
    const { notifier, sent, notifications, put } = start(["one.test"], () => null);
    notifier.start();
    await vi.advanceTimersByTimeAsync(24 * hour);
    expect(vi.getTimerCount()).toBe(0);
    expect(sent).toEqual(notifications());
    const before = sent.length;
    expect(before).toBeLessThan(50);
    put("one.test", 2);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toHaveLength(before + 1);
  });

  it("waits for no more than 20 replies at once", async () => {
    const names = Array.from({ length: 200 }, (_, index) => `zone-${index}.test`);
    const { notifier, notifications, flight } = start(names, silent);
    notifier.start();
    await vi.advanceTimersByTimeAsync(400);
    expect(flight.most).toBe(20);
    expect(new Set(notifications().map(({ questions }) => questions[0]!.name)).size).toBe(200);
  });

  it("forgets a zone that is removed", async () => {
    const { notifier, zones, notifications } = start(["one.test"], silent);
    notifier.start();
    await vi.advanceTimersByTimeAsync(5);
    zones.remove("one.test");
    await vi.advanceTimersByTimeAsync(hour);
    expect(notifications()).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
