/**
 * Answers as clients see them: Node's resolver (c-ares), and the package dns-packet over sockets.
 * c-ares asks by UDP, and by TCP when the answer is truncated.
 */
import { Resolver } from "node:dns/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TcpClient, UdpClient, type DnsClient } from "./support/dns-client.ts";
import { useDns } from "./support/use.ts";

const zone = "example.org";
const key = "2bb183af2b41b2b05e8a6c4d1dc1a3ea2f3c8b1d0f9b3f7b66f8a1f4f8f2c5d1";
const listening = await useDns({ zones: [{ name: zone }] });
const [{ id: zoneId }] = await listening.client.ok("GET", "/zones");
const { body: imported } = await listening.client.importFile(
  zoneId,
  `
www 300 A 192.0.2.1
www 300 A 192.0.2.2
www 120 AAAA 2001:db8::1
alias 300 CNAME www
second 300 CNAME alias
@ 300 MX 10 mail
mail 300 A 192.0.2.25
@ 300 TXT "one" "two"
_sip._tcp 300 SRV 1 2 5060 www
naptr 300 NAPTR 1 2 "S" "SIP+D2T" "" _sip._tcp
@ 300 CAA 0 issue "ca.example"
_443._tcp.www 300 TLSA 3 1 1 ${key}
pointer 300 PTR www
child 300 NS ns.child
ns.child 300 A 192.0.2.53
www 300 SSHFP 4 2 ${key}
child 300 DS 1 13 2 ${key}
*.wild 300 A 192.0.2.77
deep.empty 300 A 192.0.2.78
$GENERATE 0-59 many 300 A 198.51.100.$
`,
);
if (!imported.success) throw new Error(JSON.stringify(imported.errors));

describe.each(["127.0.0.1", "[::1]"])("Node's resolver, by %s", (host) => {
  const resolver = new Resolver({ timeout: 30_000, tries: 2 });
  beforeAll(() => resolver.setServers([`${host}:${listening.port}`]));

  it("gets every type that c-ares supports", async () => {
    expect((await resolver.resolve4(`www.${zone}`, { ttl: true })).sort(byAddress)).toEqual([
      { address: "192.0.2.1", ttl: 300 },
      { address: "192.0.2.2", ttl: 300 },
    ]);
    expect(await resolver.resolve6(`www.${zone}`, { ttl: true })).toEqual([
      { address: "2001:db8::1", ttl: 120 },
    ]);
    expect(await resolver.resolveCname(`alias.${zone}`)).toEqual([`www.${zone}`]);
    expect(await resolver.resolveMx(zone)).toMatchObject([
      { exchange: `mail.${zone}`, priority: 10 },
    ]);
    expect(await resolver.resolveTxt(zone)).toEqual([["one", "two"]]);
    expect(await resolver.resolveSrv(`_sip._tcp.${zone}`)).toMatchObject([
      { name: `www.${zone}`, port: 5060, priority: 1, weight: 2 },
    ]);
    expect(await resolver.resolveNaptr(`naptr.${zone}`)).toMatchObject([
      {
        flags: "S",
        service: "SIP+D2T",
        regexp: "",
        replacement: `_sip._tcp.${zone}`,
        order: 1,
        preference: 2,
      },
    ]);
    expect(await resolver.resolveCaa(zone)).toEqual([
      expect.objectContaining({ critical: 0, issue: "ca.example" }),
    ]);
    const [tlsa] = await resolver.resolveTlsa(`_443._tcp.www.${zone}`);
    expect(tlsa).toMatchObject({ certUsage: 3, selector: 1, match: 1 });
    expect(Buffer.from(tlsa!.data).toString("hex")).toBe(key);
    expect(await resolver.resolvePtr(`pointer.${zone}`)).toEqual([`www.${zone}`]);
    expect((await resolver.resolveNs(zone)).sort()).toEqual(["ns1.ledge.local", "ns2.ledge.local"]);
    expect(await resolver.resolveSoa(zone)).toMatchObject({
      nsname: "ns1.ledge.local",
      hostmaster: "dns.ledge.local",
      refresh: 10_000,
      retry: 2400,
      expire: 604_800,
      minttl: 1800,
    });
  });

  it("follows CNAME chains, and gets wildcard records", async () => {
    const addresses = ["192.0.2.1", "192.0.2.2"];
    expect((await resolver.resolve4(`second.${zone}`)).sort()).toEqual(addresses);
    expect(await resolver.resolve4(`any.thing.wild.${zone}`)).toEqual(["192.0.2.77"]);
  });

  it("distinguishes an absent name from a name without that type", async () => {
    await expect(resolver.resolve4(`absent.${zone}`)).rejects.toMatchObject({ code: "ENOTFOUND" });
    await expect(resolver.resolve4(`pointer.${zone}`)).rejects.toMatchObject({ code: "ENODATA" });
    await expect(resolver.resolve4(`empty.${zone}`)).rejects.toMatchObject({ code: "ENODATA" });
    await expect(resolver.resolve4("elsewhere.example")).rejects.toMatchObject({
      code: "EREFUSED",
    });
  });

  it("retries by TCP when the answer does not fit into a datagram", async () => {
    expect(await resolver.resolve4(`many.${zone}`)).toHaveLength(60);
  });
});

