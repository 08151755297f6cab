/**
 * unbound follows a roll of keys: by the DS records of a parent here, while our server is killed and
 * started again, and by RFC 5011. unbound keeps nothing longer than a stage of the roll lasts.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { Client, credentials } from "../dns/support/client.ts";
import { freePort } from "../support/free-port.ts";
import { KilledDns } from "./servers/killed-dns.ts";
import type { RunningProcess } from "./servers/peer.ts";
import { resolve, run, startUnbound } from "./servers/unbound.ts";
import { temporaryFolder } from "./support.ts";

const records = [{ type: "A", name: "*", content: "192.0.2.1", ttl: 300 }];
const ns = { type: "NS", name: "child", content: "ns1.ledge.local", ttl: 300 };
const server = await KilledDns.start({
  zones: [
    { name: "example.org", records: [ns] },
    { name: "child.example.org", records },
    { name: "alone.example.net", records },
  ],
});
afterAll(() => server.stop());

const paceSeconds = 5;
const shortCaches = ["cache-max-ttl: 2", "cache-max-negative-ttl: 2", "infra-host-ttl: 1"];
const waiting = { timeout: 60_000, interval: 100 };
const control = () => new Client(new URL("/ledge", server.url).href, credentials);
const rollOf = (zone: string) => control().ok("GET", `/dnssec_rolls?zone=${zone}`);
const place = async () => ({ folder: temporaryFolder(), port: await freePort() });

async function sign(name: string): Promise<string> {
  const client = new Client(server.url);
  const [{ id }] = (await client.ok("GET", `/zones?name=${name}`)) as [{ id: string }];
  return (await client.ok("PATCH", `/zones/${id}/dnssec`, { status: "active" })).ds;
}

/** Every different result so far: a wait for a state repeats the queries, and hides no result. */
const results = new Set<string>();
let count = 0;

/** Asks for names that no cache has, and for a name that is in caches as long as these keep it. */
async function ask(unbound: RunningProcess, zone: string): Promise<void> {
  for (const name of [`new-${++count}`, "www", `no.no-${count}`]) {
    results.add(await resolve(unbound, `${name}.${zone} A`));
  }
}

function expectSecure({ log }: RunningProcess): void {
  expect([...results]).toEqual(["NOERROR ad"]);
  expect(readFileSync(log, "utf8")).not.toContain("validation failure");
}

it("unbound finds no bogus answer while the DS records of the parent change", async () => {
  const zones = ["example.org", "child.example.org"] as const;
  const trustAnchor = await sign(zones[0]);
  await sign(zones[1]);
  const resolved = { authority: server.dnsPort, zones, trustAnchor };
  const options = [`trust-anchor: "${trustAnchor}"`, ...shortCaches];
  const unbound = await startUnbound({ ...resolved, options }, await place());
  try {
    await ask(unbound, zones[1]);
    const body = { zone: zones[1], pace_seconds: paceSeconds };
    const { new: next } = await control().ok("POST", "/dnssec_rolls", body);
    await ask(unbound, zones[1]);
    await server.kill();
    await server.restart();
    await vi.waitFor(async () => {
      await ask(unbound, zones[1]);
      const words = ["@127.0.0.1", "-p", `${server.dnsPort}`, "+short", zones[1]];
      expect((await run("dig", ...words, "DS")).trim()).toMatch(
        new RegExp(`^${next.ksk} \\S+ .*$`),
      );
      expect((await run("dig", ...words, "DNSKEY")).trim().split("\n")).toHaveLength(2);
    }, waiting);
    await ask(unbound, zones[1]);
    expect(await rollOf(zones[1])).toBe(null);
    expectSecure(unbound);
  } finally {
    await unbound.stop();
  }
});

it("unbound follows a roll by RFC 5011", async () => {
  const zone = "alone.example.net";
  const trustAnchor = await sign(zone);
  const [{ old, new: next }, where] = [
    await control().ok("POST", "/dnssec_rolls", { zone, pace_seconds: paceSeconds }),
    await place(),
  ];
  const anchors = join(where.folder, "anchors");
  writeFileSync(anchors, `${trustAnchor}\n`);
  const options = [
    `auto-trust-anchor-file: "${anchors}"`,
    "permit-small-holddown: yes",
    "add-holddown: 1",
    ...shortCaches,
  ];
  const resolved = { authority: server.dnsPort, zones: [zone], trustAnchor, options } as const;
  const unbound = await startUnbound(resolved, where);
  const stateOf = (tag: number) =>
    new RegExp(`id = ${tag} .*state=\\d \\[ *(\\w+)`).exec(readFileSync(anchors, "utf8"))?.[1];
  try {
    await vi.waitFor(async () => {
      await ask(unbound, zone);
      expect(stateOf(next.ksk)).toBe("VALID");
      expect((await rollOf(zone)).stage).toBe("replace");
    }, waiting);
    await control().ok("PATCH", "/dnssec_rolls", { zone, ds_seen: true });
    await vi.waitFor(async () => {
      await ask(unbound, zone);
      expect(await rollOf(zone)).toBe(null);
      expect(stateOf(old.ksk)).toBe("MISSING");
    }, waiting);
    await ask(unbound, zone);
    expectSecure(unbound);
  } finally {
    await unbound.stop();
  }
});
