/** The listeners of startDns(): ports, stop and restart, the end of their thread, and external names. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import { createServer, type AddressInfo } from "node:net";
import workerThreads, { Worker } from "node:worker_threads";
import { decode, encode } from "dns-packet";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { startDns } from "../../dist/index.js";
import { freePort } from "../support/free-port.ts";
import { Client } from "./support/client.ts";
import { DohClient, TcpClient, UdpClient } from "./support/dns-client.ts";
import { startTestDns, type TestDns } from "./support/running-dns.ts";
import { useUdp } from "./support/use.ts";

async function start(...args: Parameters<typeof startTestDns>): Promise<TestDns> {
  const running = await startTestDns(...args);
  onTestFinished(() => running.stop());
  return running;
}

const records = [{ type: "A", name: "www", content: "192.0.2.1", ttl: 60 }];
const zones = [{ name: "example.org", records }];

async function isAnswering(port: number, host = "127.0.0.1"): Promise<boolean> {
  const dnsClient = new UdpClient(port, host);
  const { answers = [] } = await dnsClient.ask("www.example.org", "A");
  dnsClient.close();
  return answers.length === 1;
}

/** Whether the port is free for UDP and TCP. */
async function isFree(port: number): Promise<boolean> {
  const tcp = createServer();
  const udp = createSocket("udp4");
  try {
    tcp.listen({ port, host: "127.0.0.1", exclusive: true });
    await once(tcp, "listening");
    udp.bind({ port, address: "127.0.0.1", exclusive: true });
    await once(udp, "listening");
    return true;
  } catch {
    return false;
  } finally {
    tcp.close();
    udp.close();
  }
}

describe("the port", () => {
  it("is printed, and is the same for UDP and TCP, IPv4 and IPv6", async () => {
    const { port, lines } = await start({ zones });
    expect(lines.at(-1)).toBe(`DNS        127.0.0.1:${port}, [::1]:${port} (UDP and TCP)`);
    for (const host of ["127.0.0.1", "::1"]) {
      expect(await isAnswering(port, host)).toBe(true);
      const tcp = await TcpClient.connect(port, host);
      expect((await tcp.ask("www.example.org", "A")).answers).toHaveLength(1);
      tcp.close();
    }
  });

  it("comes from the configuration, as do the hosts", async () => {
    const first = await start({ zones });
    await first.stop();
    const { port } = first;
    const table = { zones, port, hosts: ["127.0.0.1"] };
    const { port: opened, lines } = await start(table, { dnsPort: undefined });
    expect(opened).toBe(port);
    expect(lines.at(-1)).toBe(`DNS        127.0.0.1:${port} (UDP and TCP)`);
  });

  it.each(["TCP", "UDP", "another server of ours"])(
    "is another port when %s uses it, and the log says so",
    async (user) => {
      const taken = await take(user);
      const { port, lines } = await start({ zones }, { dnsPort: taken });
      expect(port).not.toBe(taken);
      expect(lines).toContain(`Port ${taken} is taken: DNS uses another port.`);
      expect(await isAnswering(port)).toBe(true);
    },
  );

  it("stays free without listeners", async () => {
    const { dns, lines } = await start({ zones }, { listen: false });
    expect(dns.dnsPort).toBeNull();
    expect(lines.join("\n")).not.toContain("UDP");
    const client = new DohClient(dns.url);
    expect((await client.ask("www.example.org", "A")).answers).toHaveLength(1);
  });

  it.each([
    [{ port: 70_000 }, /dns\.port must be a port, 0 to 65535/],
    [{ hosts: ["localhost"] }, /dns\.hosts must be a list of IPv4 and IPv6 addresses/],
    [{ hosts: [] }, /dns\.hosts must be a list/],
    [{ threads: 2 }, /dns\.threads is not a key/],
    [{ resolver: "resolver.example" }, /dns\.resolver must be an address/],
  ])("is not opened for the invalid table %j", async (table, message) => {
    await expect(start(table)).rejects.toThrow(message);
  });

  it("is not opened at an address of another machine", async () => {
    await expect(start({ hosts: ["192.0.2.1"] })).rejects.toThrow(
      /Cannot listen at port 0 of 192\.0\.2\.1.*dns\.hosts must be addresses of this machine/,
    );
  });
});

/** A user of a port. */
async function take(user: string): Promise<number> {
  if (user === "another server of ours") return (await start({ zones })).port;
  if (user === "TCP") {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  }
  return useUdp();
}

describe("stop()", () => {
  it("closes every port, connection and thread", async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length;
    const { port, dns, stop } = await start({ zones });
    const tcp = await TcpClient.connect(port);
    const closed = new Promise((resolve) => tcp.socket.once("close", resolve));
    await stop();
    await closed;
    expect(await isFree(port)).toBe(true);
    await expect(fetch(dns.url)).rejects.toThrow("fetch failed");
    const after = process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length;
    expect(after).toBe(before);
  });

  it("is followed by a start that loads all zones before the port answers", async () => {
    const { folder, client, dns, stop } = await start({ zones });
    const [zone] = (await client.ok("GET", "/zones")) as { id: string }[];
    const posts = Array.from({ length: 3000 }, (_, index) => ({
      type: "A",
      name: `host-${index}`,
      content: "192.0.2.7",
      ttl: 60,
    }));
    await client.ok("POST", `/zones/${zone!.id}/dns_records/batch`, { posts });
    await dns.stop();
    const restarted = await startTestDns({ zones }, { folder });
    const dnsClient = new UdpClient(restarted.port);
    for (const index of [0, 999, 1000, 2999]) {
      const { answers } = await dnsClient.ask(`host-${index}.example.org`, "A");
      expect(answers).toMatchObject([{ data: "192.0.2.7" }]);
    }
    dnsClient.close();
    await restarted.dns.stop();
    await stop();
  });
});

