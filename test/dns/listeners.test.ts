/** The listeners as a whole: ports, starting again, stopping, and names elsewhere. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { availableParallelism } from "node:os";
import { decode, encode } from "dns-packet";
import { describe, expect, it, onTestFinished } from "vitest";
import { startDns } from "../../dist/index.js";
import { DohAsker, TcpAsker, UdpAsker } from "./support/ask.ts";
import { startListening, type Listening } from "./support/listening.ts";

async function start(...args: Parameters<typeof startListening>): Promise<Listening> {
  const listening = await startListening(...args);
  onTestFinished(() => listening.stop());
  return listening;
}

const records = [{ type: "A", name: "www", content: "192.0.2.1", ttl: 60 }];
const zones = [{ name: "example.org", records }];

async function isAnswering(port: number, host = "127.0.0.1"): Promise<boolean> {
  const asker = new UdpAsker(port, host);
  const { answers = [] } = await asker.ask("www.example.org", "A");
  asker.close();
  return answers.length === 1;
}

/** Whether nobody has the port, for UDP and TCP. */
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
  it("is said, and is the same for UDP and TCP, IPv4 and IPv6", async () => {
    const { port, said } = await start({ zones });
    expect(said.at(-1)).toBe(`DNS        127.0.0.1:${port}, [::1]:${port} (UDP and TCP)`);
    for (const host of ["127.0.0.1", "::1"]) {
      expect(await isAnswering(port, host)).toBe(true);
      const tcp = await TcpAsker.connect(port, host);
      expect((await tcp.ask("www.example.org", "A")).answers).toHaveLength(1);
      tcp.close();
    }
  });

  it("is that of the configuration, at the hosts of the configuration", async () => {
    const first = await start({ zones });
    await first.stop();
    const { port } = first;
    const { port: again, said } = await start({ zones, port, hosts: ["127.0.0.1"] }, {
      dnsPort: undefined,
    } as object);
    expect(again).toBe(port);
    expect(said.at(-1)).toBe(`DNS        127.0.0.1:${port} (UDP and TCP)`);
  });

  it.each([
    ["TCP", 1],
    ["UDP", 1],
    ["UDP", 2],
    ["another of ours", 1],
    ["another of ours", 2],
  ])("is another when %s has it, and that is said (%s threads)", async (who, threads) => {
    const taken = await take(who, threads);
    const { port, said } = await start({ zones, threads }, { dnsPort: taken });
    expect(port).not.toBe(taken);
    expect(said).toContain(`Port ${taken} is taken: DNS uses another port.`);
    expect(await isAnswering(port)).toBe(true);
  });

  it("is nobody's without listeners", async () => {
    const { dns, said } = await start({ zones }, { listen: false });
    expect(dns.dnsPort).toBeNull();
    expect(said.join("\n")).not.toContain("UDP");
    const client = new DohAsker(dns.url);
    expect((await client.ask("www.example.org", "A")).answers).toHaveLength(1);
  });

  it.each([
    [{ port: 70_000 }, /dns\.port must be a port, 0 to 65535/],
    [{ hosts: ["localhost"] }, /dns\.hosts must be a list of IPv4 and IPv6 addresses/],
    [{ hosts: [] }, /dns\.hosts must be a list/],
    [{ threads: 0 }, /dns\.threads must be a whole number from 1 to 64/],
    [{ resolver: "resolver.example" }, /dns\.resolver must be an address/],
  ])("is not opened with %j", async (table, message) => {
    await expect(start(table)).rejects.toThrow(message);
  });

  it("cannot be at a host that is not here", async () => {
    await expect(start({ hosts: ["192.0.2.1"] })).rejects.toThrow(
      /Cannot listen at port 0 of 192\.0\.2\.1.*dns\.hosts must be addresses of this machine/,
    );
  });
});

/** Somebody else, who also shares the port if we do. */
async function take(who: string, threads: number): Promise<number> {
  if (who === "another of ours") return (await start({ zones, threads })).port;
  if (who === "TCP") {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  }
  const socket = createSocket({ type: "udp4", reusePort: threads > 1 });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => void socket.close());
  return socket.address().port;
}

