/**
 * Input that no honest client sends: the servers refuse it, keep their state, and answer others.
 * `test/dns/bad-input.test.ts` has the mistakes of records and requests one by one, and
 * `test/dns/fuzz-transports.test.ts` the mutated packets.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { credentials } from "../dns/support/client.ts";
import { DohClient, TcpClient, UdpClient } from "../dns/support/dns-client.ts";
import { startTestDns, type TestDns } from "../dns/support/running-dns.ts";
import { waitOptions } from "../support/dev-process.ts";
import { connectionCount } from "./support/listening-sockets.ts";
import { sendRaw, type RawRequest } from "./support/raw-http.ts";
import { isLong } from "./support/seed.ts";

let dns: TestDns;
let apiPort: number;
let zoneId: string;
let recordId: string;

beforeAll(async () => {
  dns = await startTestDns();
  apiPort = Number(new URL(dns.dns.url).port);
  zoneId = await dns.client.createZone("example.org");
  const record = { type: "A", name: "www", content: "192.0.2.1" };
  recordId = (await dns.client.ok("POST", `/zones/${zoneId}/dns_records`, record)).id as string;
});
afterAll(() => dns.stop());

/** Every server answers as before. */
async function expectServed(): Promise<void> {
  expect(await dns.client.ok("GET", `/zones/${zoneId}/dns_records`)).toMatchObject([
    { name: "www.example.org", content: "192.0.2.1" },
  ]);
  const tcp = await TcpClient.connect(dns.port);
  for (const client of [new UdpClient(dns.port), tcp, new DohClient(dns.dns.url)]) {
    const { answers } = await client.ask("www.example.org", "A");
    expect(answers).toMatchObject([{ data: "192.0.2.1" }]);
    client.close();
  }
}

describe("the record API", () => {
  const levels = isLong ? 1_000_000 : 100_000;
  const deep = {
    lists: `{"type":"TXT","data":${"[".repeat(levels)}${"]".repeat(levels)}}`,
    tables: `${'{"name":'.repeat(levels)}1${"}".repeat(levels)}`,
    "lists that are not closed": `{"type":${"[".repeat(levels)}`,
  };

  /** All operations that read a body. */
  const operations = [
    ["POST", "/client/v4/zones"],
    ["PATCH", "/client/v4/zones/{zone}"],
    ["PATCH", "/client/v4/zones/{zone}/dns_settings"],
    ["PATCH", "/client/v4/zones/{zone}/settings/http3"],
    ["POST", "/client/v4/zones/{zone}/dns_records"],
    ["POST", "/client/v4/zones/{zone}/dns_records/batch"],
    ["PUT", "/client/v4/zones/{zone}/dns_records/{record}"],
    ["PATCH", "/client/v4/zones/{zone}/dns_records/{record}"],
    ["PUT", "/ledge/faults"],
    ["PUT", "/ledge/query_faults"],
    ["POST", "/ledge/query_faults"],
  ] as const;

  test.each(operations)("%s %s refuses a body of 100,000 levels", async (method, template) => {
    const path = template.replace("{zone}", zoneId).replace("{record}", recordId);
    const headers = { ...credentials, "content-type": "application/json" };
    for (const [name, body] of Object.entries(deep)) {
      const { status, text } = await sendRaw(apiPort, { method, path, headers, body });
      // A body above the size limit is refused for its size.
      const code = body.length > 4 * 1024 ** 2 ? 9440 : name.endsWith("closed") ? 6007 : 9447;
      expect([name, status, JSON.parse(text)]).toEqual([
        name,
        code === 9440 ? 413 : 400,
        expect.objectContaining({ errors: [expect.objectContaining({ code })] }),
      ]);
    }
    await expectServed();
  });

  test("accepts a body at the limit", async () => {
    const path = `/zones/${zoneId}/dns_records`;
    const data = JSON.parse(`${"[".repeat(99)}${"]".repeat(99)}`) as unknown;
    const { status, body } = await dns.client.call("POST", path, { type: "TXT", name: "x", data });
    expect([status, body.errors[0]?.code]).toEqual([400, 9100]);
  });

  test("survives headers, paths and forms of any size", async () => {
    const path = `/client/v4/zones/${zoneId}/dns_records`;
    const long = "x".repeat(2 ** 20);
    const many = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`x-${index}`, "1"]),
    );
    const form = "multipart/form-data; boundary=x";
    const parts = `--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n`.repeat(5000);
    const requests: RawRequest[] = [
      { path, headers: { ...credentials, "x-long": long } },
      { path, headers: { ...credentials, ...many } },
      { path, headers: { ...credentials, host: long } },
      { path: `${path}?name=${long}`, headers: credentials },
      { path: `/${"a/".repeat(200_000)}`, headers: credentials },
      { path: `${path}?${"a=1&".repeat(10_000)}`, headers: credentials },
      { path, headers: { authorization: `Bearer ${"t".repeat(10_000)}` } },
      { path, method: long.slice(0, 1000), headers: credentials },
      {
        path: `${path}/import`,
        method: "POST",
        headers: { ...credentials, "content-type": form },
        body: parts,
      },
    ];
    for (const request of requests) {
      const { status } = await sendRaw(apiPort, request);
      // workerd refuses a head that is too large before the API sees it.
      expect(["closed", 200, 400, 403, 405, 413, 414, 431, 500, 501]).toContain(status);
    }
    await expectServed();
  });

  test.each([
    `name=${"a.".repeat(50_000)}test`,
    `name=${"a".repeat(64)}.test`,
    "name=a..test",
    "name=a.test&type=70000",
    "name=a.test&type=TYPE",
    `name=a.test&type=${"A".repeat(100_000)}`,
    `dns=${"A".repeat(100_000)}`,
    "dns=%%%",
    "dns=AAAA",
  ])("DNS over HTTPS refuses a query (%#)", async (query) => {
    const { status } = await sendRaw(apiPort, { path: `/dns-query?${query}` });
    // 414: workerd refuses a long URL before the API sees it.
    expect([400, 413, 414]).toContain(status);
  });

  test("DNS over HTTPS refuses a message that is too large, and JSON in its place", async () => {
    const type = { "content-type": "application/dns-message" };
    const send = (body: string) =>
      sendRaw(apiPort, { method: "POST", path: "/dns-query", headers: type, body });
    expect((await send("x".repeat(65_536))).status).toBe(413);
    expect((await send("[".repeat(60_000))).status).toBe(200);
    expect((await send("short")).status).toBe(400);
    await expectServed();
  });
});