describe("a listener thread that ends is started again", () => {
  const threads: Worker[] = [];
  /** The threads that have bound their sockets */
  const bound = new Set<Worker>();
  /** The ports from which the threads notify the secondary: each thread has a socket of its own. */
  const notifiers = new Set<number>();
  const errors: string[] = [];
  const secondary = createSocket("udp4", (_message, { port }) => notifiers.add(port));
  let server: TestDns;

  class WatchedWorker extends Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args);
      if (!String(args[0]).includes("dns-listener")) return;
      threads.push(this);
      this.on("message", ({ result }: { result?: { hosts?: unknown } }) => {
        if (result?.hosts !== undefined) bound.add(this);
      });
    }
  }

  beforeAll(async () => {
    vi.spyOn(console, "error").mockImplementation((...words) => errors.push(words.join(" ")));
    workerThreads.Worker = WatchedWorker;
    syncBuiltinESMExports();
    await once(secondary.bind(0, "127.0.0.1"), "listening");
    const notify = [{ address: `127.0.0.1:${secondary.address().port}` }];
    // A client could get an ephemeral port between the end of a thread and the next start.
    const [dnsPort, tlsPort] = [await freePort(), await freePort()];
    server = await startTestDns({ zones, transfers: { notify } }, { dnsPort, tlsPort });
    const control = new Client(`${new URL(server.dns.url).origin}/ledge`);
    await control.ok("PUT", "/query_faults", { faults: [{ kind: "refused", type: "AAAA" }] });
  });
  afterAll(async () => {
    await server.stop();
    secondary.close();
    workerThreads.Worker = Worker;
    syncBuiltinESMExports();
    vi.restoreAllMocks();
  });

  it.each(["one", "two"])(
    "with the zones, the faults and the ports of before, and notifies secondaries (%s)",
    async (name) => {
      const count = bound.size;
      await threads.at(-1)!.terminate();
      await expect.poll(() => bound.size, { timeout: 60_000 }).toBe(count + 1);
      const tls = await connectTls(server.dns.tlsPort!);
      expect(errors).toEqual(
        Array.from({ length: count }, () => "A DNS listener thread has ended, and starts again."),
      );
      await expect.poll(() => notifiers.size).toBe(count + 1);
      const zoneId = await server.client.createZone(`${name}.example`);
      const record = { type: "A", name: "@", content: "192.0.2.2" };
      await server.client.ok("POST", `/zones/${zoneId}/dns_records`, record);
      const tcp = await TcpClient.connect(server.port);
      for (const client of [new UdpClient(server.port), tcp, tls]) {
        expect((await client.ask(`${name}.example`, "A")).answers).toHaveLength(1);
        expect((await client.ask("www.example.org", "A")).answers).toHaveLength(1);
        expect(await client.ask("www.example.org", "AAAA")).toMatchObject({ rcode: "REFUSED" });
        client.close();
      }
    },
  );
});

/** The thread binds this port last. */
async function connectTls(port: number): Promise<TcpClient> {
  const attempt = () => TcpClient.connect(port, undefined, { rejectUnauthorized: false });
  await expect.poll(() => attempt().then((client) => client.close())).toBeUndefined();
  return attempt();
}

function flat(name: string, content: string) {
  return { name, records: [{ type: "CNAME", name: "@", content, ttl: 300 }] };
}

describe("a flattened CNAME to an external name", () => {
  it("has the addresses of the resolver, for the TTL of the resolver", async () => {
    let asked = 0;
    const resolver = await useUdp((query, reply) => {
      const { id, questions } = decode(query);
      const [question] = questions!;
      asked += 1;
      const answers =
        question!.type === "A" && question!.name.startsWith("there")
          ? [{ type: "A" as const, name: question!.name, ttl: 100, data: "203.0.113.5" }]
          : [];
      reply(encode({ type: "response", id: id!, questions: questions!, answers }));
    });
    const { port, dns } = await start({
      resolver: `127.0.0.1:${resolver}`,
      zones: [
        flat("flat.example", "there.elsewhere.example"),
        flat("empty.example", "none.elsewhere.example"),
      ],
    });
    const dnsClients = [new UdpClient(port), await TcpClient.connect(port), new DohClient(dns.url)];
    for (const dnsClient of dnsClients) {
      const { answers } = await dnsClient.ask("flat.example", "A");
      expect(answers).toMatchObject([{ type: "A", name: "flat.example", data: "203.0.113.5" }]);
      expect((await dnsClient.ask("empty.example", "A")).answers).toEqual([]);
    }
    const before = asked;
    for (const dnsClient of dnsClients) {
      await Promise.all(Array.from({ length: 20 }, () => dnsClient.ask("flat.example", "A")));
      dnsClient.close();
    }
    expect(asked).toBe(before);
  });

  it("gets SERVFAIL without a resolver, and other names still get answers", async () => {
    const { port } = await start({
      resolver: "127.0.0.1:1",
      zones: [...zones, flat("flat.example", "there.elsewhere.example")],
    });
    const dnsClient = new UdpClient(port);
    const waiting = dnsClient.ask("flat.example", "A");
    expect((await dnsClient.ask("www.example.org", "A")).answers).toHaveLength(1);
    expect(await waiting).toMatchObject({ rcode: "SERVFAIL" });
    dnsClient.close();
  });
});

it("startDns() rejects when the configuration file does not exist", async () => {
  await expect(startDns({ configPath: "/nowhere/wrangler.json" })).rejects.toThrow(/nowhere/);
});