describe("stop()", () => {
  it("leaves no port, no connection and no thread", async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length;
    const { port, dns, stop } = await start({ zones, threads: 2 });
    const tcp = await TcpAsker.connect(port);
    const hungUp = new Promise((resolve) => tcp.socket.once("close", resolve));
    await stop();
    await hungUp;
    expect(await isFree(port)).toBe(true);
    await expect(fetch(dns.url)).rejects.toThrow("fetch failed");
    const after = process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length;
    expect(after).toBe(before);
  });

  it("is followed by a start that has everything, before the port answers", async () => {
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
    const again = await startListening({ zones }, { folder });
    const asker = new UdpAsker(again.port);
    for (const index of [0, 999, 1000, 2999]) {
      const { answers } = await asker.ask(`host-${index}.example.org`, "A");
      expect(answers).toMatchObject([{ data: "192.0.2.7" }]);
    }
    asker.close();
    await again.dns.stop();
    await stop();
  });
});

describe("threads", () => {
  it("are not more than the machine has use for, and the API still writes with many", async () => {
    const threads = Math.max(3, availableParallelism());
    const { client, port } = await start({ zones, threads });
    const zoneId = await client.createZone("threads.example");
    await client.ok("POST", `/zones/${zoneId}/dns_records`, {
      type: "A",
      name: "@",
      content: "192.0.2.1",
    });
    // Sockets of their own reach different threads.
    for (let times = 0; times < 20; times++) {
      const asker = new UdpAsker(port);
      expect((await asker.ask("threads.example", "A")).answers).toHaveLength(1);
      asker.close();
    }
  });
});

function flat(name: string, content: string) {
  return { name, records: [{ type: "CNAME", name: "@", content, ttl: 300 }] };
}

describe("a flattened CNAME to a name elsewhere", () => {
  it("has the addresses that the resolver says, for as long as it says", async () => {
    const resolver = createSocket("udp4");
    resolver.bind(0, "127.0.0.1");
    await once(resolver, "listening");
    onTestFinished(() => void resolver.close());
    let asked = 0;
    resolver.on("message", (query, { port, address }) => {
      const { id, questions } = decode(query);
      const [question] = questions!;
      asked += 1;
      const answers =
        question!.type === "A" && question!.name.startsWith("there")
          ? [{ type: "A" as const, name: question!.name, ttl: 100, data: "203.0.113.5" }]
          : [];
      resolver.send(
        encode({ type: "response", id: id!, questions: questions!, answers }),
        port,
        address,
      );
    });
    const { port, dns } = await start({
      resolver: `127.0.0.1:${resolver.address().port}`,
      zones: [
        flat("flat.example", "there.elsewhere.example"),
        flat("empty.example", "none.elsewhere.example"),
      ],
    });
    const askers = [new UdpAsker(port), await TcpAsker.connect(port), new DohAsker(dns.url)];
    for (const asker of askers) {
      const { answers } = await asker.ask("flat.example", "A");
      expect(answers).toMatchObject([{ type: "A", name: "flat.example", data: "203.0.113.5" }]);
      expect((await asker.ask("empty.example", "A")).answers).toEqual([]);
    }
    const before = asked;
    for (const asker of askers) {
      await Promise.all(Array.from({ length: 20 }, () => asker.ask("flat.example", "A")));
      asker.close();
    }
    expect(asked).toBe(before);
  });

  it("fails when there is no resolver to ask, and only that", async () => {
    const { port } = await start({
      threads: 1,
      resolver: "127.0.0.1:1",
      zones: [...zones, flat("flat.example", "there.elsewhere.example")],
    });
    const asker = new UdpAsker(port);
    const waiting = asker.ask("flat.example", "A");
    expect((await asker.ask("www.example.org", "A")).answers).toHaveLength(1);
    expect(await waiting).toMatchObject({ rcode: "SERVFAIL" });
    asker.close();
  });
});

it("startDns() says what else went wrong, and leaves nothing", async () => {
  await expect(startDns({ configPath: "/nowhere/wrangler.json" })).rejects.toThrow(/nowhere/);
});
