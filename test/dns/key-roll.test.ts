/**
 * The roll of a zone's keys on a running server, by UDP and by HTTPS. The stages are short
 * (`pace_seconds`), and each wait is for a state, not for a time.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { keyTagOf } from "../../src/dns/dnssec/zone-signing.ts";
import { decodeSignature } from "../../src/dns/dnssec/signature.ts";
import { decodeMessage, type Message } from "../../src/dns/wire/message.ts";
import { typeCodes } from "../../src/dns/wire/numbers.ts";
import { Client, credentials } from "./support/client.ts";
import { UdpClient } from "./support/dns-client.ts";
import { composeQuery } from "./support/query.ts";
import { startTestDns, type TestDns } from "./support/running-dns.ts";
import { checkSignatures, dnssecOk } from "./support/signed-zone.ts";

const www = { type: "A", name: "www", content: "192.0.2.1", ttl: 300 };
const ns = { type: "NS", name: "child", content: "ns1.ledge.local", ttl: 300 };
const server = await startTestDns({
  zones: [
    { name: "example.org", records: [www, ns] },
    { name: "child.example.org", records: [www] },
  ],
});
const { client } = server;
const udp = new UdpClient(server.port);
const control = new Client(new URL("/ledge", server.dns.url).href, credentials);
afterAll(async () => {
  udp.close();
  await server.stop();
});

const waiting = { timeout: 60_000, interval: 50 };

async function askHttps(question: string): Promise<Message> {
  const response = await fetch(new URL("/dns-query", server.dns.url), {
    method: "POST",
    headers: { "content-type": "application/dns-message" },
    body: composeQuery(question, dnssecOk) as Uint8Array<ArrayBuffer>,
  });
  return decodeMessage(new Uint8Array(await response.arrayBuffer()));
}
const askUdp = async (question: string) =>
  decodeMessage(await udp.raw(composeQuery(question, dnssecOk)));
type Ask = typeof askUdp;

const tagsOf = ({ answers }: Message) =>
  answers.filter(({ type }) => type === typeCodes.DNSKEY).map(({ data }) => keyTagOf(data));
const signersOf = ({ answers }: Message) =>
  answers
    .filter(({ type }) => type === typeCodes.RRSIG)
    .map(({ data }) => decodeSignature(data).fields.keyTag);
/** The key tags of DS, CDS and CDNSKEY records. */
const announced = ({ answers }: Message, type: number) =>
  answers
    .filter((each) => each.type === type)
    .map(({ data }) => (type === typeCodes.CDNSKEY ? keyTagOf(data) : (data[0]! << 8) | data[1]!));

const parentTags = async (child: string) =>
  new Set(announced(await askUdp(`${child} DS`), typeCodes.DS));

/** The tags of the published keys, of those that sign them, and of the key that signs an address. */
async function keysInUse(zone: string, ask: Ask = askUdp) {
  const keys = await ask(`${zone} DNSKEY`);
  const address = await ask(`www.${zone} A`);
  const verdicts = [keys, address]
    .flatMap((message) => checkSignatures(message, keys.answers, Date.now() / 1000))
    .map(({ verdict }) => verdict);
  expect(verdicts).toEqual(["valid", "valid"]);
  return { published: tagsOf(keys), signing: signersOf(keys), address: signersOf(address) };
}

async function sign(name: string, from: TestDns = server): Promise<string> {
  const [zone] = (await from.client.ok("GET", `/zones?name=${name}`)) as [{ id: string }];
  const path = `/zones/${zone.id}/dnssec`;
  await from.client.ok("PATCH", path, { status: "active" });
  return path;
}

async function signedZone(name: string): Promise<string> {
  const id = await client.createZone(name);
  await client.ok("POST", `/zones/${id}/dns_records`, www);
  return sign(name);
}

const rollOf = (zone: string) => control.ok("GET", `/dnssec_rolls?zone=${zone}`);
const start = (zone: string, more: object = {}) =>
  control.ok("POST", "/dnssec_rolls", { zone, pace_seconds: 4, ...more });
const refusal = async (method: string, body: object) =>
  (await control.call(method, "/dnssec_rolls", body)).body.errors[0]?.message;

