/** Zone transfers: AXFR (RFC 5936), IXFR (RFC 1995), NOTIFY (RFC 1996) and TSIG (RFC 8945). */
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { fetchZone } from "../../src/dns/client/fetch-zone.ts";
import {
  frame,
  Frames,
  blankMessage,
  decodeMessage,
  encodeMessage,
  type Message,
} from "../../src/dns/wire/message.ts";
import type { ResourceRecord } from "../../src/dns/wire/resource-record.ts";
import { classCodes, opcodes, rcodes, typeCodes } from "../../src/dns/wire/numbers.ts";
import { recordType } from "../../src/dns/record/types.ts";
import { freePort } from "../support/free-port.ts";
import { startTestDns } from "./support/running-dns.ts";
import { useUdp } from "./support/use.ts";

const secret = Buffer.from("a secret of thirty-two octets...");
const key = { name: "to-secondary", algorithm: "hmac-sha256" as const, secret };
const zoneName = "example.org";

async function start(dns: Record<string, unknown> = {}) {
  const table = { keys: [{ name: key.name, secret: secret.toString("base64") }], ...dns };
  const running = await startTestDns(table);
  onTestFinished(() => running.stop());
  const restart = async (): Promise<number> => {
    await running.dns.stop();
    const next = await startTestDns(table, { folder: running.folder });
    onTestFinished(() => next.stop());
    return next.port;
  };
  const { client, port } = running;
  const zoneId = await client.createZone(zoneName);
  const records = `/zones/${zoneId}/dns_records`;
  return { client, zoneId, records, server: { zoneName, host: "127.0.0.1", port }, restart };
}

function serialOf({ data }: ResourceRecord): number {
  return Buffer.from(data).readUInt32BE(data.length - 20);
}

function withSerial(soa: ResourceRecord, serial: number): ResourceRecord {
  const data = Uint8Array.from(soa.data);
  new DataView(data.buffer).setUint32(data.length - 20, serial);
  return { ...soa, data };
}

/** The first A record of a zone. */
function addressOf(zone: readonly ResourceRecord[]): string | undefined {
  return zone.find(({ type }) => type === typeCodes.A)?.data.join(".");
}

/** Records as sorted text. */
function texts(records: Iterable<ResourceRecord>): string[] {
  return [...records]
    .map(({ name, type, ttlSeconds, data }) => `${name} ${ttlSeconds} ${type} ${data.join(".")}`)
    .sort();
}

/** The records of a transfer over TCP, up to its final SOA. */
async function ask(port: number, query: Message): Promise<ResourceRecord[] | number> {
  const socket = connect({ host: "127.0.0.1", port });
  onTestFinished(() => void socket.destroy());
  socket.write(frame(encodeMessage(query)));
  const frames = new Frames();
  const records: ResourceRecord[] = [];
  for await (const piece of socket) {
    for (const bytes of frames.push(piece as Uint8Array)) {
      const message = decodeMessage(bytes);
      if (message.rcode !== rcodes.NOERROR) return message.rcode;
      records.push(...message.answers);
      const current = serialOf(records[0]!);
      const ends = records.filter(
        (record) => record.type === typeCodes.SOA && serialOf(record) === current,
      );
      // In an IXFR, the SOA with the new serial opens the transfer, heads its last additions, and
      // closes the transfer.
      const isWhole = records[1]?.type !== typeCodes.SOA;
      if (records.length === 1 || ends.length === (isWhole ? 2 : 3)) return records;
    }
  }
  throw new Error("The server closed the connection");
}

function incremental(from: ResourceRecord): Message {
  const questions = [{ name: zoneName, type: typeCodes.IXFR, class: classCodes.IN }];
  return { ...blankMessage, id: 1, questions, authorities: [from] };
}

const whole: Message = {
  ...blankMessage,
  id: 1,
  questions: [{ name: zoneName, type: typeCodes.AXFR, class: classCodes.IN }],
};

describe("AXFR", () => {
  it("sends every record, signed when the query is signed", async () => {
    const { client, records, server } = await start();
    await client.ok("POST", `${records}/batch`, {
      posts: Array.from({ length: 1500 }, (_, index) => ({
        type: "TXT",
        name: `host-${index}`,
        content: `"${String(index).repeat(20)}"`,
        ttl: 300,
      })),
    });
    const plain = await fetchZone(server);
    const signed = await fetchZone({ ...server, key });
    expect(plain[0]).toMatchObject({ type: typeCodes.SOA, name: zoneName });
    expect(plain.filter(({ type }) => type === recordType("TXT").code)).toHaveLength(1500);
    expect(texts(signed)).toEqual(texts(plain));
  });

  it("is refused to other addresses, and allowed with the key", async () => {
    const { server } = await start({ transfers: { allow: [`key:${key.name}`, "192.0.2.0/24"] } });
    await expect(fetchZone(server)).rejects.toThrow(
      `Cannot transfer example.org from 127.0.0.1, port ${server.port}: the server answered REFUSED. Allow`,
    );
    expect(await fetchZone({ ...server, key })).not.toHaveLength(0);
    const wrong = { ...key, secret: Buffer.from("another") };
    await expect(fetchZone({ ...server, key: wrong })).rejects.toThrow("refused the key: BADSIG");
    await expect(fetchZone({ ...server, key: { ...key, name: "nobody" } })).rejects.toThrow(
      "refused the key: BADKEY",
    );
  });

  it("gets NOTAUTH for an unknown zone", async () => {
    const { server } = await start();
    await expect(fetchZone({ ...server, zoneName: "example.net" })).rejects.toThrow("NOTAUTH");
  });

  it("by fetchZone() reports that no server listens, and what to do", async () => {
    const options = { zoneName, host: "127.0.0.1", port: 1 };
    await expect(fetchZone(options)).rejects.toThrow("ECONNREFUSED. Is a name server running");
  });
});

