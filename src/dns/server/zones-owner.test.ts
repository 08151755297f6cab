import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import {
  claimZones,
  describeOtherTable,
  findZonesOwner,
  takeZones,
  waitForAddresses,
  type Zones,
} from "./zones-owner.ts";

function temporaryZones(table: object = {}): Zones {
  const folder = mkdtempSync(join(tmpdir(), "ledge-zones-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder: join(folder, "v3", "dns"), variables: { DNS_CONFIG: JSON.stringify(table) } };
}

const lasting = { isBrief: false };

test("claimZones() makes one of many the owner", async () => {
  const zones = temporaryZones();
  const claims = await Promise.all(Array.from({ length: 20 }, () => claimZones(zones, lasting)));
  const owners = claims.filter((owner) => owner !== null);
  expect(owners).toHaveLength(1);
  owners[0]?.release();
});

test("claimZones() waits until a command gives the zones up", async () => {
  const zones = temporaryZones();
  const asked = Promise.withResolvers<void>();
  const command = await takeZones(zones, { isBrief: true, onHandover: asked.resolve });
  const claim = claimZones(zones, lasting);
  await asked.promise;
  await expect(Promise.race([claim, delay(100, "waits")])).resolves.toBe("waits");
  command?.release();
  const owner = await claim;
  expect(owner).not.toBeNull();
  owner?.release();
});

test("findZonesOwner() believes no record whose process does not listen", async () => {
  const { folder, variables } = temporaryZones();
  expect(await findZonesOwner(folder)).toBeNull();
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "owner.json"),
    JSON.stringify({ processId: process.pid, isBrief: false }),
  );
  expect(await findZonesOwner(folder)).toBeNull();
  const owner = await takeZones({ folder, variables }, lasting);
  expect(await findZonesOwner(folder)).toMatchObject({ processId: process.pid, isBrief: false });
  const path = join(folder, "owner.json");
  const record = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...record, addresses: 5 }));
  expect((await findZonesOwner(folder))?.addresses).toBeUndefined();
  owner?.release();
  expect(await findZonesOwner(folder)).toBeNull();
});

test("waitForAddresses() waits while the owner starts, and not for a command", async () => {
  const zones = temporaryZones();
  const { folder } = zones;
  expect(await waitForAddresses(folder)).toBeNull();
  const command = await takeZones(zones, { isBrief: true });
  expect(await waitForAddresses(folder)).toBeNull();
  command?.release();
  const owner = await takeZones(zones, lasting);
  const found = waitForAddresses(folder);
  await expect(Promise.race([found, delay(100, "waits")])).resolves.toBe("waits");
  const addresses = { url: "http://127.0.0.1:1/client/v4", dns: null, tls: null };
  owner?.amend({ addresses });
  expect(await found).toEqual(addresses);
  owner?.release();
});

test("describeOtherTable() compares what the companion worker reads", async () => {
  const table = { zones: [{ name: "example.org" }] };
  const zones = temporaryZones(table);
  const client = (DNS_CONFIG: string): Zones => ({ ...zones, variables: { DNS_CONFIG } });
  expect(describeOtherTable(zones)).toBeNull();
  const owner = await takeZones(zones, lasting);
  expect(describeOtherTable(zones)).toBeNull();
  // Ports belong to the dev server, and a default is the same as no key.
  const same = { api_port: 1, record_quota: 1_000_000, binding: "DNS", ...table };
  expect(describeOtherTable(client(JSON.stringify(same)))).toBeNull();
  const secret = { ...zones, variables: { ...zones.variables, DNS_KEY: "f".repeat(37) } };
  expect(describeOtherTable(secret)).toBeNull();
  for (const other of ['{"zones":[]}', "{}", "not JSON"]) {
    expect(describeOtherTable(client(other))).toContain(`Process ${process.pid} has the zones in `);
  }
  owner?.release();
});
