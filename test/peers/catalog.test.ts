/**
 * BIND, Knot and NSD learn from our catalog (RFC 9432) which zones there are: no zone but the catalog is in
 * their configuration. They take on new zones, also those that a command makes while our server is away,
 * and drop deleted ones.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { askServer } from "../../src/dns/client/ask-server.ts";
import { fetchZone } from "../../src/dns/client/fetch-zone.ts";
import { rcodes, typeCodes } from "../../src/dns/wire/numbers.ts";
import { Client } from "../dns/support/client.ts";
import { freePort } from "../support/free-port.ts";
import { temporaryFolder } from "./support.ts";
import { KilledDns } from "./servers/killed-dns.ts";
import { catalogConsumers } from "./servers/name-servers.ts";

const catalog = "catalog.example.net";
const first = "first.example";
/** BIND looks at a catalog every five seconds, at most. NSD loads changes once a second. */
const patience = { timeout: 30_000, interval: 100 };

/** Our server with one zone, and servers that have the zone from the catalog. All end with the test. */
async function startServers() {
  const key = { name: "transfer", secret: randomBytes(32).toString("base64") };
  const ports = await Promise.all(catalogConsumers.map(() => freePort()));
  const ours = await KilledDns.start({
    keys: [key],
    transfers: {
      allow: [`key:${key.name}`],
      notify: ports.map((port) => ({ address: `127.0.0.1:${port}`, key: key.name })),
      catalog,
    },
  });
  onTestFinished(() => ours.stop());
  await new Client(ours.url).createZone(first);
  const primary = { port: ours.dnsPort, zoneName: first, catalog, key };
  const running = await Promise.all(
    catalogConsumers.map(({ start }, index) =>
      start(primary, { folder: temporaryFolder(), port: ports[index]! }),
    ),
  );
  onTestFinished(async () => void (await Promise.all(running.map((peer) => peer.stop()))));

  /** The last octet of the address that each server has for a name, or its RCODE. */
  const answers = async (name: string) => {
    const asked = await Promise.all(
      ports.map(async (port) => {
        const server = { host: "127.0.0.1", port };
        const { message } = await askServer({ name, type: typeCodes.A }, server);
        return message.answers[0]?.data.at(-1) ?? `RCODE ${message.rcode}`;
      }),
    );
    return Object.fromEntries(catalogConsumers.map(({ name: who }, index) => [who, asked[index]]));
  };
  const expectAll = async (name: string, answer: number | string): Promise<void> => {
    const everywhere = Object.fromEntries(catalogConsumers.map(({ name: who }) => [who, answer]));
    await expect.poll(() => answers(name), patience).toEqual(everywhere);
  };
  const logs = () => running.map(({ log }) => readFileSync(log, "utf8").slice(-3000)).join("\n\n");
  onTestFinished(({ task }) => {
    if (task.result?.state === "fail") console.error(logs());
  });
  return { ours, key, expectAll };
}

async function createZone(client: Client, name: string, lastOctet: number): Promise<string> {
  const id = await client.createZone(name);
  const record = { type: "A", name: "@", content: `192.0.2.${lastOctet}` };
  await client.ok("POST", `/zones/${id}/dns_records`, record);
  return id;
}

const refused = `RCODE ${rcodes.REFUSED}`;

if (catalogConsumers.length < 3) {
  console.log("NSD is not tested: install-newer.sh has not brought a version with catalog zones.");
}

it("secondaries serve new zones and not deleted ones, without a word in their configuration", async () => {
  const { ours, key, expectAll } = await startServers();
  const client = new Client(ours.url);

  const id = await createZone(client, "new.example", 1);
  await expectAll("new.example", 1);
  await client.ok("DELETE", `/zones/${id}`);
  await expectAll("new.example", refused);
  // Created again, with other records.
  await createZone(client, "new.example", 2);
  await expectAll("new.example", 2);

  // Made and deleted while no server runs.
  await ours.kill();
  await ours.command("zones", "--create", "offline.example");
  await ours.command("add", "offline.example", "@", "A", "192.0.2.3");
  await ours.command("zones", "--delete", "new.example", "--yes");
  await ours.restart();
  await expectAll("offline.example", 3);
  await expectAll("new.example", refused);

  // Twenty at once, and a kill as soon as they are acknowledged.
  const after = new Client(ours.url);
  const names = Array.from({ length: 20 }, (_, index) => `zone-${index}.example`);
  await Promise.all(names.map((name, index) => createZone(after, name, 10 + index)));
  await ours.kill();
  await ours.restart();
  for (const [index, name] of names.entries()) await expectAll(name, 10 + index);
  await expectAll("offline.example", 3);

  const server = { host: "127.0.0.1", port: ours.dnsPort };
  await expect(fetchZone({ ...server, zoneName: catalog })).rejects.toThrow("REFUSED");
  const secret = Buffer.from(key.secret, "base64");
  const signed = { name: key.name, algorithm: "hmac-sha256" as const, secret };
  const records = await fetchZone({ ...server, zoneName: catalog, key: signed });
  expect(records.filter(({ type }) => type === typeCodes.PTR)).toHaveLength(22);
});
