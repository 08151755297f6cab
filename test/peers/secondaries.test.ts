/**
 * BIND, Knot and NSD follow our zone by NOTIFY and IXFR: through changes while our server is away, and
 * through many changes while our server is killed again and again. They end with the same records, which
 * tools of other projects compare.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { askServer } from "../../src/dns/client/ask-server.ts";
import { fetchZone } from "../../src/dns/client/fetch-zone.ts";
import { typeCodes } from "../../src/dns/wire/numbers.ts";
import { Client } from "../dns/support/client.ts";
import { anyRecord } from "../dns/support/record-arbitrary.ts";
import { acceptable, temporaryFolder } from "./support.ts";
import { freePort } from "../support/free-port.ts";
import { environment } from "./servers/peer.ts";
import { KilledDns } from "./servers/killed-dns.ts";
import { secondaries } from "./servers/name-servers.ts";

const zoneName = "example.org";
const changes = 1000;
/** After so many changes, our server is killed and started again. */
const killEvery = 50;
/** Half of them after a stop, half after a kill. */
const restarts = 20;
const followMilliseconds = 5000;

function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, { env: environment, encoding: "utf8" });
}

/** The zone as a file, transferred by dig. */
function transferToFile(port: number, path: string, ...forms: string[]): void {
  writeFileSync(path, run("dig", "@127.0.0.1", "-p", String(port), zoneName, "AXFR", ...forms));
}

/** ldns cannot parse some of these texts; the generic format of RFC 3597 it can. */
const asOctets = ["+onesoa", "+unknownformat"];

async function recordsOf(port: number): Promise<string[]> {
  const records = await fetchZone({ zoneName, host: "127.0.0.1", port });
  return records
    .map(({ name, type, ttlSeconds, data }) => `${name} ${ttlSeconds} ${type} ${data.join(".")}`)
    .sort();
}

/** Our server, with an empty zone and its secondaries. All end with the test. */
async function startServers() {
  const key = { name: "transfer", secret: randomBytes(32).toString("base64") };
  const ports = await Promise.all(secondaries.map(() => freePort()));
  const ours = await KilledDns.start({
    // No resolver listens there: a CNAME to an external name is not flattened.
    resolver: "127.0.0.1:9",
    keys: [key],
    transfers: {
      notify: ports.map((port, index) => ({
        address: `127.0.0.1:${port}`,
        // NSD uses no key.
        ...(secondaries[index]!.name !== "NSD" && { key: key.name }),
      })),
    },
  });
  onTestFinished(() => ours.stop());
  const client = new Client(ours.url);
  const zoneId = await client.createZone(zoneName);
  const primaryPort = ours.dnsPort;
  const folders = secondaries.map(() => temporaryFolder());
  const running = await Promise.all(
    secondaries.map(({ start }, index) =>
      start({ port: primaryPort, zoneName, key }, { folder: folders[index]!, port: ports[index]! }),
    ),
  );
  onTestFinished(async () => void (await Promise.all(running.map((peer) => peer.stop()))));
  const states = () =>
    Promise.all(
      secondaries.map(async ({ name }, index) => {
        const server = { host: "127.0.0.1", port: ports[index]! };
        const { message } = await askServer({ name: zoneName, type: typeCodes.SOA }, server);
        const data = Buffer.from(message.answers[0]?.data ?? Buffer.alloc(20));
        const log = readFileSync(running[index]!.log, "utf8").slice(-2000);
        return { name, serial: data.readUInt32BE(data.length - 20), log };
      }),
    );
  return { ours, client, zoneId, primaryPort, ports, folders, running, states };
}

