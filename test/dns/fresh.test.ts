/**
 * When a call of the API returns, the next answer has what it did: by UDP, TCP and DNS over HTTPS,
 * on every thread, with other writes to the same zone under way.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { DohAsker, TcpAsker, UdpAsker, type Ask } from "./support/ask.ts";
import { startListening, type Listening } from "./support/listening.ts";

/** Continuous integration runs ten thousand. */
const rounds = Number(process.env["LEDGE_ROUNDS"] ?? 2000);
/** At once; each has names, and sockets, of its own. */
const lanes = 12;

let listening: Listening;
let zoneId: string;

beforeAll(async () => {
  listening = await startListening({ threads: 2 });
  zoneId = await listening.client.createZone("fresh.example");
});
afterAll(() => listening.stop());

async function addresses(asker: Ask, name: string): Promise<string[]> {
  const { answers = [] } = await asker.ask(name, "A");
  return answers.flatMap((answer) => (answer.type === "A" ? [answer.data] : [])).sort();
}

test(
  `none of ${rounds} changes is missing from the next answer`,
  async () => {
    const { client, port, dns } = listening;
    const path = `/zones/${zoneId}/dns_records`;
    let round = 0;

    async function runLane(lane: number): Promise<void> {
      const askers: Ask[] = [
        new UdpAsker(port),
        new UdpAsker(port, "::1"),
        await TcpAsker.connect(port),
        new DohAsker(dns.url),
      ];
      /** What the zone has at the lane's name: content by id. */
      const records = new Map<string, string>();
      const name = `lane-${lane}.fresh.example`;
      const record = (at: number) => ({
        type: "A",
        name: at % 2 === 0 ? name : `lane-${lane}`,
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
        for (const found of await Promise.all(askers.map((asker) => addresses(asker, name)))) {
          expect(found).toEqual(expected);
        }
      }
      for (const asker of askers) asker.close();
    }

    await Promise.all(Array.from({ length: lanes }, (_, lane) => runLane(lane)));
  },
  rounds * 60 + 30_000,
);

test("a zone that is made, changed in its settings, paused or deleted is answered so at once", async () => {
  const { client, port, dns } = listening;
  const askers: Ask[] = [new UdpAsker(port), await TcpAsker.connect(port), new DohAsker(dns.url)];
  const all = async (name: string, type: "A" | "SOA") =>
    Promise.all(askers.map((asker) => asker.ask(name, type)));
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
    for (const { answers } of await all(zone, "A")) expect(answers).toHaveLength(2);
    await client.ok("PATCH", `/zones/${id}`, { paused: true });
    for (const { answers } of await all(zone, "A")) {
      expect(answers).toMatchObject([{ data: "192.0.2.1" }]);
    }
    await client.importFile(id, "imported 60 IN A 192.0.2.2\n");
    for (const { answers } of await all(`imported.${zone}`, "A")) expect(answers).toHaveLength(1);
    await client.ok("DELETE", `/zones/${id}`);
    for (const answer of await all(zone, "SOA")) expect(answer).toMatchObject({ rcode: "REFUSED" });
  }
  for (const asker of askers) asker.close();
});
