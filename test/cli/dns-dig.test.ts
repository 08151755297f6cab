/** `ledge dns dig`: answers, and the rules that produced them. */
import { describe, expect, it } from "vitest";
import { Client } from "../dns/support/client.ts";
import { DnsProject } from "../support/dns-command.ts";

const project = new DnsProject({
  zones: [
    {
      name: "example.org",
      records: [
        { type: "CNAME", name: "@", content: "flat.example.com", ttl: 60 },
        { type: "A", name: "www", content: "192.0.2.1", proxied: true },
        { type: "A", name: "plain", content: "192.0.2.2", ttl: 120 },
        { type: "CNAME", name: "alias", content: "plain.example.org", ttl: 60 },
        { type: "CNAME", name: "away", content: "www.elsewhere.test", ttl: 60 },
        { type: "TXT", name: "*.wild", content: "any", ttl: 60 },
        { type: "A", name: "host.deep", content: "192.0.2.3", ttl: 60 },
        { type: "NS", name: "child", content: "ns.child.example.org", ttl: 60 },
        { type: "A", name: "ns.child", content: "192.0.2.4", ttl: 60 },
        ...Array.from({ length: 40 }, (_, index) => ({
          type: "TXT",
          name: "long",
          content: `${index} ${"x".repeat(200)}`,
          ttl: 60,
        })),
      ],
    },
    {
      name: "example.com",
      records: [{ type: "A", name: "flat", content: "192.0.2.5", ttl: 60 }],
    },
    {
      name: "2.0.192.in-addr.arpa",
      records: [{ type: "PTR", name: "1", content: "www.example.org", ttl: 60 }],
    },
  ],
});
project.serve({ dnsPort: 0, tlsPort: 0 });

/** A title, the words, the data of the answers, the status, and the names of the rules. */
const table: [string, string[], string[], string, string[]][] = [
  ["an ordinary name", ["plain.example.org"], ["192.0.2.2"], "NOERROR", ["zone", "exact"]],
  ["a proxied name", ["www.example.org.", "a"], ["127.0.0.1"], "NOERROR", ["zone", "proxied"]],
  [
    "a synthesized HTTPS record",
    ["www.example.org", "TYPE65"],
    ['1 . alpn="h3,h2" ipv4hint="127.0.0.1"'],
    "NOERROR",
    ["zone", "https-made"],
  ],
  [
    "a wildcard",
    ["a.b.wild.example.org", "TXT"],
    ['"any"'],
    "NOERROR",
    ["zone", "wildcard", "exact"],
  ],
  ["no such name", ["gone.example.org"], [], "NXDOMAIN", ["zone", "no-name"]],
  ["no such type", ["plain.example.org", "MX"], [], "NOERROR", ["zone", "no-data"]],
  ["an empty non-terminal", ["deep.example.org"], [], "NOERROR", ["zone", "empty-non-terminal"]],
  ["a flattened name", ["example.org"], ["192.0.2.5"], "NOERROR", ["zone", "flattened", "exact"]],
  ["a delegated name", ["x.child.example.org"], [], "NOERROR", ["zone", "delegated"]],
  [
    "a chain",
    ["alias.example.org"],
    ["plain.example.org.", "192.0.2.2"],
    "NOERROR",
    ["zone", "alias", "exact"],
  ],
  [
    "a chain that leaves",
    ["away.example.org"],
    ["www.elsewhere.test."],
    "NOERROR",
    ["zone", "alias", "alias-leaves"],
  ],
  ["ANY", ["plain.example.org", "ANY"], ['"RFC8482" ""'], "NOERROR", ["zone", "any-minimal"]],
  ["a name in no zone", ["www.elsewhere.test"], [], "REFUSED", ["no-zone"]],
  ["an address", ["192.0.2.1"], ["www.example.org."], "NOERROR", ["zone", "exact"]],
];