describe("secondaries", () => {
  it(`have a change that was made while no server ran, after each of ${restarts} starts`, async () => {
    const { ours, client, zoneId, states } = await startServers();
    for (let index = 0; index < restarts; index++) {
      await (index % 2 === 0 ? ours.stop() : ours.kill());
      await ours.command("add", zoneName, `host-${index}`, "A", "192.0.2.1");
      await ours.restart();
      const serial = await client.serial(zoneId);
      const options = { timeout: followMilliseconds, interval: 50 };
      await expect.poll(states, options).toMatchObject(secondaries.map(() => ({ serial })));
    }
  });

  it(`follow ${changes} changes, with a kill after each ${killEvery}, and end identical`, async () => {
    const { ours, client, zoneId, primaryPort, ports, folders, running, states } =
      await startServers();
    const records = `/zones/${zoneId}/dns_records`;
    const requests = fc.sample(anyRecord, { numRuns: changes, seed: 1035 });
    const ids: string[] = [];
    let made = 0;
    let kills = 0;
    let serialBefore = 0;
    const countChange = async (): Promise<void> => {
      made += 1;
      if (made % killEvery === killEvery - 1) serialBefore = await client.serial(zoneId);
      if (made % killEvery !== 0) return;
      await ours.kill();
      await ours.restart();
      kills += 1;
      // The log of changes survives: the answer has the last change, and not the zone.
      const words = `@127.0.0.1 -p ${primaryPort} ${zoneName} IXFR=${serialBefore} +noall +answer`;
      const answer = run("dig", ...words.split(" "));
      expect({ answer, soas: answer.match(/\sSOA\s/g)?.length }).toMatchObject({ soas: 4 });
    };
    for (const [index, request] of requests.entries()) {
      // Some changes delete a record. Creations that conflict are refused and do not count.
      if (index % 4 === 3 && ids.length > 0) {
        await client.ok("DELETE", `${records}/${ids.splice(index % ids.length, 1)[0]}`);
        await countChange();
      }
      // A CNAME of a name with other records is flattened. The addresses that it had before a
      // restart are not known, so secondaries would get the whole zone.
      const place =
        request["type"] === "CNAME"
          ? { name: `alias-${index}`, settings: {} }
          : { name: `h${index % 300}` };
      const { body } = await client.call("POST", records, { ...acceptable(request), ...place });
      if (!body.success) continue;
      ids.push(body.result.id as string);
      await countChange();
    }
    for (let index = made; index < changes; index++) {
      await client.ok("PATCH", `${records}/${ids[index % ids.length]}`, { comment: `${index}` });
      const request = { type: "TXT", name: `more-${index}`, content: `"${index}"` };
      ids.push((await client.ok("POST", records, request)).id as string);
      await countChange();
    }
    expect(kills).toBeGreaterThanOrEqual(changes / killEvery);
    const serial = await client.serial(zoneId);
    const options = { timeout: 60_000, interval: 250 };
    await expect.poll(states, options).toMatchObject(secondaries.map(() => ({ serial })));

    // Knot takes the whole zone once, at its start. BIND and NSD also do when a kill breaks a
    // transfer.
    const knotLog = readFileSync(
      running[secondaries.findIndex(({ name }) => name === "Knot")]!.log,
    );
    expect(knotLog.toString().match(/AXFR, incoming, .* started/g)).toHaveLength(1);

    const folder = temporaryFolder();
    const checked = join(folder, "checked");
    transferToFile(primaryPort, checked);
    expect(run("named-checkzone", "-i", "none", "-k", "ignore", zoneName, checked)).toMatch(
      /^OK$/m,
    );
    const oursFile = join(folder, "ours");
    transferToFile(primaryPort, oursFile, ...asOctets);
    const expected = await recordsOf(primaryPort);
    expect(expected.length).toBeGreaterThan(300);
    for (const [index, { name, tookIncrement }] of secondaries.entries()) {
      expect({ name, records: await recordsOf(ports[index]!) }).toEqual({
        name,
        records: expected,
      });
      const file = join(folder, name);
      transferToFile(ports[index]!, file, ...asOctets);
      expect(`${name} ${run("ldns-compare-zones", oursFile, file)}`).toMatch(/\+0\s+-0\s+~0/);
      expect({ name, incremental: tookIncrement(folders[index]!) }).toEqual({
        name,
        incremental: true,
      });
    }
  });
});
