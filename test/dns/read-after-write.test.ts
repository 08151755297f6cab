/**
 * Read after write: once an API call has returned, the next DNS answer contains its change: by UDP,
 * TCP and DNS over HTTPS, during concurrent writes to the same zone.
 */
import { expect, test } from "vitest";
import { DohClient, TcpClient, UdpClient, type DnsClient } from "./support/dns-client.ts";
import { useDns } from "./support/use.ts";

/** Continuous integration runs 3,000. */
const rounds = Number(process.env["LEDGE_ROUNDS"] ?? 200);
/** Concurrent writers. Each has separate names and sockets. */
const writers = 12;

const running = await useDns({});
const zoneId = await running.client.createZone("fresh.example");

async function addresses(dnsClient: DnsClient, name: string): Promise<string[]> {
  const { answers = [] } = await dnsClient.ask(name, "A");
  return answers.flatMap((answer) => (answer.type === "A" ? [answer.data] : [])).sort();
}

test(
  `none of ${rounds} changes is missing from the next answer`,
  async () => {
    const { client, port, dns } = running;
    const path = `/zones/${zoneId}/dns_records`;
    let round = 0;

    async function runWriter(writer: number): Promise<void> {
      const dnsClients: DnsClient[] = [
        new UdpClient(port),
        new UdpClient(port, "::1"),
        await TcpClient.connect(port),
        new DohClient(dns.url),
      ];
      /** The records at this writer's name: content by id. */
      const records = new Map<string, string>();
      const name = `writer-${writer}.fresh.example`;
      const record = (at: number) => ({
        type: "A",
        name: at % 2 === 0 ? name : `writer-${writer}`,
        content: `10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}`,
        ttl: 60,
      });

      async function change(at: number): Promise<void> {
        const [id] = records.keys();
        if (id === undefined) {
          const made = await client.ok("POST", path, record(at));
          records.set(made.id, made.content);
          return;
        }
        switch (at % 5) {
          case 0: {
            const made = await client.ok("POST", path, record(at));
            records.set(made.id, made.content);
            break;
          }
          case 1:
            await client.ok("PATCH", `${path}/${id}`, { content: record(at).content });
            records.set(id, record(at).content);
            break;
          case 2:
            await client.ok("PUT", `${path}/${id}`, record(at));
            records.set(id, record(at).content);
            break;
          case 3: {
            const { posts } = await client.ok("POST", `${path}/batch`, {
              deletes: [...records.keys()].map((old) => ({ id: old })),
              posts: [record(at)],
            });
            records.clear();
            records.set(posts[0].id, posts[0].content);
            break;
          }
          default:
            await client.ok("DELETE", `${path}/${id}`);
            records.delete(id);
        }
      }

      while (round < rounds) {
        const at = round++;
        await change(at);
        const expected = [...records.values()].sort();
        for (const found of await Promise.all(
          dnsClients.map((dnsClient) => addresses(dnsClient, name)),
        )) {
          expect(found).toEqual(expected);
        }
      }
      for (const dnsClient of dnsClients) dnsClient.close();
    }

    await Promise.all(Array.from({ length: writers }, (_, writer) => runWriter(writer)));
  },
  rounds * 60 + 30_000,
);

test("the next answer reflects a zone that was created, reconfigured, paused or deleted", async () => {
  const { client, port, dns } = running;
  const dnsClients: DnsClient[] = [
    new UdpClient(port),
    await TcpClient.connect(port),
    new DohClient(dns.url),
  ];
  const all = async (name: string, type: "A" | "SOA") =>
    Promise.all(dnsClients.map((dnsClient) => dnsClient.ask(name, type)));
  for (let round = 0; round < 20; round++) {
    const zone = `zone-${round}.example`;
    for (const answer of await all(zone, "SOA")) expect(answer).toMatchObject({ rcode: "REFUSED" });
    const id = await client.createZone(zone);
    for (const answer of await all(zone, "SOA")) expect(answer.answers).toHaveLength(1);
    await client.ok("PATCH", `/zones/${id}/dns_settings`, { soa: { ttl: 1000 + round } });
    for (const { answers } of await all(zone, "SOA")) {
      expect(answers).toMatchObject([{ ttl: 1000 + round }]);
    }
    const record = { type: "A", name: "@", content: "192.0.2.1", proxied: true };
    await client.ok("POST", `/zones/${id}/dns_records`, record);
    for (const { answers } of await all(zone, "A")) {
      expect(answers).toMatchObject([{ data: "127.0.0.1" }]);
    }
    await client.ok("PATCH", `/zones/${id}`, { paused: true });
    for (const { answers } of await all(zone, "A")) {
      expect(answers).toMatchObject([{ data: "192.0.2.1" }]);
    }
    await client.importFile(id, "imported 60 IN A 192.0.2.2\n");
    for (const { answers } of await all(`imported.${zone}`, "A")) expect(answers).toHaveLength(1);
    await client.ok("DELETE", `/zones/${id}`);
    for (const answer of await all(zone, "SOA")) expect(answer).toMatchObject({ rcode: "REFUSED" });
  }
  for (const dnsClient of dnsClients) dnsClient.close();
});