describe("ledge dns dig explains", () => {
  it.each(table)("%s", async (_, words, data, status, rules) => {
    const found = await project.json("dig", ...words);
    expect(found.status).toBe(status);
    expect(found.answers.map((answer: { data: string }) => answer.data)).toEqual(data);
    expect(found.reasons.map(({ rule }: { rule: string }) => rule)).toEqual(rules);
  });

  it("prints the answer as a zone file, and each rule as a sentence", async () => {
    const port = project.running.dnsPort as number;
    const printed = await project.ok("dig", "x.child.example.org", "A");
    expect(printed.replace(/\d+ octets in \d+ ms/, "N octets in N ms")).toBe(
      [
        ";; x.child.example.org. A: NOERROR, flags qr rd",
        `;; 127.0.0.1:${port} by UDP, N octets in N ms`,
        "",
        ";; Authority",
        "child.example.org.  60  IN  NS  ns.child.example.org.",
        "",
        ";; Additional",
        "ns.child.example.org.  60  IN  A  192.0.2.4",
        "",
        ";; Why",
        ";;   the zone is example.org",
        ";;   child.example.org is delegated: the answer refers to its name servers",
        "",
      ].join("\n"),
    );
  });

  it("a record that was added a moment before", async () => {
    const client = new Client(project.running.url);
    const [{ id }] = await client.ok("GET", "/zones?name=example.com");
    await client.ok("POST", `/zones/${id}/dns_records`, {
      type: "A",
      name: "new",
      content: "192.0.2.9",
    });
    expect(await project.json("dig", "new.example.com")).toMatchObject({
      answers: [{ data: "192.0.2.9" }],
      reasons: [{ rule: "zone" }, { rule: "exact" }],
    });
  });
});

describe("ledge dns dig asks", () => {
  it("over TCP if the answer is too long, and with --tcp", async () => {
    const long = await project.json("dig", "long.example.org", "TXT");
    expect(long).toMatchObject({ transport: "tcp", status: "NOERROR" });
    expect(long.answers).toHaveLength(40);
    expect(long.flags).not.toContain("tc");
    expect(await project.json("dig", "plain.example.org", "--tcp")).toMatchObject({
      transport: "tcp",
      answers: [{ data: "192.0.2.2" }],
    });
  });

  it("over TLS, which names the rules, too", async () => {
    const port = project.running.tlsPort as number;
    expect(await project.json("dig", "plain.example.org", "--tls")).toMatchObject({
      transport: "tls",
      server: `127.0.0.1:${port}`,
      answers: [{ data: "192.0.2.2" }],
      reasons: [{ rule: "zone" }, { rule: "exact" }],
    });
    const other = ["--tls", "--server", `localhost:${port}`];
    expect(await project.json("dig", "plain.example.org", ...other)).toMatchObject({
      transport: "tls",
      answers: [{ data: "192.0.2.2" }],
    });
  });

  it("another server, which names no rules", async () => {
    for (const host of ["127.0.0.1", "localhost"]) {
      const server = `${host}:${project.running.dnsPort}`;
      const found = await project.json("dig", "plain.example.org", "--server", server);
      expect(found).toMatchObject({ answers: [{ data: "192.0.2.2" }], reasons: null });
    }
    const printed = await project.ok(
      "dig",
      "plain.example.org",
      "--server",
      `127.0.0.1:${project.running.dnsPort}`,
    );
    expect(printed).toContain("plain.example.org.  120  IN  A  192.0.2.2");
    expect(printed).not.toContain("Why");
  });
});

