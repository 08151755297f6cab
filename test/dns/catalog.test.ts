/** The catalog of zones (RFC 9432): `catalog` in `[dns.transfers]`. */
import { request } from "node:http";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { askServer } from "../../src/dns/client/ask-server.ts";
import { fetchTransfer, fetchZone } from "../../src/dns/client/fetch-zone.ts";
import { formatData } from "../../src/dns/record/presentation.ts";
import { apiSocketPath, zonesFolder } from "../../src/dns/server/zones-owner.ts";
import { decodeMessage } from "../../src/dns/wire/message.ts";
import { opcodes, rcodes, typeCodes } from "../../src/dns/wire/numbers.ts";
import { startTestDns, type TestDns } from "./support/running-dns.ts";
import { useUdp } from "./support/use.ts";

const catalog = "catalog.example.net";
const secret = Buffer.from("a secret of thirty-two octets...");
const key = { name: "to-secondary", algorithm: "hmac-sha256" as const, secret };
const keys = [{ name: key.name, secret: secret.toString("base64") }];

async function start(
  transfers: object = {},
  ...[options]: [{ folder?: string; listen?: boolean }?]
) {
  const running = await startTestDns({ keys, transfers: { catalog, ...transfers } }, options);
  onTestFinished(() => running.stop());
  return running;
}

/** The end of a server, and the next one in the same folder. */
async function restart({ dns, folder }: TestDns, meanwhile = async (): Promise<void> => {}) {
  await dns.stop();
  await meanwhile();
  return start({}, { folder });
}

const at = ({ port }: { readonly port: number }) => ({
  zoneName: catalog,
  host: "127.0.0.1",
  port,
});

function serialOf(data: Uint8Array): number {
  return Buffer.from(data).readUInt32BE(data.length - 20);
}

async function read(running: { readonly port: number }) {
  const [soa, ...records] = await fetchZone(at(running));
  const members = records.filter(({ type }) => type === typeCodes.PTR);
  return {
    serial: serialOf(soa!.data),
    /** The identifier of each member, by its name. */
    members: Object.fromEntries(
      members
        .map(({ name, type, data }) => [formatData(type, data), name.split(".")[0]!] as const)
        .toSorted(([one], [other]) => one.localeCompare(other)),
    ),
  };
}