it("replaces both keys, and the DS record of a parent here, without a gap", async () => {
  await sign("example.org");
  const path = await sign("child.example.org");
  const before = await keysInUse("child.example.org");
  const { ds } = await client.ok("GET", path);
  const started = await start("child.example.org");
  expect(started).toMatchObject({ stage: "publish", awaits_ds: false, pace_seconds: 4 });
  const { old, new: next } = started;
  for (const ask of [askUdp, askHttps]) {
    const { published, signing } = await keysInUse("child.example.org", ask);
    expect(published).toEqual([old.zsk, next.zsk, old.ksk, next.ksk]);
    expect(signing).toEqual([old.ksk, next.ksk]);
  }
  expect(await parentTags("child.example.org")).toEqual(new Set([old.ksk, next.ksk]));

  const seen: number[] = [];
  await vi.waitFor(async () => {
    let last: number[] = [];
    for (const ask of [askUdp, askHttps]) {
      const { published, signing, address } = await keysInUse("child.example.org", ask);
      const tags = await parentTags("child.example.org");
      expect(signing.filter((tag) => tags.has(tag))).not.toEqual([]);
      if (!seen.includes(address[0]!)) seen.push(address[0]!);
      last = published;
    }
    expect(last).toEqual([next.zsk, next.ksk]);
    // Nothing asks for the roll here: the zone ends it.
    expect(await parentTags("child.example.org")).toEqual(new Set([next.ksk]));
  }, waiting);
  expect(seen).toEqual([old.zsk, next.zsk]);
  expect(before).toEqual({
    published: [old.zsk, old.ksk],
    signing: [old.ksk],
    address: [old.zsk],
  });
  expect(await rollOf("child.example.org")).toBe(null);
  const after = await client.ok("GET", path);
  expect(after).toMatchObject({ status: "active", key_tag: next.ksk, ds: next.ds });
  expect(after.ds).not.toBe(ds);
});

it("waits for a parent elsewhere, which reads the new key in CDS and CDNSKEY", async () => {
  const path = await signedZone("alone.test");
  const early = await start("alone.test", { pace_seconds: 3600 });
  expect(early).toMatchObject({ stage: "publish", awaits_ds: true, ends_on: null });
  expect(await refusal("PATCH", { zone: "alone.test", ds_seen: true })).toMatch(
    /^Caches may lack the new key of alone\.test until \S+Z: /,
  );
  expect(await refusal("POST", { zone: "alone.test" })).toBe(
    "A roll of the keys of alone.test is in progress. It ends when the parent has the new DS record.",
  );
  expect((await client.ok("GET", path)).key_tag).toBe(early.old.ksk);
  await client.ok("DELETE", path);
  expect(await rollOf("alone.test")).toBe(null);

  await client.ok("PATCH", path, { status: "active" });
  const { old, new: next } = await start("alone.test", { pace_seconds: 1 });
  await vi.waitFor(async () => expect((await rollOf("alone.test")).stage).toBe("replace"), waiting);
  expect(await rollOf("alone.test")).toMatchObject({ until: null, awaits_ds: true });
  for (const [name, type] of [
    ["CDS", typeCodes.CDS],
    ["CDNSKEY", typeCodes.CDNSKEY],
  ] as const) {
    const message = await askUdp(`alone.test ${name}`);
    expect(announced(message, type)).toEqual([next.ksk]);
    // RFC 7344 section 4.1: by a key that the parent's DS set has.
    expect(signersOf(message)).toContain(old.ksk);
  }
  expect(await client.ok("GET", path)).toMatchObject({ ds: next.ds });
  const { published, address } = await keysInUse("alone.test");
  expect(published).toHaveLength(4);
  expect(address).toEqual([next.zsk]);
  await control.ok("PATCH", "/dnssec_rolls", { zone: "alone.test", ds_seen: true });
  await vi.waitFor(async () => expect(await rollOf("alone.test")).toBe(null), waiting);
  expect((await keysInUse("alone.test")).published).toEqual([next.zsk, next.ksk]);
});

