/** `ledge dns import`: large files, and transfers from other name servers. */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  frame,
  Frames,
  blankMessage,
  decodeMessage,
  encodeMessage,
} from "../../src/dns/wire/message.ts";
import type { ResourceRecord } from "../../src/dns/wire/resource-record.ts";
import { recordType } from "../../src/dns/record/types.ts";
import { Client } from "../dns/support/client.ts";
import { DnsProject } from "../support/dns-command.ts";

const secret = Buffer.from("a secret of thirty-two octets...").toString("base64");
const project = new DnsProject({ keys: [{ name: "to-ledge", secret }] });
project.serve();

function write(name: string, text: string | Buffer): string {
  const path = join(project.folder, name);
  writeFileSync(path, text);
  return path;
}

/** A file that is longer than the API accepts in one request. */
function largeZone(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => {
    const address = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
    return `a-host-with-a-rather-long-name-${index} 300 IN A ${address} ; number ${index}`;
  });
  return `$ORIGIN large.example.\n$TTL 60\n${lines.join("\n")}\n`;
}

describe("ledge dns import, from a file", () => {
  it("adds 5,000 records in parts, and nothing when run again", async () => {
    const text = largeZone(5000);
    expect(text.length).toBeGreaterThan(262_144);
    const file = write("large.zone", text);
    const first = await project.json("import", "large.example", file, "--create");
    expect(first).toMatchObject({ created: true, parsed: 5000, added: 5000 });
    const records = (await project.ok("list", "large.example", "--json")).trimEnd().split("\n");
    expect(records).toHaveLength(5000);
    expect(JSON.parse(records[0] as string)).toMatchObject({ ttl: 300, comment: "number 0" });
    expect(await project.ok("import", "large.example", file)).toBe(
      "Added 0 records to large.example; 5000 of 5000 exist already or belong to the zone itself.\n",
    );
  });

  it("imports octets that are not UTF-8, or names their line", async () => {
    const text = write("latin1.zone", Buffer.from('a TXT "gr\xfc\xdfe"\n', "latin1"));
    await project.ok("import", "latin1.example", text, "--create");
    expect(await project.ok("list", "latin1.example")).toContain('TXT  "gr\\252\\223e"');
    const name = write("latin1.zone", Buffer.from("a TXT x\ncaf\xe9 TXT x\n", "latin1"));
    expect(await project.fails(1, "import", "latin1.example", name)).toBe(
      'Line 2: DNS name is invalid. (9000) Label "caf\\\\233" cannot be part of a name unless ' +
        'name_rules = "dns" in [dns].\n',
    );
  });

  it("reports the line of a mistake in a large file, and adds nothing", async () => {
    const file = write("bad.zone", `${largeZone(5000)}last A 192.0.2.256\nlast A 1 2\n`);
    expect(await project.fails(1, "import", "bad.example", file, "--create")).toContain(
      "Line 5004: the data of a A record is incomplete or too long",
    );
    write("bad.zone", `${largeZone(5000)}last.bad.example. A 192.0.2.256\n`);
    expect(await project.fails(1, "import", "bad.example", file, "--create")).toContain(
      "Line 3: DNS name is invalid. (9000)",
    );
    expect((await project.run("list", "bad.example")).code).toBe(3);
  });

  it("reports the line that the server refuses, and the records added before", async () => {
    const file = write(
      "conflict.zone",
      `${largeZone(5000)}a-host-with-a-rather-long-name-4999 CNAME x\n`,
    );
    await project.ok("zones", "--delete", "large.example", "--yes");
    expect(await project.fails(1, "import", "large.example", file, "--create")).toMatch(
      /^Line 5003: .*\nAdded [1-9]\d* records before this error: correct the record/s,
    );
    await project.ok("import", "large.example", write("large.zone", largeZone(5000)));
    const [zone] = await project.json("zones");
    expect(zone).toMatchObject({ name: "large.example", record_count: 5000 });
  });

  it("deletes a zone that it made if no record can be added", async () => {
    const file = write("wrong.zone", "a A 192.0.2.256\n");
    expect(await project.fails(1, "import", "nothing.example", file, "--create")).toContain(
      "Line 1: ",
    );
    expect((await project.run("list", "nothing.example")).code).toBe(3);
  });

  it("makes records proxied with --proxied, unless the file says otherwise", async () => {
    const file = write("proxied.zone", "a A 192.0.2.1\nb A 192.0.2.2 ; cf_tags=cf-proxied:false\n");
    await project.ok("import", "proxied.example", file, "--create", "--proxied");
    expect(await project.ok("list", "proxied.example")).toBe(
      "a.proxied.example  auto  A  192.0.2.1  ; proxied\nb.proxied.example  auto  A  192.0.2.2\n",
    );
  });
});