describe("the catalog", () => {
  it("has a record for each zone, and a new serial and identifier with each change", async () => {
    const running = await start();
    const { client } = running;
    const empty = await read(running);
    expect(empty.members).toEqual({});
    const id = await client.createZone("example.org");
    const one = await read(running);
    expect(Object.keys(one.members)).toEqual(["example.org."]);
    expect(one.serial).toBeGreaterThan(empty.serial);
    await client.createZone("example.com");
    const two = await read(running);
    expect(two.members["example.org."]).toBe(one.members["example.org."]);
    // A change of a zone is no change of the catalog.
    const records = `/zones/${id}/dns_records`;
    await client.ok("POST", records, { type: "A", name: "a", content: "192.0.2.1" });
    expect(await read(running)).toEqual(two);
    await client.ok("DELETE", `/zones/${id}`);
    const left = await read(running);
    expect(Object.keys(left.members)).toEqual(["example.com."]);
    expect(left.serial).toBeGreaterThan(two.serial);
    await client.createZone("example.org");
    const again = await read(running);
    expect(again.serial).toBeGreaterThan(left.serial);
    expect(again.members["example.org."]).not.toBe(one.members["example.org."]);
    expect(await read(await restart(running))).toEqual(again);
  });

  it("has what was changed while no server ran, also without a catalog in the configuration", async () => {
    const running = await start();
    await running.client.createZone("example.org");
    const before = await read(running);
    const next = await restart(running, async () => {
      const { folder } = running;
      const silent = await startTestDns({}, { folder, listen: false });
      await silent.client.createZone("example.com");
      await silent.dns.stop();
    });
    const after = await read(next);
    expect(Object.keys(after.members)).toEqual(["example.com.", "example.org."]);
    expect(after.serial).toBeGreaterThan(before.serial);
  });

  it("has another identifier for a zone of the configuration that was deleted", async () => {
    const table = { zones: [{ name: "example.org" }], transfers: { catalog } };
    const first = await startTestDns(table);
    onTestFinished(() => first.stop());
    const before = await read(first);
    const [zone] = (await first.client.ok("GET", "/zones")) as unknown as { id: string }[];
    await first.client.ok("DELETE", `/zones/${zone!.id}`);
    await first.dns.stop();
    const second = await startTestDns(table, { folder: first.folder });
    onTestFinished(() => second.stop());
    const after = await read(second);
    expect(Object.keys(after.members)).toEqual(["example.org."]);
    expect(after.members).not.toEqual(before.members);
    expect(after.serial).toBeGreaterThan(before.serial);
  });

  it("lists zones that were created together, each once, and each is served", async () => {
    const running = await start();
    const names = Array.from({ length: 30 }, (_, index) => `zone-${index}.example`);
    await Promise.all(names.map((name) => running.client.createZone(name)));
    const { members } = await read(running);
    expect(Object.keys(members)).toEqual(names.map((name) => `${name}.`).toSorted());
    for (const zoneName of names) {
      expect(await fetchZone({ ...at(running), zoneName })).not.toHaveLength(0);
    }
  });

  it("lists a zone whose creation was interrupted, and the zone is served", async () => {
    const running = await start();
    await running.client.createZone("example.org");
    const next = await restart(running, async () => {
      // As after a kill between the entry in the index and the first write of the zone.
      const databases = join(zonesFolder(running.folder), "do", "dns-ZoneObject");
      for (const file of readdirSync(databases)) rmSync(join(databases, file));
    });
    expect(Object.keys((await read(next)).members)).toEqual(["example.org."]);
    expect(await fetchZone({ ...at(next), zoneName: "example.org" })).toHaveLength(3);
  });

  it("has a later serial after a test layer was undone", async () => {
    const running = await start();
    const { client, folder } = running;
    const layer = (body: object) =>
      new Promise<void>((resolve, reject) => {
        const socketPath = apiSocketPath(zonesFolder(folder));
        const options = {
          agent: false,
          socketPath,
          method: "POST",
          path: "/ledge/layers",
          headers: { host: "dns" },
        };
        const sent = request(options, (response) => response.resume().once("end", resolve));
        sent.once("error", reject).end(JSON.stringify(body));
      });
    await client.createZone("example.org");
    const before = await read(running);
    await layer({ open: 1 });
    await client.createZone("example.com");
    const inside = await read(running);
    await layer({ close: 1 });
    const after = await read(running);
    expect(after.members).toEqual(before.members);
    expect(after.serial).toBeGreaterThan(inside.serial);
  });

  it("is transferred by its changes while the server runs, and whole after a restart", async () => {
    const running = await start();
    await running.client.createZone("example.org");
    const { serial } = await read(running);
    await running.client.createZone("example.com");
    const types = async (port: number) => {
      const { records } = await fetchTransfer({ ...at({ port }), fromSerial: serial });
      return records.map(({ type }) => type);
    };
    const { SOA, NS, PTR } = typeCodes;
    expect(await types(running.port)).toEqual([SOA, SOA, SOA, PTR]);
    const next = await restart(running);
    expect((await types(next.port)).filter((type) => type === SOA)).toHaveLength(1);
    expect(await types(next.port)).toEqual(expect.arrayContaining([SOA, NS, PTR, PTR]));
  });

  it("is announced by NOTIFY after a start and after each change, and so are new zones", async () => {
    const announced = new Map<string, number>();
    const secondary = await useUdp((bytes, reply) => {
      const { opcode, questions, answers } = decodeMessage(bytes);
      if (opcode === opcodes.NOTIFY) announced.set(questions[0]!.name, serialOf(answers[0]!.data));
      reply(Buffer.concat([bytes.subarray(0, 2), Buffer.from([0xa0, 5]), bytes.subarray(4)]));
    });
    const running = await start({ notify: [{ address: `127.0.0.1:${secondary}` }] });
    const isCurrent = async () => announced.get(catalog) === (await read(running)).serial;
    const isAnnounced = async (): Promise<void> => {
      await expect.poll(isCurrent).toBe(true);
    };
    await isAnnounced();
    const id = await running.client.createZone("example.org");
    await isAnnounced();
    await expect.poll(() => announced.has("example.org")).toBe(true);
    await running.client.ok("DELETE", `/zones/${id}`);
    await isAnnounced();
  });

  it("is REFUSED to all who may not transfer zones, by UDP, TCP and HTTPS", async () => {
    const running = await start({ allow: [`key:${key.name}`] });
    await running.client.createZone("example.org");
    await expect(fetchZone(at(running))).rejects.toThrow("REFUSED");
    expect(await fetchZone({ ...at(running), key })).toHaveLength(4);
    const server = { host: "127.0.0.1", port: running.port };
    for (const [name, type] of [
      [catalog, typeCodes.SOA],
      [catalog, typeCodes.IXFR],
      [`zones.${catalog}`, typeCodes.PTR],
      [`gone.${catalog}`, typeCodes.PTR],
    ] as const) {
      for (const options of [{}, { stream: "tcp" as const }]) {
        const { message } = await askServer({ name, type }, server, options);
        expect(message).toMatchObject({ rcode: rcodes.REFUSED, answers: [], authorities: [] });
      }
      const url = new URL(`/dns-query?name=${name}&type=${type}`, running.dns.url);
      const headers = { accept: "application/dns-json" };
      const { Status } = (await (await fetch(url, { headers })).json()) as { Status: number };
      expect(Status).toBe(rcodes.REFUSED);
    }
  });
});

describe("the name of the catalog", () => {
  it("is refused for a zone, with a sentence", async () => {
    const { client } = await start();
    const { status, body } = await client.call("POST", "/zones", { name: "Catalog.example.NET." });
    expect(status).toBe(400);
    expect(body.errors).toEqual([
      {
        code: 9464,
        message:
          `${catalog} is the name of the catalog zone (catalog in [dns.transfers]). Choose another ` +
          "name for the zone, or for the catalog.",
      },
    ]);
  });

  it("cannot be that of a zone which exists", async () => {
    const first = await startTestDns();
    onTestFinished(() => first.stop());
    await first.client.createZone(catalog);
    await first.dns.stop();
    await expect(start({}, { folder: first.folder })).rejects.toThrow(
      `The zone ${catalog} exists, so it cannot be the catalog`,
    );
    const zones = [{ name: catalog }];
    await expect(startTestDns({ zones, transfers: { catalog } })).rejects.toThrow(
      "dns.transfers.catalog is the name of a zone in dns.zones",
    );
  });

  it.each([["*.example.net"], ["a b"], [`${"a.".repeat(95)}a`], [7]])("is not %j", async (name) => {
    await expect(startTestDns({ transfers: { catalog: name } })).rejects.toThrow(
      /dns\.transfers\.catalog must be (a hostname of at most 190 characters, and no wildcard|text)/,
    );
  });
});