it("replaces one key: the ZSK without another DS record, the KSK with the same ZSK", async () => {
  const path = await signedZone("single.test");
  const { ds } = await client.ok("GET", path);
  const first = await start("single.test", { keys: "zsk", pace_seconds: 3 });
  expect(first).toMatchObject({ awaits_ds: false, new: { ksk: first.old.ksk, ds } });
  expect((await keysInUse("single.test")).published).toHaveLength(3);
  await vi.waitFor(async () => expect(await rollOf("single.test")).toBe(null), waiting);
  expect((await client.ok("GET", path)).ds).toBe(ds);
  const second = await start("single.test", { keys: "ksk" });
  expect(second.old.zsk).toBe(first.new.zsk);
  expect(second.new.zsk).toBe(first.new.zsk);
  expect((await keysInUse("single.test")).signing).toEqual([second.old.ksk, second.new.ksk]);
});

it("goes on while DNSSEC is off, and the parent has no DS record then", async () => {
  const id = await client.createZone("off.example.org");
  await client.ok("POST", `/zones/${id}/dns_records`, www);
  const [{ id: parentId }] = await client.ok("GET", "/zones?name=example.org");
  await client.ok("POST", `/zones/${parentId}/dns_records`, { ...ns, name: "off" });
  const path = await sign("off.example.org");
  const { old, new: next } = await start("off.example.org", { pace_seconds: 3600 });
  expect(await parentTags("off.example.org")).toEqual(new Set([old.ksk, next.ksk]));
  await client.ok("PATCH", path, { status: "disabled" });
  expect(await parentTags("off.example.org")).toEqual(new Set());
  expect(tagsOf(await askUdp("off.example.org DNSKEY"))).toEqual([]);
  await client.ok("PATCH", path, { status: "active" });
  expect(await parentTags("off.example.org")).toEqual(new Set([old.ksk, next.ksk]));
  expect((await keysInUse("off.example.org")).published).toHaveLength(4);
  await client.ok("DELETE", path);
  expect(await parentTags("off.example.org")).toEqual(new Set());
});

it("refuses zones that are not signed, unknown zones, and wrong values", async () => {
  await client.createZone("plain.test");
  expect(await refusal("POST", { zone: "plain.test" })).toBe(
    "DNSSEC of plain.test is off, so no keys are in use: turn DNSSEC on first.",
  );
  expect(await refusal("PATCH", { zone: "plain.test", ds_seen: true })).toBe(
    "No roll of the keys of plain.test is in progress.",
  );
  expect(await refusal("POST", { zone: "no.test" })).toBe(
    "zone must be the name of a zone of this server.",
  );
  expect(await refusal("POST", { zone: "plain.test", keys: "all" })).toBe(
    "keys must be one of both, ksk, zsk.",
  );
  expect(await refusal("POST", { zone: "plain.test", pace_seconds: 0.5 })).toBe(
    "pace_seconds must be a whole number between 1 and 86400.",
  );
  expect(await refusal("PATCH", { zone: "plain.test" })).toBe("ds_seen must be true.");
});

it("goes on after a restart, and ends by itself", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ledge-roll-"));
  const table = {
    zones: [
      { name: "parent.test", records: [ns] },
      { name: "child.parent.test", records: [www] },
    ],
  };
  try {
    const first = await startTestDns(table, { folder });
    await sign("parent.test", first);
    await sign("child.parent.test", first);
    const paths = new Client(new URL("/ledge", first.dns.url).href, credentials);
    const body = { zone: "child.parent.test", pace_seconds: 5 };
    const { new: next } = await paths.ok("POST", "/dnssec_rolls", body);
    await first.stop();
    const second = await startTestDns(table, { folder });
    const again = new UdpClient(second.port);
    const ask = async (question: string) =>
      decodeMessage(await again.raw(composeQuery(question, dnssecOk)));
    try {
      expect(tagsOf(await ask("child.parent.test DNSKEY"))).toEqual(
        expect.arrayContaining([next.zsk, next.ksk]),
      );
      await vi.waitFor(async () => {
        expect(announced(await ask("child.parent.test DS"), typeCodes.DS)).toEqual([next.ksk]);
        expect(tagsOf(await ask("child.parent.test DNSKEY"))).toEqual([next.zsk, next.ksk]);
      }, waiting);
    } finally {
      again.close();
      await second.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