describe("ledge dns import, from a name server", () => {
  const source = new DnsProject({
    name_rules: "dns",
    keys: [{ name: "to-ledge", secret }],
    transfers: { allow: ["key:to-ledge"] },
  });
  source.serve();

  beforeAll(async () => {
    const client = new Client(source.running.url);
    const zoneId = await client.createZone("moved.example");
    await client.importFile(
      zoneId,
      [
        "www 300 A 192.0.2.1",
        "@ 300 MX 10 mail",
        '@ 300 TXT "v=spf1 -all"',
        "_sip._tcp 600 SRV 1 2 5060 sip",
        '@ 3600 CAA 0 issue "ca.example; account=1"',
        'svc 300 HTTPS 1 . alpn="h3,h2"',
        "child 300 NS ns.elsewhere.test.",
        "*.wild 300 TXT any",
        "$GENERATE 1-3000 host-$ 120 A 10.0.0.1",
      ].join("\n"),
    );
  });
  const from = () => ["--from", `127.0.0.1:${source.running.dnsPort}`];

  it("is refused without the key", async () => {
    expect(await project.fails(1, "import", "moved.example", ...from(), "--create")).toContain(
      "REFUSED",
    );
    expect((await project.run("list", "moved.example")).code).toBe(3);
  });

  it("transfers a zone with a key of the configuration", async () => {
    const key = ["--tsig", "to-ledge"];
    const moved = await project.json("import", "moved.example", ...from(), ...key, "--create");
    expect(moved).toMatchObject({ created: true, parsed: 3008, added: 3008, movedTtls: [] });
    expect(moved.leftOut).toMatchObject([
      { name: "moved.example", type: "SOA", reason: "zone" },
      { name: "moved.example", type: "NS", content: "ns1.ledge.local.", reason: "zone" },
      { name: "moved.example", type: "NS", content: "ns2.ledge.local.", reason: "zone" },
    ]);
    const state = join(source.folder, ".wrangler/state");
    const [here, there] = await Promise.all([
      project.ok("list", "moved.example"),
      project.ok("list", "moved.example", "--persist-to", state),
    ]);
    expect(here).toBe(there);
  });

  it("transfers the zone again with the key in full, and reports the records left out", async () => {
    for (const key of [`to-ledge:${secret}`, `to-ledge:hmac-sha256:${secret}`]) {
      const repeated = await project.run("import", "moved.example", ...from(), "--tsig", key);
      expect(repeated).toEqual(
        expect.objectContaining({
          code: 0,
          out: "Added 0 records to moved.example; 3008 of 3008 exist already or belong to the zone itself.\n",
          error: "Left out SOA and NS of moved.example: every zone here has its own.\n",
        }),
      );
    }
    const wrong = `to-ledge:${Buffer.from("another secret").toString("base64")}`;
    expect(await project.fails(1, "import", "moved.example", ...from(), "--tsig", wrong)).toContain(
      "Cannot transfer moved.example from 127.0.0.1",
    );
  });

  it("lists records that the API cannot hold, and changes TTLs outside its range", async () => {
    const zoneName = "signed.example";
    const port = await serveZone(zoneName, [
      record("www.signed.example", "A", 30, "192.0.2.1"),
      record("txt.signed.example", "TXT", 604_800, "kept"),
      { name: zoneName, type: 46, class: 1, ttlSeconds: 300, data: Uint8Array.of(1, 2, 3) },
      {
        name: "old.signed.example",
        type: 65_280,
        class: 1,
        ttlSeconds: 300,
        data: new Uint8Array(),
      },
      { name: "odd.signed.example", type: 28, class: 1, ttlSeconds: 300, data: Uint8Array.of(1) },
    ]);
    const words = ["import", zoneName, "--from", `localhost:${port}`, "--create"];
    const moved = await project.run(...words);
    expect(moved).toMatchObject({ code: 0, out: "Added 2 records to signed.example.\n" });
    expect(moved.error).toContain("3 records that the record API cannot hold");
    expect(moved.error).toMatch(/signed\.example +RRSIG +\\# 3 010203/);
    expect(moved.error).toMatch(/old\.signed\.example +TYPE65280 +\\# 0/);
    expect(moved.error).toContain("2 TTLs changed to the nearest of 60 to 86400.");
    const { leftOut, movedTtls } = await project.json(...words);
    expect(leftOut.map(({ type }: { type: string }) => type)).toEqual([
      "SOA",
      "RRSIG",
      "TYPE65280",
      "AAAA",
    ]);
    expect(movedTtls).toMatchObject([
      { ttl: 30, to: 60 },
      { ttl: 604_800, to: 86_400 },
    ]);
    expect(await project.ok("list", zoneName)).toBe(
      'txt.signed.example  86400  TXT  "kept"\nwww.signed.example  60     A    192.0.2.1\n',
    );
  });

  it("names the record that is refused, and the setting that allows it", async () => {
    const port = await serveZone("digits.example", [
      record("1.digits.example", "A", 60, "192.0.2.1"),
    ]);
    expect(
      await project.fails(1, "import", "digits.example", "--from", `127.0.0.1:${port}`, "--create"),
    ).toBe(
      '1.digits.example A: DNS name is invalid. (9000) Label "1" cannot be part of the name of a ' +
        'record of type A unless name_rules = "dns" in [dns].\n',
    );
  });
});

/** The zone file without the time of the export and the serial. */
const body = (path: string) => readFileSync(path, "utf8").split("\n").slice(5);

it("exports the same zone file after an import of the file", async () => {
  const file = join(project.folder, "moved.zone");
  await project.ok("export", "moved.example", file);
  await project.ok("zones", "--delete", "moved.example", "--yes");
  await project.ok("import", "moved.example", file, "--create");
  const copy = join(project.folder, "again.zone");
  await project.ok("export", "moved.example", copy);
  expect(body(copy)).toEqual(body(file));
});

function record(name: string, type: string, ttlSeconds: number, content: string): ResourceRecord {
  const definition = recordType(type);
  const data = definition.write(definition.accept({ content }, name, () => {})!);
  return { name, type: definition.code, class: 1, ttlSeconds, data };
}

/** Starts a name server that has one zone and answers AXFR only. */
async function serveZone(zoneName: string, records: readonly ResourceRecord[]): Promise<number> {
  const soa = recordType("SOA");
  const data = soa.write(
    soa.read(Buffer.from("\u0002ns\0\u0002ma\0" + "\0\0\0\u0001".repeat(5), "latin1")),
  );
  const start = { name: zoneName, type: soa.code, class: 1, ttlSeconds: 300, data };
  const server = createServer((socket) => {
    const frames = new Frames();
    socket.on("data", (piece: Uint8Array) => {
      for (const bytes of frames.push(piece)) {
        const { id, questions } = decodeMessage(bytes);
        const answers = [start, ...records, start];
        const message = {
          ...blankMessage,
          id,
          response: true,
          authoritative: true,
          questions,
          answers,
        };
        socket.write(frame(encodeMessage(message)));
      }
    });
  });
  server.listen(0);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