describe("IXFR", () => {
  it("sends the changes since a serial", async () => {
    const { client, records, server, restart } = await start();
    const before = await fetchZone(server);
    const { id } = await client.ok("POST", records, { type: "A", name: "a", content: "192.0.2.1" });
    await client.ok("PATCH", `${records}/${id}`, { content: "192.0.2.2" });
    const changes = [
      "SOA +2",
      "SOA +0",
      "SOA +1",
      "a.example.org 192.0.2.1",
      "SOA +1",
      "a.example.org 192.0.2.1",
      "SOA +2",
      "a.example.org 192.0.2.2",
      "SOA +2",
    ];
    const shown = async (port: number) => {
      const answer = await ask(port, incremental(before[0]!));
      return (answer as ResourceRecord[]).map((record) =>
        record.type === typeCodes.SOA
          ? `SOA +${serialOf(record) - serialOf(before[0]!)}`
          : `${record.name} ${record.data.join(".")}`,
      );
    };
    expect(await shown(server.port)).toEqual(changes);
    // After a restart the changes come from the log of the zone.
    expect(await shown(await restart())).toEqual(changes);
  });

  it("sends only the SOA for a serial that is ahead", async () => {
    const { server } = await start();
    const [soa] = await fetchZone(server);
    const ahead = withSerial(soa!, serialOf(soa!) + 1);
    const answer = (await ask(server.port, incremental(ahead))) as ResourceRecord[];
    expect(answer.map(serialOf)).toEqual([serialOf(soa!)]);
  });

  it("sends only the SOA for the current serial, and the whole zone for a serial that is too old", async () => {
    const { client, records, server } = await start();
    const [soa] = await fetchZone(server);
    expect(await ask(server.port, incremental(soa!))).toHaveLength(1);
    await client.ok("POST", records, { type: "A", name: "a", content: "192.0.2.1" });
    const old = incremental(withSerial(soa!, 7));
    const answer = (await ask(server.port, old)) as ResourceRecord[];
    const complete = (await ask(server.port, whole)) as ResourceRecord[];
    expect(texts(answer)).toEqual(texts(complete));
    expect(answer.some(({ name }) => name === "a.example.org")).toBe(true);
  });

  it("gets FORMERR when the query has no valid SOA", async () => {
    const { server } = await start();
    const [soa] = await fetchZone(server);
    const broken = { ...soa!, type: typeCodes.SOA, data: Uint8Array.of(0, 0, 1) };
    expect(await ask(server.port, incremental(broken))).toBe(rcodes.FORMERR);
  });
});

describe("a flattened name with an external target", () => {
  it("gets new addresses and a new serial when the TTL of the addresses ends", async () => {
    let last = 1;
    const resolver = await useUdp((query, reply) => {
      const asked = decodeMessage(query);
      const question = asked.questions[0]!;
      const data = Uint8Array.of(192, 0, 2, last);
      const answers = question.type === typeCodes.A ? [{ ...question, ttlSeconds: 1, data }] : [];
      const response = { ...blankMessage, id: asked.id, response: true, questions: [question] };
      reply(encodeMessage({ ...response, answers }));
    });
    const { client, records, server } = await start({ resolver: `127.0.0.1:${resolver}` });
    const settings = { flatten_cname: true };
    const body = { type: "CNAME", name: "flat", content: "host.elsewhere.test", settings };
    await client.ok("POST", records, body);
    const before = await fetchZone(server);
    expect(addressOf(before)).toBe("192.0.2.1");
    last = 2;
    let after = await fetchZone(server);
    while (addressOf(after) === "192.0.2.1") {
      await new Promise((resolve) => setTimeout(resolve, 50));
      after = await fetchZone(server);
    }
    expect(addressOf(after)).toBe("192.0.2.2");
    expect(serialOf(after[0]!)).toBeGreaterThan(serialOf(before[0]!));
  });
});

