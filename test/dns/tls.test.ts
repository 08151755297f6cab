/** DNS over TLS of startDns(): the port, the certificate, transfers, faults and the end of the thread. */
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { withLength, encodeQuery, TcpClient } from "./support/dns-client.ts";
import { startTestDns, type TestDns } from "./support/running-dns.ts";
import { useDns } from "./support/use.ts";
import { Client } from "./support/client.ts";

const records = [
  { type: "A", name: "www", content: "192.0.2.1", ttl: 60 },
  ...Array.from({ length: 300 }, (_, at) => ({
    type: "TXT",
    name: "long",
    content: `"${at} ${"x".repeat(100)}"`,
    ttl: 60,
  })),
];
const zones = [{ name: "example.org", records }];
const running = await useDns({ tls_port: 0, https_names: ["dns.test"], zones });
const control = new Client(`${new URL(running.dns.url).origin}/ledge`);

async function connectTo(
  { dns, folder }: TestDns,
  options: ConnectionOptions = {},
): Promise<TcpClient> {
  const ca = readFileSync(join(folder, ".wrangler/state/v3/dns/https/authority.pem"), "utf8");
  const client = await TcpClient.connect(dns.tlsPort!, options.host, {
    ca,
    ALPNProtocols: ["dot"],
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

async function start(...args: Parameters<typeof startTestDns>): Promise<TestDns> {
  const started = await startTestDns(...args);
  onTestFinished(() => started.stop());
  return started;
}

describe("the port", () => {
  it("is printed, and is open on each host", async () => {
    const port = running.dns.tlsPort;
    expect(running.lines.at(-1)).toBe(`DNS        127.0.0.1:${port}, [::1]:${port} (TLS)`);
    for (const host of ["127.0.0.1", "::1"]) {
      const client = await connectTo(running, { host });
      expect((await client.ask("www.example.org", "A")).answers).toHaveLength(1);
    }
  });

  it("is there by an option, without configuration, and not with false", async () => {
    const asked = await start({ zones }, { tlsPort: 0 });
    const client = await connectTo(asked);
    expect((await client.ask("www.example.org", "A")).answers).toHaveLength(1);
    await asked.stop();
    const off = await start(
      { zones, tls_port: 0, https_port: 0 },
      { tlsPort: false, httpsPort: false },
    );
    expect([off.dns.tlsPort, off.dns.httpsUrl]).toEqual([null, null]);
  });

  it("is another port when another server uses it, and the log says so", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const { port: taken } = other.address() as AddressInfo;
    const { dns, lines } = await start({ zones, tls_port: taken });
    expect(dns.tlsPort).not.toBe(taken);
    expect(lines).toContain(`Port ${taken} is taken: DNS over TLS uses another port.`);
  });
});

it("has a certificate for loopback and https_names, and no other name", async () => {
  for (const servername of ["localhost", "dns.test", ""]) {
    const client = await connectTo(running, { servername });
    expect((await client.ask("www.example.org", "A")).answers).toHaveLength(1);
  }
  await expect(connectTo(running, { servername: "other.test" })).rejects.toThrow(/does not match/);
  await expect(connectTo(running, { ca: [] })).rejects.toThrow(/unable to verify|self-signed/);
});

it("answers many queries of one connection, and long answers whole", async () => {
  const client = await connectTo(running);
  const asked = Array.from({ length: 200 }, () => client.ask("www.example.org", "A"));
  for (const { answers } of await Promise.all(asked)) expect(answers).toHaveLength(1);
  const { answers, flag_tc: isTruncated } = await client.ask("long.example.org", "TXT");
  expect([answers?.length, isTruncated]).toEqual([300, false]);
});

it("transfers a zone (RFC 9103)", async () => {
  const client = await connectTo(running);
  const { answers = [] } = await client.ask("example.org", "AXFR");
  expect(answers[0]).toMatchObject({ type: "SOA", name: "example.org" });
});

it("is a transport of faults, and of the log", async () => {
  await control.ok("PUT", "/queries");
  await control.ok("PUT", "/query_faults", { faults: [{ kind: "refused", transport: "tls" }] });
  onTestFinished(async () => void (await control.ok("PUT", "/query_faults", { faults: [] })));
  const tls = await connectTo(running);
  expect(await tls.ask("fault.example.org", "A")).toMatchObject({ rcode: "REFUSED" });
  const tcp = await TcpClient.connect(running.port);
  onTestFinished(() => tcp.close());
  expect(await tcp.ask("fault.example.org", "A")).toMatchObject({ rcode: "NXDOMAIN" });
  const logged = (await control.ok("GET", "/queries")) as { name: string }[];
  expect(logged.filter(({ name }) => name === "fault.example.org")).toMatchObject([
    { transport: "tls", server: "127.0.0.1", rcode: "REFUSED", fault: "refused" },
    { transport: "tcp", server: "127.0.0.1", rcode: "NXDOMAIN", fault: null },
  ]);
});

it("is reset by the fault tcp_reset, and the server goes on", async () => {
  await control.ok("PUT", "/query_faults", { faults: [{ kind: "tcp_reset", times: 1 }] });
  onTestFinished(async () => void (await control.ok("PUT", "/query_faults", { faults: [] })));
  const reset = await connectTo(running);
  await expect(reset.ask("www.example.org", "A")).rejects.toThrow("ECONNRESET");
  const next = await connectTo(running);
  expect((await next.ask("www.example.org", "A")).answers).toHaveLength(1);
});

it("has a new certificate 30 days before the end of the first", async () => {
  const dayMilliseconds = 86_400_000;
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"], now: Date.now() });
  onTestFinished(() => void vi.useRealTimers());
  const started = await start({ zones, tls_port: 0 });
  const serial = async (): Promise<string> => {
    // OpenSSL reads the real clock, for which the second certificate is from the future.
    const { socket } = await connectTo(started, { rejectUnauthorized: false });
    return (socket as TLSSocket).getPeerCertificate().serialNumber;
  };
  const first = await serial();
  vi.advanceTimersByTime(59 * dayMilliseconds);
  expect(await serial()).toBe(first);
  vi.advanceTimersByTime(dayMilliseconds);
  await vi.waitFor(async () => expect(await serial()).not.toBe(first), { timeout: 60_000 });
});

it("ends its connections when DNS stops", async () => {
  const started = await start({ zones, tls_port: 0 });
  const client = await connectTo(started);
  client.socket.write(withLength(encodeQuery("www.example.org", "A")).subarray(0, 3));
  const closed = once(client.socket, "close");
  await started.dns.stop();
  await expect(closed).resolves.toBeDefined();
});