function byAddress(one: { address: string }, other: { address: string }): number {
  return one.address.localeCompare(other.address);
}

describe.each([
  ["UDP", "127.0.0.1"],
  ["UDP", "::1"],
  ["TCP", "127.0.0.1"],
  ["TCP", "::1"],
])("dns-packet, by %s to %s", (transport, host) => {
  let dnsClient: DnsClient;
  beforeAll(async () => {
    const { port } = listening;
    dnsClient =
      transport === "UDP" ? new UdpClient(port, host) : await TcpClient.connect(port, host);
  });
  afterAll(() => dnsClient.close());

  it.each([
    [`www.${zone}`, "A", ["192.0.2.1", "192.0.2.2"]],
    [`www.${zone}`, "AAAA", ["2001:db8::1"]],
    [`alias.${zone}`, "CNAME", [`www.${zone}`]],
    [zone, "MX", [{ preference: 10, exchange: `mail.${zone}` }]],
    [zone, "TXT", [[Buffer.from("one"), Buffer.from("two")]]],
    [`_sip._tcp.${zone}`, "SRV", [{ priority: 1, weight: 2, port: 5060, target: `www.${zone}` }]],
    [zone, "CAA", [expect.objectContaining({ tag: "issue", value: "ca.example" })]],
    [`pointer.${zone}`, "PTR", [`www.${zone}`]],
    [zone, "NS", ["ns1.ledge.local", "ns2.ledge.local"]],
    [zone, "SOA", [expect.objectContaining({ mname: "ns1.ledge.local", minimum: 1800 })]],
    [`naptr.${zone}`, "NAPTR", [expect.objectContaining({ services: "SIP+D2T" })]],
    [
      `_443._tcp.www.${zone}`,
      "TLSA",
      [expect.objectContaining({ usage: 3, certificate: Buffer.from(key, "hex") })],
    ],
    [
      `www.${zone}`,
      "SSHFP",
      [expect.objectContaining({ algorithm: 4, fingerprint: key.toUpperCase() })],
    ],
    [`child.${zone}`, "DS", [expect.objectContaining({ keyTag: 1, algorithm: 13 })]],
    [`any.wild.${zone}`, "A", ["192.0.2.77"]],
  ] as const)("%s %s", async (name, type, expected) => {
    const answer = await dnsClient.ask(name, type);
    expect(answer).toMatchObject({ rcode: "NOERROR", flag_aa: true, flag_tc: false });
    const data = (answer.answers ?? []).map((found) => (found as { data: unknown }).data);
    expect(new Set(data)).toEqual(new Set(expected));
  });

  it("gets the records of a CNAME chain in order", async () => {
    const { answers } = await dnsClient.ask(`second.${zone}`, "AAAA");
    expect(answers!.map(({ name, type }) => `${name} ${type}`)).toEqual([
      `second.${zone} CNAME`,
      `alias.${zone} CNAME`,
      `www.${zone} AAAA`,
    ]);
  });

  it("gets the SOA with an empty answer, and a referral with glue at a zone cut", async () => {
    for (const [name, rcode] of [
      [`absent.${zone}`, "NXDOMAIN"],
      [`pointer.${zone}`, "NOERROR"],
    ] as const) {
      const answer = await dnsClient.ask(name, "A");
      expect(answer).toMatchObject({ rcode, answers: [], flag_aa: true });
      expect(answer.authorities).toMatchObject([{ type: "SOA", name: zone, ttl: 1800 }]);
    }
    const referral = await dnsClient.ask(`x.child.${zone}`, "A");
    expect(referral).toMatchObject({ rcode: "NOERROR", flag_aa: false, answers: [] });
    expect(referral.authorities).toMatchObject([{ type: "NS", data: `ns.child.${zone}` }]);
    expect(referral.additionals).toMatchObject([{ type: "A", data: "192.0.2.53" }]);
  });

  it("gets an answer that is larger than a datagram", async () => {
    const plain = await dnsClient.ask(`many.${zone}`, "A");
    const edns = await dnsClient.ask(`many.${zone}`, "A", {
      additionals: [
        {
          type: "OPT",
          name: ".",
          udpPayloadSize: 4096,
          extendedRcode: 0,
          ednsVersion: 0,
          flags: 0,
          flag_do: false,
          options: [],
        },
      ],
    });
    expect(plain.flag_tc).toBe(transport === "UDP");
    expect(plain.answers).toHaveLength(transport === "UDP" ? 0 : 60);
    // 60 addresses take 990 octets.
    expect(edns).toMatchObject({ flag_tc: false });
    expect(edns.answers).toHaveLength(60);
  });
});
