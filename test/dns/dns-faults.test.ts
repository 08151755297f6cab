/**
 * Faults of queries and the log of queries on a running server: two addresses, TCP
 * and DNS over HTTPS. The rules have their tests in `src/dns/fault`.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { decodeMessage } from "../../src/dns/wire/message.ts";
import { Client } from "./support/client.ts";
import { DohClient, encodeQuery, TcpClient, UdpClient } from "./support/dns-client.ts";
import { startTestDns } from "./support/running-dns.ts";

const [first, second] = ["127.0.0.1", "127.0.0.2"];
const records = [
  { type: "A", name: "www", content: "192.0.2.1", ttl: 300 },
  { type: "AAAA", name: "www", content: "2001:db8::1", ttl: 300 },
  { type: "A", name: "other", content: "192.0.2.2", ttl: 300 },
];
const reader = { token: "reader-token", read_only: true };

const secondary = createSocket("udp4");
// Acknowledges every NOTIFY, and never asks for the zone: the server repeats each with growing pauses.
secondary.on("message", (message, { port, address }) => {
  message[2]! |= 0x80;
  secondary.send(message, port, address);
});
secondary.bind(0, first);
await once(secondary, "listening");
const { port } = secondary.address();
const server = await startTestDns({
  hosts: [first, second],
  tokens: [reader],
  transfers: { notify: [{ address: `${first}:${port}` }] },
  zones: [{ name: "example.org", records }],
});
const control = new Client(`${new URL(server.dns.url).origin}/ledge`);
const [zone] = (await server.client.ok("GET", "/zones?name=example.org")) as { id: string }[];
const zonePath = `/zones/${zone!.id}/dns_records`;
const clients = {
  udp: new UdpClient(server.port, first),
  other: new UdpClient(server.port, second),
  tcp: await TcpClient.connect(server.port),
  https: new DohClient(server.dns.url),
};
afterAll(async () => {
  for (const client of Object.values(clients ?? {})) client.close();
  secondary.close();
  await server.stop();
});

beforeEach(() => control.ok("PUT", "/queries"));
afterEach(() => control.ok("DELETE", "/query_faults"));

const set = (...faults: readonly object[]) => control.ok("PUT", "/query_faults", { faults });
const queries = async () =>
  (await control.ok("GET", "/queries")) as Record<string, string | number | boolean | null>[];
const faults = async () =>
  (await control.ok("GET", "/query_faults")) as { matches: number; hits: number }[];
const www = "www.example.org";

/** The addresses of a name, as each client gets them. */
async function addresses(name: string): Promise<string[]> {
  const answers = await Promise.all(Object.values(clients).map((client) => client.ask(name, "A")));
  return answers.map(({ answers: found = [] }) =>
    found.map((record) => String((record as { data: unknown }).data)).join(),
  );
}

async function change(name: string, content: string): Promise<void> {
  const [record] = (await server.client.ok("GET", `${zonePath}?name=${name}&type=A`)) as {
    id: string;
  }[];
  await server.client.ok("PATCH", `${zonePath}/${record!.id}`, { content });
}

it.each([
  ["servfail", "SERVFAIL"],
  ["refused", "REFUSED"],
  ["formerr", "FORMERR"],
  ["notimp", "NOTIMP"],
  ["lame", "NOERROR"],
])("%s is injected over every transport, for its name and type only", async (kind, rcode) => {
  await set({ kind, name: www, type: "A" });
  for (const client of Object.values(clients)) {
    expect(await client.ask(www, "A")).toMatchObject({ rcode, flag_aa: false, answers: [] });
    expect(await client.ask(www, "AAAA")).toMatchObject({ rcode: "NOERROR", flag_aa: true });
    expect((await client.ask("other.example.org", "A")).answers).toHaveLength(1);
  }
  expect(await faults()).toEqual([{ kind, name: www, type: "A", matches: 4, hits: 4 }]);
});

it("times counts the queries of all transports together", async () => {
  await set({ kind: "servfail", name: www, times: 5 });
  const sockets = Array.from({ length: 8 }, () => new UdpClient(server.port, first));
  const all = [...Object.values(clients), ...sockets];
  const answers = await Promise.all(all.map((client) => client.ask(www, "A")));
  for (const socket of sockets) socket.close();
  const codes = answers.map((answer) => (answer as unknown as { rcode: string }).rcode);
  expect(codes.filter((code) => code === "SERVFAIL")).toHaveLength(5);
  expect(await faults()).toMatchObject([{ matches: all.length, hits: 5 }]);
  const logged = await queries();
  expect(logged).toHaveLength(all.length);
  expect(logged.filter(({ fault }) => fault === "servfail")).toHaveLength(5);
});

