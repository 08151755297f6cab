/**
 * DNSSEC of the running server: the API, the DS records between local zones, answers by UDP, TCP and
 * HTTPS, and the verdict of a validator that shares no code with Ledge. The validator starts at the
 * root, so the zones above are served from memory.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Cloudflare from "cloudflare";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { formatData } from "../../src/dns/record/presentation.ts";
import { dsData } from "../../src/dns/dnssec/zone-signing.ts";
import type { ServedRecord } from "../../src/dns/rules/zone.ts";
import { ServedZones } from "../../src/dns/answer/served-zones.ts";
import { decodeMessage, encodeMessage } from "../../src/dns/wire/message.ts";
import { typeCodes } from "../../src/dns/wire/numbers.ts";
import { UdpClient } from "./support/dns-client.ts";
import { Client, credentials, email, key } from "./support/client.ts";
import { composeQuery, respondFrom, tcp } from "./support/query.ts";
import { startTestDns } from "./support/running-dns.ts";
import { checkSignatures, dnssecOk, makeSigning, nodeSigner } from "./support/signed-zone.ts";
import { zoneData } from "./support/served.ts";

// The package warns that its native part is not built; it works without.
const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
const { DnssecAlgorithm, DigestType, dnssecLookUp, Question } = await import("@relaycorp/dnssec");
warn.mockRestore();

const records = [
  { type: "A", name: "@", content: "192.0.2.1", ttl: 300 },
  { type: "A", name: "www", content: "192.0.2.2", ttl: 300 },
  { type: "AAAA", name: "www", content: "2001:db8::2", ttl: 300 },
  { type: "TXT", name: "text", content: '"one" "two"', ttl: 300 },
  { type: "MX", name: "@", content: "Mail.example.org", priority: 10, ttl: 300 },
  { type: "A", name: "*.wild", content: "192.0.2.3", ttl: 300 },
  { type: "A", name: "proxied", content: "192.0.2.4", proxied: true },
  { type: "CNAME", name: "flat", content: "www.example.org", settings: { flatten_cname: true } },
  { type: "CNAME", name: "alias", content: "www.example.org", ttl: 300 },
];

const server = await startTestDns({ zones: [{ name: "example.org", records }] });
const client = server.client;
const udp = new UdpClient(server.port);
const [zone] = (await client.ok("GET", "/zones?name=example.org")) as { id: string }[];
const zoneId = zone!.id;
const ds = (await client.ok("PATCH", `/zones/${zoneId}/dnssec`, { status: "active" })).ds;
afterAll(async () => {
  udp.close();
  await server.stop();
});

const ask = async (question: string) => {
  const query = composeQuery(question, dnssecOk);
  return decodeMessage(await udp.raw(query));
};

async function askHttps(question: string) {
  const response = await fetch(new URL("/dns-query", server.dns.url), {
    method: "POST",
    headers: { "content-type": "application/dns-message" },
    body: composeQuery(question, dnssecOk) as Uint8Array<ArrayBuffer>,
  });
  return decodeMessage(new Uint8Array(await response.arrayBuffer()));
}

const nowSeconds = () => Math.floor(Date.now() / 1000);

async function verdicts(question: string, how = ask): Promise<Record<string, string>> {
  const keys = [...(await ask("example.org DNSKEY")).answers];
  const checked = checkSignatures(await how(question), keys, nowSeconds());
  return Object.fromEntries(checked.map(({ set, verdict }) => [set, verdict]));
}

describe("the API", () => {
  it("describes DNSSEC as the deployed service does, through the official SDK", async () => {
    const sdk = new Cloudflare({ baseURL: server.dns.url, apiEmail: email, apiKey: key });
    const state = await sdk.dns.dnssec.get({ zone_id: zoneId });
    const { digest, key_tag, public_key } = state;
    expect(state).toMatchObject({
      status: "active",
      flags: 257,
      algorithm: "13",
      key_type: "ECDSAP256SHA256",
      digest_type: "2",
      digest_algorithm: "SHA256",
      ds: `example.org. 3600 IN DS ${key_tag} 13 2 ${digest}`,
      dnssec_multi_signer: false,
      dnssec_use_nsec3: false,
    });
    const { answers } = await ask("example.org CDNSKEY");
    expect(formatData(typeCodes.CDNSKEY, answers[0]!.data)).toBe(`257 3 13 ${public_key}`);
    const cds = (await ask("example.org CDS")).answers[0]!;
    expect(formatData(typeCodes.CDS, cds.data)).toBe(`${key_tag} 13 2 ${digest!.toLowerCase()}`);
  });

  it("keeps the keys while DNSSEC is off, and deletes them with the resource", async () => {
    const id = await client.createZone("keys.test");
    const path = `/zones/${id}/dnssec`;
    expect(await client.ok("GET", path)).toMatchObject({ status: "disabled", ds: null });
    const first = await client.ok("PATCH", path, { status: "active" });
    expect(await client.ok("PATCH", path, { status: "active" })).toEqual(first);
    const off = await client.ok("PATCH", path, { status: "disabled" });
    expect(off).toMatchObject({ status: "disabled", ds: first.ds });
    expect((await ask("keys.test DNSKEY")).answers).toEqual([]);
    expect((await client.ok("PATCH", path, { status: "active" })).ds).toBe(first.ds);
    expect(await client.ok("DELETE", path)).toBe("");
    expect(await client.ok("GET", path)).toMatchObject({ status: "disabled", public_key: null });
    expect((await client.ok("PATCH", path, { status: "active" })).ds).not.toBe(first.ds);
  });

  it("stores dnssec_multi_signer also while DNSSEC is off", async () => {
    const path = `/zones/${await client.createZone("multi.test")}/dnssec`;
    const state = await client.ok("PATCH", path, { dnssec_multi_signer: true });
    expect(state).toMatchObject({ status: "disabled", dnssec_multi_signer: true });
  });

  it("refuses what is not built, and wrong values, with the reason", async () => {
    const answer = await client.call("PATCH", `/zones/${zoneId}/dnssec`, {
      status: "on",
      dnssec_multi_signer: "yes",
      dnssec_presigned: true,
      dnssec_use_nsec3: true,
    });
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map(({ message }) => message)).toEqual([
      "status must be one of active, disabled.",
      "dnssec_multi_signer must be true or false.",
      expect.stringMatching(/^dnssec_use_nsec3 cannot be turned on: .*RFC 9824.*\.$/),
      expect.stringMatching(/^dnssec_presigned cannot be turned on: /),
    ]);
  });
});

const dsRecords = async () =>
  (await client.ok("GET", `/zones/${zoneId}/dns_records?type=DS`)) as { content: string }[];

describe("the DS record of a local parent", () => {
  it("exists while the child is signed and delegated, in any order of the two", async () => {
    const child = await client.createZone("child.example.org");
    const path = `/zones/${child}/dnssec`;
    expect(await client.ok("PATCH", path, { status: "active" })).toMatchObject({
      status: "pending",
    });
    expect(await dsRecords()).toEqual([]);
    const ns = { type: "NS", name: "child", content: "ns1.ledge.local", ttl: 300 };
    const { id } = await client.ok("POST", `/zones/${zoneId}/dns_records`, ns);
    const state = await client.ok("GET", path);
    expect(state.status).toBe("active");
    const content = `${state.key_tag} 13 2 ${state.digest.toLowerCase()}`;
    expect(await dsRecords()).toMatchObject([{ content }]);
    expect(await verdicts("child.example.org DS")).toEqual({ "child.example.org DS": "valid" });

    await client.ok("PATCH", path, { status: "disabled" });
    expect(await dsRecords()).toEqual([]);
    expect(await client.ok("PATCH", path, { status: "active" })).toMatchObject({
      status: "active",
    });
    expect(await dsRecords()).toMatchObject([{ content }]);
    await client.ok("DELETE", `/zones/${zoneId}/dns_records/${id}`);
    expect(await dsRecords()).toEqual([]);
    await client.ok("POST", `/zones/${zoneId}/dns_records`, ns);
    expect(await dsRecords()).toMatchObject([{ content }]);
    await client.ok("DELETE", `/zones/${child}`);
    expect(await dsRecords()).toEqual([]);
    expect(await verdicts("x.child.example.org A")).toEqual({
      "child.example.org NS": "unsigned",
      "child.example.org NSEC": "valid",
    });
  });

  it("is left alone when the record API made it", async () => {
    const child = await client.createZone("own.example.org");
    const post = (record: object) => client.ok("POST", `/zones/${zoneId}/dns_records`, record);
    await post({ type: "NS", name: "own", content: "ns1.ledge.local", ttl: 300 });
    const data = { key_tag: 1, algorithm: 13, digest_type: 2, digest: "ab".repeat(32) };
    await post({ type: "DS", name: "own", data, ttl: 300 });
    await client.ok("PATCH", `/zones/${child}/dnssec`, { status: "active" });
    expect(await dsRecords()).toHaveLength(2);
    await client.ok("DELETE", `/zones/${child}`);
    expect(await dsRecords()).toMatchObject([{ content: `1 13 2 ${"ab".repeat(32)}` }]);
  });
});

describe("answers", () => {
  const questions = [
    "example.org SOA",
    "example.org NS",
    "example.org MX",
    "www.example.org A",
    "www.example.org MX",
    "no.example.org A",
    "x.wild.example.org A",
    "proxied.example.org A",
    "proxied.example.org HTTPS",
    "flat.example.org AAAA",
    "alias.example.org A",
  ];

  it.each(questions)("have valid signatures by UDP and by HTTPS: %s", async (question) => {
    const byUdp = await verdicts(question);
    expect(Object.keys(byUdp)).not.toEqual([]);
    expect(new Set(Object.values(byUdp))).toEqual(new Set(["valid"]));
    expect(await verdicts(question, askHttps)).toEqual(byUdp);
  });

  it("are valid after each change of a record", async () => {
    const path = `/zones/${zoneId}/dns_records`;
    for (let at = 1; at <= 5; at++) {
      await client.ok("POST", path, {
        type: "A",
        name: "many",
        content: `192.0.2.${at}`,
        ttl: 300,
      });
      expect((await ask("many.example.org A")).answers).toHaveLength(at + 1);
      expect(await verdicts("many.example.org A")).toEqual({ "many.example.org A": "valid" });
    }
  });
});

function delegation(name: string, signer: string): ServedRecord[] {
  const fields = { name, priority: null, ttl: 300, proxied: false, settings: {} };
  return [
    { ...fields, id: `${name} NS`, type: "NS", content: "ns.invalid" },
    { ...fields, id: `${name} DS`, type: "DS", content: signer },
  ];
}

describe("an independent validator", () => {
  let above: ReturnType<typeof respondFrom>["ask"];
  let anchor: Uint8Array;

  beforeAll(async () => {
    const [root, org] = [await makeSigning("."), await makeSigning("org")];
    const zones = new ServedZones({ platformAddresses: [] });
    const orgDs = formatData(typeCodes.DS, dsData(org));
    const ownDs = ds.slice(ds.indexOf(" DS ") + 4).toLowerCase();
    zones.put(zoneData(".", delegation("org", orgDs), { signing: root }));
    zones.put(zoneData("org", delegation("example.org", ownDs), { signing: org }));
    above = respondFrom(zones, { signer: nodeSigner() }).ask;
    anchor = dsData(root);
  });

  async function validate(question: string): Promise<string> {
    const [name, type] = question.split(" ");
    const trustAnchor = {
      keyTag: (anchor[0]! << 8) | anchor[1]!,
      algorithm: DnssecAlgorithm.ECDSAP256SHA256,
      digestType: DigestType.SHA256,
      digest: Buffer.from(anchor.subarray(4)),
    };
    const asked = new Question(`${name}.`, typeCodes[type as "A"], 1);
    const { status } = await dnssecLookUp(
      asked,
      async (each) => {
        const own = each.name.replace(/(?!^)\.$/, "");
        const isAbove =
          !own.endsWith("example.org") || (own === "example.org" && each.typeId === typeCodes.DS);
        const query = composeQuery(`${own} TYPE${each.typeId}`, dnssecOk);
        return isAbove ? encodeAbove(query) : udp.raw(query);
      },
      { trustAnchors: [trustAnchor] },
    );
    return status;
  }

  function encodeAbove(query: Uint8Array): Buffer {
    return Buffer.from(encodeMessage(above(query, tcp, nowSeconds())));
  }

  it.each([
    "example.org SOA",
    "example.org NS",
    "example.org MX",
    "www.example.org A",
    "www.example.org AAAA",
    "x.wild.example.org A",
    "proxied.example.org A",
    "flat.example.org A",
  ])("finds %s secure", async (question) => {
    expect(await validate(question)).toBe("SECURE");
  });

  it.each(["expired_signature", "wrong_signature"])("finds a name with %s bogus", async (kind) => {
    const control = new Client(new URL("/ledge", server.dns.url).href, credentials);
    const faults = [{ kind, name: "www.example.org" }];
    expect(await control.ok("PUT", "/dnssec_faults", { faults })).toEqual(faults);
    expect(await validate("www.example.org A")).toBe("BOGUS");
    expect(await validate("flat.example.org A")).toBe("SECURE");
    expect((await verdicts("www.example.org A", askHttps))["www.example.org A"]).toBe(
      kind === "wrong_signature" ? "wrong" : "expired",
    );
    expect(await control.ok("DELETE", "/dnssec_faults")).toEqual([]);
    expect(await validate("www.example.org A")).toBe("SECURE");
  });

  it("finds every name of a zone with expired signatures bogus", async () => {
    const control = new Client(new URL("/ledge", server.dns.url).href, credentials);
    await control.ok("PUT", "/dnssec_faults", {
      faults: [{ kind: "expired_signature", zone: "example.org" }],
    });
    expect(await validate("www.example.org A")).toBe("BOGUS");
    await control.ok("DELETE", "/dnssec_faults");
  });
});

describe("the test control of broken signatures", () => {
  it("refuses unknown kinds, names in no zone, and faults without a place", async () => {
    const control = new Client(new URL("/ledge", server.dns.url).href, credentials);
    const refusal = async (fault: object) =>
      (await control.call("PUT", "/dnssec_faults", { faults: [fault] })).body.errors[0]?.message;
    expect(await refusal({ kind: "late", zone: "example.org" })).toBe(
      "faults[0].kind must be one of expired_signature, wrong_signature, missing_ds.",
    );
    expect(await refusal({ kind: "wrong_signature", name: "a..example.org" })).toBe(
      "faults[0] must be for a domain name.",
    );
    expect(await refusal({ kind: "missing_ds" })).toMatch(/^faults\[0\] must be for a zone or/);
    expect(await refusal({ kind: "wrong_signature", name: "www.example.com" })).toBe(
      "faults must be for local zones: www.example.com is in none.",
    );
  });
});

it("the keys, the DS record and the signatures survive a restart", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ledge-dnssec-"));
  try {
    const first = await startTestDns({ zones: [{ name: "kept.test" }] }, { folder });
    const [{ id }] = (await first.client.ok("GET", "/zones?name=kept.test")) as [{ id: string }];
    const path = `/zones/${id}/dnssec`;
    const before = await first.client.ok("PATCH", path, { status: "active" });
    await first.stop();
    const second = await startTestDns({ zones: [{ name: "kept.test" }] }, { folder });
    const again = new UdpClient(second.port);
    try {
      expect(await second.client.ok("GET", path)).toEqual(before);
      const raw = async (question: string) =>
        decodeMessage(await again.raw(composeQuery(question, dnssecOk)));
      const keys = (await raw("kept.test DNSKEY")).answers;
      expect(checkSignatures(await raw("kept.test SOA"), keys, nowSeconds())).toMatchObject([
        { verdict: "valid" },
      ]);
    } finally {
      again.close();
      await second.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
