/** `ledge dns`: the messages and exit codes of mistakes. */
import { describe, expect, it } from "vitest";
import { DnsProject, runDns } from "../support/dns-command.ts";

const project = new DnsProject({
  zones: [
    { name: "example.org", records: [{ type: "A", name: "www", content: "192.0.2.1" }] },
    { name: "example.com" },
  ],
});
project.serve();

/** The command line, the exit code, and a part of the message. */
const table: [string[], number, string][] = [
  // The command line is wrong.
  [["list"], 2, "ZONE is missing"],
  [["add", "example.org", "www", "A"], 2, "CONTENT is missing"],
  [["lst", "example.org"], 2, 'Did you mean "list"?'],
  [["list", "example.org", "--typ", "A"], 2, "Did you mean --type?"],
  [["list", "example.org", "--type", "MXX"], 2, "Did you mean MX?"],
  [["add", "example.org", "a", "CNAM", "www"], 2, "Did you mean CNAME?"],
  [["add", "example.org", "a", "WKS", "x"], 2, "The types are A, AAAA, CAA"],
  [["add", "example.org", "@", "MX", "mail"], 2, "CONTENT of MX is PRIORITY CONTENT"],
  [["add", "example.org", "a", "SRV", "1 2 3"], 2, "SRV is PRIORITY WEIGHT PORT TARGET"],
  [["add", "example.org", "a", "CAA", '0 issue "open'], 2, "a quotation mark is not closed"],
  [["add", "example.org", "a", "A", "192.0.2.1", "--priority", "1"], 2, "for MX, SRV and URI"],
  [["add", "example.org", "a", "A", "192.0.2.1", "--ttl", "soon"], 2, "--ttl must be a whole"],
  [["add", "example.org", "a", "A", "1.2.3.4", "--proxied", "--dns-only"], 2, "exclude each"],
  [["add", "example.org", "@", "TXT", "-all"], 2, "There is no option -a"],
  [["zones", "--create", "a.example", "--delete", "b.example"], 2, "exclude each other"],
  [["zones", "--url", "localhost:8788"], 2, "--url must be a URL such as"],
  [["import", "example.org"], 2, "FILE is missing"],
  [["import", "example.org", "x.zone", "--from", "127.0.0.1"], 2, "exclude each other"],
  [["import", "example.org", "wrangler.json", "--tsig", "k:c2VjcmV0"], 2, "--tsig needs --from"],
  [["import", "example.org", "--from", "no host"], 2, "--from must be HOST"],
  [["import", "example.org", "--from", "127.0.0.1", "--tsig", "gone"], 2, 'no key "gone"'],
  [["import", "example.org", "--from", "127.0.0.1", "--tsig", "k:md5:c2VjcmV0"], 2, "NAME[:ALG"],
  [["import", "example.org", "--from", "127.0.0.1", "--tsig", "k:not base64"], 2, "NAME[:ALG"],
  [["dig", "www.example.org", "AAA"], 2, "Did you mean AAAA?"],
  [["dig", `${"a".repeat(64)}.example.org`], 2, "is not a domain name"],
  [["dig", "www.example.org", "--server", "127.0.0.1:70000"], 2, "--server must be"],
  // The command line names something that does not exist.
  [["list", "exampel.org"], 3, "Did you mean example.org?"],
  [["list", "www.example.org"], 3, "Did you mean example.org?"],
  [["list", "nothing.test"], 3, 'List the zones with "ledge dns zones"'],
  [["list", "0".repeat(32)], 3, "Could not route to"],
  [["delete", "example.org", "ww"], 3, "Did you mean www.example.org?"],
  [["import", "example.org", "missing.zone"], 3, "There is no file missing.zone"],
  [["export", "example.net"], 3, "Did you mean example"],
  // The command fails.
  [["zones", "--create", "example.org"], 1, "example.org already exists (1061)"],
  [["zones", "--create", "a b"], 1, "Invalid zone name. (1001)"],
  [
    ["add", "example.org", "www", "A", "192.0.2.1"],
    1,
    "An identical record already exists. (81058)",
  ],
  [["add", "example.org", "a", "A", "192.0.2.256"], 1, "valid IPv4 address. (9005)"],
  [["add", "example.org", "a", "A", "192.0.2.1", "--ttl", "5"], 1, "(9021)"],
  [["add", "example.org", "a", "MX", "10 a", "--proxied"], 1, "cannot be proxied. (9004)"],
  [["add", "example.org", "a", "A", "192.0.2.1", "--tag", "none"], 1, "Tag none is invalid"],
  [["add", "example.org", "a", "CAA", "0 issue a_b*"], 1, "(9411)"],
  [["add", "example.org", "@", "SOA", "a b 1 2 3 4 5"], 1, "(9401)"],
  [["add", "example.org", "www", "CNAME", "other"], 1, "(81053)"],
  [["set", "example.org", "www", "CNAME", "other"], 1, "(81053)"],
  [["export", "example.org", "no/such/folder/x"], 1, "Cannot write no/such/folder/x"],
  [["import", "example.org", "."], 1, "Cannot read ."],
  [["import", "example.org", "--from", "127.0.0.1:1"], 1, "ECONNREFUSED"],
  [["dig", "www.example.org", "--server", "127.0.0.1:1"], 1, "No answer from 127.0.0.1, port 1"],
  [["zones", "--url", "http://127.0.0.1:1"], 1, "Cannot reach the DNS API at http://127.0.0.1:1"],
  [["zones", "--key", "short"], 1, "Invalid format for X-Auth-Key header (6103)"],
];

describe("ledge dns refuses", () => {
  it.each(table.map(([words, code, message]) => ({ line: words.join(" "), words, code, message })))(
    "$line",
    async ({ words, code, message }) => {
      const ran = await project.run(...words);
      expect(ran.error).toContain(message);
      expect(ran).toMatchObject({ code, out: "" });
      // The message has no stack trace.
      expect(ran.error).not.toMatch(/^\s+at /m);
    },
  );

  it("as a process, with the same messages and exit codes", async () => {
    // One command of each exit code, and the commands that fail in a connection.
    const rows = table.filter(([words]) =>
      ["list", "list exampel.org", "zones --create example.org", "set example.org www CNAME other"]
        .concat(["import example.org --from 127.0.0.1:1", "zones --url http://127.0.0.1:1"])
        .includes(words.join(" ")),
    );
    expect(rows).toHaveLength(6);
    for (const [words, code, message] of rows) {
      const ran = await runDns(project.folder, words);
      expect(ran).toMatchObject({ code, out: "", error: expect.stringContaining(message) });
      expect(ran.error).not.toMatch(/^\s+at /m);
    }
  });

  it("and changes nothing", async () => {
    expect(await project.ok("list", "example.org")).toBe("www.example.org  auto  A  192.0.2.1\n");
    expect(await project.ok("list", "example.com")).toBe("");
    expect(await project.json("zones")).toHaveLength(2);
  });
});