it("a dropped query has no answer; over HTTPS it has status 503", async () => {
  await set({ kind: "drop", name: www });
  const socket = createSocket("udp4");
  try {
    socket.send(encodeQuery(www, "A", { id: 1 }), server.port, first);
    await expect.poll(async () => (await queries()).length, { timeout: 60_000 }).toBe(1);
    socket.send(encodeQuery("other.example.org", "A", { id: 2 }), server.port, first);
    const [answer] = (await once(socket, "message")) as [Buffer];
    expect(answer.readUInt16BE(0)).toBe(2);
  } finally {
    socket.close();
  }
  await expect(clients.https.ask(www, "A")).rejects.toThrow("503");
  expect(await faults()).toMatchObject([{ matches: 2, hits: 2 }]);
  const dropped = (await queries()).filter(({ fault }) => fault === "drop");
  expect(dropped.map(({ transport, rcode }) => [transport, rcode])).toEqual([
    ["udp", null],
    ["https", null],
  ]);
});

it("truncate makes clients of UDP ask again over TCP", async () => {
  await set({ kind: "truncate", name: www });
  expect(await clients.udp.ask(www, "A")).toMatchObject({ flag_tc: true, answers: [] });
  expect(await clients.tcp.ask(www, "A")).toMatchObject({ flag_tc: false });
  expect((await clients.tcp.ask(www, "A")).answers).toHaveLength(1);
  expect(await faults()).toMatchObject([{ matches: 1, hits: 1 }]);
});

it("wrong_id answers with another identifier", async () => {
  await set({ kind: "wrong_id", name: www });
  const socket = createSocket("udp4");
  try {
    socket.send(encodeQuery(www, "A", { id: 7 }), server.port, first);
    const [answer] = (await once(socket, "message")) as [Buffer];
    expect(answer.readUInt16BE(0)).toBe(7 ^ 0xffff);
  } finally {
    socket.close();
  }
});

it.each([
  ["nxdomain", "NXDOMAIN"],
  ["nodata", "NOERROR"],
])("%s has the SOA of the zone over every transport", async (kind, rcode) => {
  await set({ kind, name: www });
  for (const client of Object.values(clients)) {
    const answer = await client.ask(www, "A");
    expect(answer).toMatchObject({ rcode, flag_aa: true, answers: [] });
    expect(answer.authorities).toMatchObject([{ type: "SOA", name: "example.org" }]);
  }
});

it("answer and ttl change the records over every transport", async () => {
  await set({ kind: "answer", name: www, type: "A", content: "192.0.2.66", ttl: 5 });
  expect(await addresses(www)).toEqual(Array(4).fill("192.0.2.66"));
  await set({ kind: "ttl", name: www, ttl: 0 });
  for (const client of Object.values(clients)) {
    expect((await client.ask(www, "A")).answers).toMatchObject([{ data: "192.0.2.1", ttl: 0 }]);
  }
});

it("no_edns makes clients ask again without EDNS", async () => {
  await set({ kind: "no_edns", name: www });
  const additionals = [{ type: "OPT", name: ".", udpPayloadSize: 1232, flags: 0, options: [] }];
  for (const client of Object.values(clients)) {
    const refused = await client.ask(www, "A", { additionals } as never);
    expect(refused).toMatchObject({ rcode: "FORMERR", additionals: [] });
    expect((await client.ask(www, "A")).answers).toHaveLength(1);
  }
  expect(await faults()).toMatchObject([{ matches: 4, hits: 4 }]);
});

it("malformed octets cannot be parsed, and neither can JSON", async () => {
  await set({ kind: "malformed", name: www });
  for (const client of Object.values(clients)) {
    const octets = await client.raw(encodeQuery(www, "A", { id: 9 }));
    expect(() => decodeMessage(octets)).toThrow("A compression pointer goes forward");
  }
  const url = new URL(`/dns-query?name=${www}`, server.dns.url);
  await expect((await fetch(url)).json()).rejects.toThrow(SyntaxError);
});

it("other_port answers from another port", async () => {
  await set({ kind: "other_port", name: www });
  const socket = createSocket("udp4");
  try {
    socket.send(encodeQuery(www, "A", { id: 7 }), server.port, first);
    const [answer, remote] = (await once(socket, "message")) as [Buffer, { port: number }];
    expect(answer.readUInt16BE(0)).toBe(7);
    expect(remote.port).not.toBe(server.port);
  } finally {
    socket.close();
  }
  expect(await queries()).toMatchObject([{ fault: "other_port", rcode: "NOERROR" }]);
});

