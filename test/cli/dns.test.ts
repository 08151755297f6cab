/** `ledge dns`: every command, with a server running on the folder and without one. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { Client } from "../dns/support/client.ts";
import { DnsProject, runDns } from "../support/dns-command.ts";

const runRecordOf = ({ folder }: DnsProject) => join(folder, ".wrangler/state/v3/dns/running.json");

describe("ledge dns, with a running server", () => {
  const project = new DnsProject();
  project.serve();

  it("makes zones, lists them and deletes them", async () => {
    expect(await project.ok("zones", "--create", "example.org")).toMatch(
      /^Made example\.org \([0-9a-f]{32}\) with the name servers ns1\.ledge\.local/,
    );
    await project.ok("zones", "--create", "Other.Example.");
    const zones = await project.json("zones");
    expect(zones).toMatchObject([
      { name: "example.org", record_count: 0 },
      { name: "other.example", record_count: 0 },
    ]);
    expect(await project.fails(2, "zones", "--delete", "other.example")).toContain(
      "other.example has 0 records: confirm with --yes",
    );
    expect(await project.json("zones", "--delete", zones[1].id, "--yes")).toMatchObject({
      deleted: { name: "other.example" },
    });
    expect(await project.ok("zones")).toBe(`example.org  0 records  ${zones[0].id}\n`);
  });

  it("adds records of every kind of content, and lists them", async () => {
    const added: [string, string[]][] = [
      ["www.example.org auto A 192.0.2.1 ; proxied", ["www", "A", "192.0.2.1", "--proxied"]],
      [
        "mail.example.org 3600 AAAA 2001:db8::1 ; mail server, team:post",
        ["mail.example.org.", "aaaa", "2001:DB8::1", "--ttl", "3600"].concat([
          "--comment",
          "mail server",
          "--tag",
          "team:post",
        ]),
      ],
      ["example.org auto MX 10 mail.example.org", ["@", "MX", "10", "mail"]],
      ["example.org auto MX 20 mx.example.net", ["@", "MX", "mx.example.net", "--priority", "20"]],
      ['example.org auto TXT "v=spf1 -all"', ["@", "TXT", "v=spf1 -all"]],
      ['two.example.org auto TXT "one \\"quoted\\"" "two"', ["two", "TXT", 'one "quoted"', "two"]],
      ["alias.example.org auto CNAME www.example.org", ["alias", "CNAME", "www"]],
      [
        "_sip._tcp.example.org auto SRV 1 2 5060 sip.example.net",
        ["_sip._tcp", "SRV", "1 2 5060 sip.example.net"],
      ],
      [
        'example.org auto CAA 0 issue "ca.example; account=1"',
        ["@", "CAA", "0", "issue", "ca.example; account=1"],
      ],
      [
        'svc.example.org auto HTTPS 1 . alpn="h3,h2" port="8443"',
        ["svc", "HTTPS", "1", ".", "alpn=h3,h2", "port=8443"],
      ],
    ];
    for (const [line, words] of added) {
      expect(await project.ok("add", "example.org", ...words)).toBe(`Added ${line}\n`);
    }
    const listed = (await project.ok("list", "example.org")).trimEnd().split("\n");
    expect(listed.map((line) => line.replaceAll(/ {2,}/g, " ")).toSorted()).toEqual(
      added.map(([line]) => line).toSorted(),
    );
    expect(await project.ok("list", "example.org", "--type", "spf", "--name", "@")).toBe(
      'example.org  auto  TXT  "v=spf1 -all"\n',
    );
    const lines = (await project.ok("list", "example.org", "--type", "mx", "--json")).trimEnd();
    expect(lines.split("\n").map((line) => JSON.parse(line))).toMatchObject([
      { type: "MX", priority: 10, content: "mail.example.org" },
      { type: "MX", priority: 20, content: "mx.example.net" },
    ]);
    expect(await project.ok("list", "example.org", "--name", "nothing")).toBe("");
  });

  it("sets a record: adds, replaces, or changes nothing", async () => {
    const set = (...words: string[]) => project.json("set", "example.org", "home", "A", ...words);
    expect(await set("192.0.2.7", "--ttl", "120", "--comment", "dynamic")).toMatchObject({
      action: "created",
      record: { name: "home.example.org", content: "192.0.2.7", ttl: 120 },
      replaced: [],
    });
    expect(await set("192.0.2.8")).toMatchObject({
      action: "replaced",
      record: { content: "192.0.2.8", ttl: 120, comment: "dynamic" },
      replaced: [{ content: "192.0.2.7" }],
    });
    expect(await set("192.0.2.8")).toMatchObject({ action: "unchanged", replaced: [] });
    await project.ok("add", "example.org", "home", "A", "192.0.2.9");
    expect(await project.ok("set", "example.org", "home", "A", "192.0.2.9", "--comment", "")).toBe(
      "Replaced home.example.org 120 A 192.0.2.9\n" +
        "  was home.example.org 120 A 192.0.2.8 ; dynamic\n" +
        "  was home.example.org auto A 192.0.2.9\n",
    );
    expect(await project.ok("set", "example.org", "home", "A", "192.0.2.9", "--proxied")).toContain(
      "Replaced home.example.org auto A 192.0.2.9 ; proxied\n",
    );
    expect(await set("192.0.2.9", "--dns-only")).toMatchObject({ record: { proxied: false } });
  });

  it("deletes one record, or all that match", async () => {
    expect(await project.fails(1, "delete", "example.org", "@", "MX")).toMatch(
      /^2 records match: choose one by TYPE and CONTENT, or use --all\.\n.*MX {2}20 mx\.example\.net/s,
    );
    await project.ok("delete", "example.org", "@", "MX", "10", "Mail.Example.Org.");
    expect(await project.json("delete", "example.org", "@", "--all")).toMatchObject({
      deleted: [{ type: "CAA" }, { type: "MX", priority: 20 }, { type: "TXT" }],
    });
    await project.fails(3, "delete", "example.org", "@", "--all");
    expect(await project.fails(3, "delete", "example.org", "www", "AAAA")).toContain(
      "No record matches. www.example.org has\nwww.example.org  auto  A",
    );
    expect(await project.fails(3, "delete", "example.org", "hoem")).toContain(
      "Did you mean home.example.org?",
    );
  });

  it("exports and imports", async () => {
    const file = join(project.folder, "example.org.zone");
    expect(await project.ok("export", "example.org", file)).toBe(`Wrote example.org to ${file}.\n`);
    const text = readFileSync(file, "utf8");
    expect(text).toContain("www.example.org.\t1\tIN\tA\t192.0.2.1 ; cf_tags=cf-proxied:true");
    expect((await project.json("export", "example.org")).text.split("\n").slice(3)).toEqual(
      text.split("\n").slice(3),
    );
    const pipe = join(project.folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const reader = spawn("cat", [pipe]);
    onTestFinished(() => void reader.kill());
    const read = readAll(reader.stdout);
    await project.ok("export", "example.org", pipe);
    expect(statSync(pipe).isFIFO()).toBe(true);
    expect((await read).split("\n").slice(3)).toEqual(text.split("\n").slice(3));
    await project.ok("zones", "--delete", "example.org", "--yes");
    expect(await project.json("import", "example.org", file, "--create")).toMatchObject({
      zone: "example.org",
      created: true,
      added: 7,
    });
    expect(await project.ok("import", "example.org", file)).toMatch(
      /^Added 0 records to example\.org; \d+ of \d+ exist already or belong to the zone itself\.\n$/,
    );
    const piped = await runDns(project.folder, ["import", "example.org", "-"], "x A 192.0.2.3\n");
    expect(piped).toMatchObject({ code: 0, out: "Added 1 record to example.org.\n" });
    const bad = await runDns(
      project.folder,
      ["import", "example.org", "-"],
      "a A 192.0.2.1\nb A b",
    );
    expect(bad).toMatchObject({ code: 1, out: "" });
    expect(bad.error).toBe("Line 2: Content for A record must be a valid IPv4 address. (9005)\n");
    expect(await project.ok("list", "example.org", "--name", "a")).toBe("");
  });

  it("asks its own server", async () => {
    const { answers, reasons, transport } = await project.json("dig", "x.example.org");
    expect(answers).toEqual([{ name: "x.example.org", ttl: 300, type: "A", data: "192.0.2.3" }]);
    expect(reasons).toMatchObject([{ rule: "zone" }, { rule: "exact", name: "x.example.org" }]);
    expect(transport).toBe("udp");
  });
});

describe("ledge dns, without a server", () => {
  const project = new DnsProject();

  afterAll(() => project.remove());

  it("does the same, and leaves nothing running", async () => {
    expect(await project.ok("zones", "--create", "example.org")).toContain("Made example.org");
    expect(await project.ok("add", "example.org", "www", "A", "192.0.2.1", "--proxied")).toBe(
      "Added www.example.org auto A 192.0.2.1 ; proxied\n",
    );
    const text = "mail MX 10 mail\nmail A 192.0.2.3\n";
    const imported = await runDns(project.folder, ["import", "example.org", "-"], text);
    expect(imported).toMatchObject({ code: 0, out: "Added 2 records to example.org.\n" });
    await project.ok("delete", "example.org", "mail", "MX");
    const exported = await project.ok("export", "example.org");
    expect(exported).toContain("mail.example.org.\t1\tIN\tA");
    expect(exported).not.toContain("MX");
    expect(await project.json("dig", "www.example.org")).toMatchObject({
      answers: [{ data: "127.0.0.1" }],
      reasons: [{ rule: "zone" }, { rule: "proxied" }],
      transport: "udp",
    });
    expect(existsSync(runRecordOf(project))).toBe(false);
  });

  it("waits for other commands", async () => {
    const names = Array.from({ length: 4 }, (_, index) => `at-once-${index}`);
    const added = await Promise.all(
      names.map((name) =>
        runDns(project.folder, ["add", "example.org", name, "A", "192.0.2.4", "--json"]),
      ),
    );
    expect(added.map(({ code, error }) => ({ code, error }))).toEqual(
      names.map(() => ({ code: 0, error: "" })),
    );
    const listed = await project.ok("list", "example.org", "--type", "A");
    for (const name of names) expect(listed).toContain(`${name}.example.org`);
  });
});

describe("the server of ledge dns", () => {
  const project = new DnsProject({ zones: [{ name: "here.example" }] });
  const elsewhere = new DnsProject({
    email: "owner@example.org",
    key: "another-key-of-another-server",
    tokens: [{ token: "token-for-reading", read_only: true }],
    zones: [{ name: "there.example" }],
  });
  elsewhere.serve({ listen: false });
  afterAll(() => project.remove());

  it("is the server of --url, with credentials", async () => {
    const { origin } = new URL(elsewhere.running.url);
    const owner = ["--email", "owner@example.org", "--key", "another-key-of-another-server"];
    for (const url of [origin, `${origin}/`, elsewhere.running.url]) {
      expect(await project.json("zones", "--url", url, ...owner)).toMatchObject([
        { name: "there.example" },
      ]);
    }
    expect(await project.fails(1, "zones", "--url", origin)).toBe(
      "Unknown X-Auth-Key or X-Auth-Email (9103)\n" +
        "Give the server's --email and --key, or a --token that may do this.\n",
    );
    const token = ["--url", origin, "--token", "token-for-reading"];
    expect(await project.json("zones", ...token)).toHaveLength(1);
    expect(
      await project.fails(1, "add", "there.example", "a", "A", "192.0.2.1", ...token),
    ).toContain("Authentication error (10000)");
  });

  it("is the server on --persist-to, with the credentials of that server", async () => {
    const state = join(elsewhere.folder, ".wrangler/state");
    const zones = await project.json("zones", "--persist-to", state);
    expect(zones).toMatchObject([{ name: "there.example" }]);
    await project.ok("add", "there.example", "a", "A", "192.0.2.1", "--persist-to", state);
    const client = new Client(elsewhere.running.url, { authorization: "Bearer token-for-reading" });
    expect(await client.ok("GET", `/zones/${zones[0].id}/dns_records`)).toMatchObject([
      { name: "a.there.example", content: "192.0.2.1" },
    ]);
  });

  it("is asked over HTTPS when it does not listen", async () => {
    const state = join(elsewhere.folder, ".wrangler/state");
    const asked = await project.json("dig", "there.example", "SOA", "--persist-to", state);
    expect(asked).toMatchObject({ status: "NOERROR", transport: "https" });
    expect(asked.reasons).toMatchObject([{ rule: "zone" }, { rule: "exact" }]);
  });

  it("has the zones of the environment's configuration", async () => {
    writeFileSync(
      join(project.folder, "wrangler.json"),
      JSON.stringify({
        name: "project",
        env: { staging: { dns: { zones: [{ name: "s.example" }] } } },
      }),
    );
    expect(await project.json("zones", "--env", "staging")).toMatchObject([{ name: "s.example" }]);
  });
});