describe("ledge dns dig transfers", () => {
  it("a zone as a zone file, over TCP and TLS", async () => {
    const printed = await project.ok("dig", "2.0.192.in-addr.arpa", "AXFR");
    const [title, how, none, heading, ...zone] = printed.trimEnd().split("\n");
    expect([title, none]).toEqual([";; 2.0.192.in-addr.arpa. AXFR: the whole zone, 4 records", ""]);
    expect(how).toMatch(/^;; 127\.0\.0\.1:\d+ by TCP, \d+ octets in 1 message in \d+ ms$/);
    expect(heading).toMatch(/^;; Zone, serial \d+$/);
    expect(
      zone
        .map((line) => line.split(/ +/)[3]!)
        .sort()
        .join(),
    ).toBe("NS,NS,PTR,SOA");
    expect(zone).toContainEqual(
      expect.stringMatching(/^1\.2\.0.* 60 +IN +PTR +www\.example\.org\.$/),
    );
    const { records, transport } = await project.json("dig", "example.org", "axfr", "--tls");
    expect(transport).toBe("tls");
    expect(
      records.filter(({ name }: { name: string }) => name === "long.example.org"),
    ).toHaveLength(40);
  });

  it("the changes since a serial", async () => {
    const before = (await project.json("dig", "example.com", "AXFR")).serial as number;
    await project.ok("add", "example.com", "added", "A", "192.0.2.77");
    const { serial, changes } = await project.json("dig", "example.com", `IXFR=${before}`);
    expect(changes).toMatchObject([
      {
        from: before,
        to: serial,
        removed: [{ type: "SOA" }],
        added: [{ type: "SOA" }, { name: "added.example.com", data: "192.0.2.77" }],
      },
    ]);
    const printed = await project.ok("dig", "example.com", `ixfr=${before}`);
    expect(printed).toContain(`IXFR=${before}: the changes up to serial ${serial}\n`);
    expect(printed).toContain(`;; Removed after serial ${before}\n`);
    expect(printed).toContain(`;; Added in serial ${serial}\n`);
    expect(await project.ok("dig", "example.com", `IXFR=${serial}`)).toContain("nothing newer\n");
    expect(await project.ok("dig", "example.com", "IXFR=1")).toContain("IXFR=1: the whole zone, ");
  });

  it("without a server that runs", async () => {
    const idle = new DnsProject({ zones: [{ name: "example.net" }] });
    expect(await idle.ok("dig", "example.net", "AXFR")).toContain("the whole zone, 3 records");
    expect(await idle.fails(1, "dig", "example.net", "--tls")).toContain(
      "The server has no port of DNS over TLS: set tls_port in [dns]",
    );
    idle.remove();
  });

  it("nothing that is no zone, and nothing over an API", async () => {
    expect(await project.fails(1, "dig", "www.example.org", "AXFR")).toMatch(
      /^Cannot transfer www\.example\.org from 127\.0\.0\.1, port \d+: the server answered \w+\./,
    );
    expect(
      await project.fails(1, "dig", "example.org", "AXFR", "--url", project.running.url),
    ).toContain("No TCP port of the server is known, only its API at http://127.0.0.1:");
  });

  it.each([
    [["IXFR"], "TYPE must be AXFR, or IXFR=SERIAL"],
    [["IXFR=4294967296"], "TYPE must be AXFR, or IXFR=SERIAL"],
    [["AXFR=1"], "TYPE must be AXFR, or IXFR=SERIAL"],
    [["AXFR", "--dnssec"], "A transfer has no signatures to check"],
    [["A", "--tcp", "--tls"], "--tcp and --tls exclude each other"],
  ])("and refuses %j", async (words, message) => {
    expect(await project.fails(2, "dig", "example.org", ...words)).toContain(message);
  });
});

async function ask(query: string): Promise<Record<string, unknown>> {
  const response = await fetch(new URL(`/dns-query?${query}`, project.running.url));
  return (await response.json()) as Record<string, unknown>;
}

describe("the JSON form of DNS over HTTPS", () => {
  it("has the reasons with explain=true only", async () => {
    expect(await ask("name=gone.example.org&explain=true")).toMatchObject({
      Status: 3,
      Reasons: [
        { rule: "zone", name: "example.org", text: "the zone is example.org" },
        { rule: "no-name", name: "gone.example.org", text: "gone.example.org does not exist" },
      ],
    });
    expect(await ask("name=gone.example.org")).not.toHaveProperty("Reasons");
    expect(await ask("name=example.org&type=AXFR&explain=1")).toMatchObject({
      Status: 5,
      Reasons: [],
    });
  });
});