it("tcp_reset resets the connection, also at a transfer", async () => {
  await set({ kind: "tcp_reset", zone: "example.org" });
  for (const [name, type] of [
    [www, "A"],
    ["example.org", "AXFR"],
  ] as const) {
    const client = await TcpClient.connect(server.port);
    await expect(client.ask(name, type)).rejects.toThrow("ECONNRESET");
  }
  expect((await clients.udp.ask(www, "A")).answers).toHaveLength(1);
  expect(await faults()).toMatchObject([{ matches: 2, hits: 2 }]);
});

it.each([
  [{ server: "foo" }, '"server" is "foo", which is no IP address.'],
  [{ server: "127.0.0.9" }, "no address of this server. Use 127.0.0.1 or 127.0.0.2."],
  [{ kind: "lost_notify", server: second }, "no secondary of this server. Use 127.0.0.1."],
  [{ kind: "wrong_id", transport: "https" }, '"wrong_id" has an effect over udp, tcp, tls only'],
  [{ kind: "truncate", transport: "https" }, '"truncate" has an effect over udp only'],
  [{ transport: "tls" }, "this server has no DNS over TLS: set tls_port of [dns]."],
])("a fault without effect is refused: %j", async (fields, sentence) => {
  const refused = await control.call("POST", "/query_faults", { kind: "drop", ...fields });
  expect(refused.status).toBe(400);
  expect(refused.body.errors[0]!.message).toContain(sentence);
  expect(await faults()).toEqual([]);
});

it("delay answers later, and a fault of one server leaves the other alone", async () => {
  await set({ kind: "delay", name: www, by: 50, server: first, transport: "udp" });
  expect(await addresses(www)).toEqual(Array(4).fill("192.0.2.1"));
  const delayed = (await queries()).filter(({ fault }) => fault === "delay");
  expect(delayed).toMatchObject([{ server: first, transport: "udp", rcode: "NOERROR" }]);
});

it("stale answers do not follow changes, until the fault ends", async () => {
  await set({ kind: "stale", name: www });
  await change(www, "192.0.2.9");
  await change("other.example.org", "192.0.2.9");
  expect(await addresses(www)).toEqual(Array(4).fill("192.0.2.1"));
  expect(await addresses("other.example.org")).toEqual(Array(4).fill("192.0.2.9"));
  await control.ok("DELETE", "/query_faults");
  expect(await addresses(www)).toEqual(Array(4).fill("192.0.2.9"));
  await change(www, "192.0.2.1");
});

it("propagation_delay lets each name server see a change at its own time", async () => {
  await set(
    { kind: "propagation_delay", zone: "example.org", by: "1h", server: second },
    { kind: "propagation_delay", zone: "example.org", by: 0, server: first },
  );
  await change(www, "192.0.2.9");
  const content = { udp: "192.0.2.9", other: "192.0.2.1", tcp: "192.0.2.9", https: "192.0.2.9" };
  expect(await addresses(www)).toEqual(Object.values(content));
  await change(www, "192.0.2.1");
});

it("propagation_delay hides what was changed before the fault", async () => {
  await change(www, "192.0.2.9");
  await server.client.ok("POST", zonePath, {
    type: "A",
    name: "new",
    content: "192.0.2.7",
    ttl: 60,
  });
  await set({ kind: "propagation_delay", zone: "example.org", by: "1h", server: second });
  const later = { udp: "192.0.2.9", other: "192.0.2.1", tcp: "192.0.2.9", https: "192.0.2.9" };
  expect(await addresses(www)).toEqual(Object.values(later));
  expect(await clients.other.ask("new.example.org", "A")).toMatchObject({ rcode: "NXDOMAIN" });
  await set({ kind: "propagation_delay", zone: "example.org", by: "1h", transport: "https" });
  expect(await addresses(www)).toEqual(["192.0.2.9", "192.0.2.9", "192.0.2.9", "192.0.2.1"]);
  // The change is older than the delay soon.
  await set({ kind: "propagation_delay", zone: "example.org", by: 1 });
  await expect.poll(() => addresses(www), { timeout: 60_000 }).toEqual(Array(4).fill("192.0.2.9"));
  await change(www, "192.0.2.1");
});

it("lost_notify loses a NOTIFY message, and the next try arrives", async () => {
  await set({ kind: "lost_notify", zone: "example.org", times: 1 });
  await change("other.example.org", "192.0.2.3");
  // The second message is the next try of the first.
  await expect
    .poll(async () => (await faults())[0]!.matches, { timeout: 60_000 })
    .toBeGreaterThan(1);
  expect(await faults()).toMatchObject([{ hits: 1 }]);
  expect(await queries()).toMatchObject([
    { name: "example.org", transport: "notify", server: first, fault: "lost_notify" },
  ]);
});