describe("the name server", () => {
  test("survives datagrams of any size, and frames without a message", async () => {
    const socket = createSocket("udp4");
    for (const size of [0, 1, 11, 12, 512, 65_507]) {
      for (const octet of [0x00, 0xff, 0xc0]) {
        const done = Promise.withResolvers<void>();
        socket.send(Buffer.alloc(size, octet), dns.port, "127.0.0.1", () => done.resolve());
        await done.promise;
      }
    }
    socket.close();
    for (const octets of [[0, 0], [0, 1, 0], [0xff, 0xff], [0, 12], Array(5000).fill(0)]) {
      const tcp = connect({ port: dns.port, host: "127.0.0.1" });
      tcp.on("error", () => {});
      tcp.resume().end(Buffer.from(octets as number[]));
      await once(tcp, "close");
      expect(tcp.bytesRead).toBe(0);
    }
    await expectServed();
  });
});

/** @param begin what each client sends before it falls silent */
async function openSilent(port: number, count: number, begin: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let index = 0; index < count; index++) {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.resume();
    sockets.push(socket);
    await once(socket, "connect");
    if (begin !== "") socket.write(begin);
  }
  return sockets;
}

function isOpen(socket: Socket): boolean {
  return !socket.destroyed && !socket.readableEnded;
}

describe("slow and idle clients do not keep others from being answered:", () => {
  const count = isLong ? 1500 : 300;
  const head = "POST /client/v4/zones HTTP/1.1\r\nhost: localhost\r\n";
  const headers = Object.entries({ ...credentials, "content-type": "application/json" });
  const whole = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");

  test.each([
    ["of the API, without a request", ""],
    ["of the API, in the middle of a head", head],
    ["of the API, in the middle of a body", `${head}${whole}content-length: 100\r\n\r\n{"name":`],
  ])("%s", async (_, begin) => {
    const silent = await openSilent(apiPort, count, begin);
    await expectServed();
    if (!isLong || begin !== head) return;
    // workerd closes a connection whose head does not end.
    await vi.waitFor(() => expect(silent.filter(isOpen)).toEqual([]), waitOptions);
  });

  test.each([
    ["without a message", ""],
    ["in the middle of a message", "\x01\x00half"],
  ])("of the name server by TCP, %s: connections are bounded", async (_, begin) => {
    const most = 512;
    await openSilent(dns.port, most + 100, begin);
    // A later connection is served, so the server has seen all earlier ones.
    await expectServed();
    // The kernel counts a connection until it is closed, and the later one is being closed.
    const connections = () => connectionCount(dns.port);
    await vi.waitFor(() => expect(connections()).toBeLessThanOrEqual(most), waitOptions);
  });
});