/** A secondary that acknowledges messages when the test says so, and tells no serial. */
async function fakeSecondary() {
  const received: { message: Message; acknowledge: () => void }[] = [];
  const waiting: (() => void)[] = [];
  const port = await useUdp((bytes, reply) => {
    const message = decodeMessage(bytes);
    const response = { ...message, response: true, tsig: null };
    if (message.opcode === opcodes.QUERY) {
      return reply(encodeMessage({ ...response, rcode: rcodes.REFUSED }));
    }
    received.push({ message, acknowledge: () => reply(encodeMessage(response)) });
    waiting.shift()?.();
  });
  const receive = async () => {
    if (received.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    return received.shift()!;
  };
  return { address: `127.0.0.1:${port}`, receive };
}

describe("NOTIFY", () => {
  it("is repeated to a secondary until the secondary acknowledges it", async () => {
    const { address, receive } = await fakeSecondary();
    const { client, records, server } = await start({
      transfers: { notify: [{ address, key: key.name }] },
    });
    const first = await receive();
    expect(first.message).toMatchObject({
      opcode: opcodes.NOTIFY,
      authoritative: true,
      questions: [{ name: zoneName, type: typeCodes.SOA }],
      tsig: { keyName: key.name, algorithm: "hmac-sha256" },
    });
    // The message was not acknowledged: the server repeats it.
    const again = await receive();
    expect(again.message.answers).toEqual(first.message.answers);
    await client.ok("POST", records, { type: "A", name: "a", content: "192.0.2.1" });
    again.acknowledge();
    const [soa] = await fetchZone(server);
    let latest = await receive();
    while (serialOf(latest.message.answers[0]!) !== serialOf(soa!)) latest = await receive();
    expect(serialOf(soa!)).not.toBe(serialOf(first.message.answers[0]!));
  });

  it("is repeated until the secondary asks for the zone", async () => {
    const { address, receive } = await fakeSecondary();
    const { client, server } = await start({ transfers: { notify: [{ address }] } });
    await client.createZone("other.test");
    const counts: Record<string, number> = { [zoneName]: 0, "other.test": 0 };
    const receiveNext = async (): Promise<void> => {
      const { message, acknowledge } = await receive();
      const { name } = message.questions[0]!;
      // Before the acknowledgement: the server must know of the question when it decides.
      if (name === zoneName) await fetchZone(server);
      acknowledge();
      counts[name] = counts[name]! + 1;
    };
    // The zone that no secondary asks for is repeated, twice without a message for the other zone.
    for (let calm = 0; calm < 2;) {
      const { [zoneName]: before, "other.test": otherBefore } = counts;
      await receiveNext();
      if (counts[zoneName] !== before) calm = 0;
      else if (counts["other.test"] !== otherBefore) calm += 1;
    }
    expect(counts[zoneName]).toBeGreaterThan(0);
    expect(counts["other.test"]).toBeGreaterThan(1);
  });

  it("is sent after a start, when the server answers", async () => {
    const answers: (number | string)[] = [];
    let dnsPort = 0;
    const secondary = await useUdp((bytes, reply) => {
      reply(bytes);
      if (bytes[2]! >>> 3 !== opcodes.NOTIFY) return;
      fetchZone({ zoneName, host: "127.0.0.1", port: dnsPort }).then(
        ([soa]) => answers.push(serialOf(soa!)),
        (error: unknown) => answers.push(String(error)),
      );
    });
    // A NOTIFY comes before `startTestDns()` returns the port.
    dnsPort = await freePort();
    const table = { transfers: { notify: [{ address: `127.0.0.1:${secondary}` }] } };
    const first = await startTestDns(table, { dnsPort });
    onTestFinished(() => first.stop());
    await first.client.createZone(zoneName);
    await first.dns.stop();
    answers.length = 0;
    const second = await startTestDns(table, { dnsPort, folder: first.folder });
    onTestFinished(() => second.stop());
    await expect.poll(() => answers.length).toBeGreaterThan(0);
    expect(answers[0]).toBeTypeOf("number");
  });
});

describe("[dns.transfers] and [[dns.keys]]", () => {
  it.each([
    [{ keys: [{ name: "k" }] }, "dns.keys[0].secret is missing"],
    [{ keys: [{ name: "k", secret: "***" }] }, "dns.keys[0].secret must be base64"],
    [{ keys: [{ name: "k", secret: "AAAA", algorithm: "md5" }] }, "dns.keys[0].algorithm must be"],
    [{ keys: [{ secret: "AAAA" }] }, "dns.keys[0].name is missing"],
    [{ keys: {} }, "dns.keys must be a list of tables"],
    [{ transfers: { alow: [] } }, 'dns.transfers.alow is not a key; did you mean "allow"?'],
    [{ transfers: { allow: "any" } }, "dns.transfers.allow must be a list"],
    [{ transfers: { allow: ["10.0.0.0/40"] } }, "dns.transfers.allow[0] must be an address"],
    [{ transfers: { allow: ["key:gone"] } }, 'dns.transfers.allow[0] is "gone", which is not'],
    [{ transfers: { notify: [{ address: "ns2" }] } }, "dns.transfers.notify[0].address must be"],
    [
      { transfers: { notify: [{ address: "::1", key: "gone" }] } },
      'dns.transfers.notify[0].key is "gone", which is not',
    ],
  ])("the invalid table %j is refused before the start", async (dns, message) => {
    await expect(start(dns)).rejects.toThrow(message);
  });
});