it("a transfer fails as other queries do", async () => {
  await set({ kind: "refused", type: "AXFR" });
  const answer = await clients.tcp.ask("example.org", "AXFR");
  expect(answer).toMatchObject({ rcode: "REFUSED", answers: [] });
  expect(await queries()).toMatchObject([{ type: "AXFR", fault: "refused", rcode: "REFUSED" }]);
});

it("POST adds a fault, and the first fault that hits counts", async () => {
  await control.ok("POST", "/query_faults", { kind: "servfail", name: www, nth: 2 });
  await control.ok("POST", "/query_faults", { kind: "refused", name: www });
  const codes = [];
  for (let count = 0; count < 3; count++) {
    codes.push(((await clients.udp.ask(www, "A")) as unknown as { rcode: string }).rcode);
  }
  expect(codes).toEqual(["REFUSED", "SERVFAIL", "REFUSED"]);
});

it("the log has the queries with their answers", async () => {
  await clients.udp.ask("WWW.example.org", "A");
  await clients.https.ask("missing.example.org", "TXT");
  const logged = await queries();
  expect(logged).toHaveLength(2);
  // Two servers may answer in the same millisecond.
  const [one, other] = ["udp", "https"].map((name) =>
    logged.find(({ transport }) => transport === name),
  );
  expect(one).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    name: www,
    askedName: "WWW.example.org",
    type: "A",
    transport: "udp",
    server: first,
    clientAddress: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    flags: expect.any(Array),
    ednsSize: null,
    clientSubnet: null,
    queryBytes: 33,
    answerBytes: 49,
    rcode: "NOERROR",
    truncated: false,
    fault: null,
    durationMilliseconds: expect.any(Number),
  });
  expect(other).toMatchObject({
    type: "TXT",
    transport: "https",
    server: null,
    clientAddress: null,
    rcode: "NXDOMAIN",
  });
  await control.ok("DELETE", "/queries");
  const off = await control.call("GET", "/queries");
  expect([off.status, off.body.errors[0]!.message]).toEqual([
    409,
    "The log of queries is off. PUT /ledge/queries turns the log on.",
  ]);
  // The servers keep the last queries of the log.
  expect(await control.ok("GET", "/queries?since=0")).toMatchObject([
    { type: "A" },
    { type: "TXT" },
  ]);
  const wrong = await control.call("GET", "/queries?since=yesterday");
  expect([wrong.status, wrong.body.errors[0]!.message]).toEqual([
    400,
    "since must be a number of milliseconds since 1970.",
  ]);
});

it("the last queries have transfers, too", async () => {
  await control.ok("DELETE", "/queries");
  await clients.tcp.ask("example.org", "AXFR");
  const last = async () => (await control.ok("GET", "/queries?since=0")).at(-1);
  await expect.poll(last).toMatchObject({ type: "AXFR", rcode: "NOERROR" });
});

it("the log has the octets of all messages of a transfer", async () => {
  const { answers = [] } = await clients.tcp.ask("example.org", "AXFR");
  expect(answers.length).toBeGreaterThan(3);
  const [logged] = await queries();
  expect(logged).toMatchObject({ type: "AXFR", transport: "tcp", rcode: "NOERROR" });
  expect(logged!["answerBytes"]).toBeGreaterThan(100);
});

it("the controls check credentials and faults", async () => {
  const origin = new URL(server.dns.url).origin;
  const anonymous = new Client(`${origin}/ledge`, {});
  expect((await anonymous.call("GET", "/queries")).status).toBe(400);
  const reading = new Client(`${origin}/ledge`, { authorization: `Bearer ${reader.token}` });
  expect((await reading.call("GET", "/query_faults")).status).toBe(200);
  expect((await reading.call("PUT", "/query_faults", { faults: [] })).status).toBe(403);
  const wrong = await control.call("PUT", "/query_faults", { faults: [{ kind: "drop", nmae: 1 }] });
  expect([wrong.status, wrong.body.errors[0]]).toEqual([
    400,
    { code: 9461, message: '"nmae" is no field of a fault. Did you mean "name"?' },
  ]);
  expect((await control.call("PUT", "/query_faults", { faults: {} })).body.errors[0]!.code).toBe(
    9405,
  );
  expect((await control.call("PATCH", "/query_faults", {})).status).toBe(405);
});
