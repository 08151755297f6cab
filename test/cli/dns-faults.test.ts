/** `ledge dns faults`, for a server that runs. */
import { Resolver } from "node:dns/promises";
import { expect, it } from "vitest";
import { DnsProject } from "../support/dns-command.ts";

const project = new DnsProject({
  zones: [{ name: "example.com", records: [{ type: "A", name: "www", content: "192.0.2.1" }] }],
});
project.serve();

function resolve(name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 30_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${project.running.dnsPort}`]);
  return resolver.resolve4(name);
}

it("adds faults that are in force at once, lists them with their counts, and clears them", async () => {
  expect(await project.ok("faults")).toBe("No faults.\n");
  const spec = "servfail:www.example.com/A:times=1";
  expect(await project.ok("faults", "add", spec)).toBe("Added. 1 fault in force.\n");
  expect(await project.ok("faults", "add", "dns:delay:*.other.example:10ms")).toBe(
    "Added. 2 faults in force.\n",
  );
  await expect(resolve("www.example.com")).rejects.toMatchObject({ code: "ESERVFAIL" });
  expect(await resolve("www.example.com")).toEqual(["192.0.2.1"]);
  expect(await project.ok("faults", "list")).toBe(
    [
      "servfail  www.example.com/A  times=1  matched 2, hit 1",
      "delay     *.other.example    by=10ms  matched 0, hit 0",
      "",
    ].join("\n"),
  );
  expect(await project.json("faults")).toMatchObject([
    { kind: "servfail", name: "www.example.com", type: "A", times: 1, matches: 2, hits: 1 },
    { kind: "delay", name: "*.other.example", by: "10ms" },
  ]);
  expect(await project.ok("faults", "clear")).toBe("Cleared 2 faults.\n");
  expect(await project.json("faults")).toEqual([]);
});

it.each([
  [["add"], "SPEC is missing: an example is servfail:www.example.com/A:times=2."],
  [["add", "servfial:*"], 'SPEC "dns:servfial:*": "servfial" is no kind. Did you mean "servfail"?'],
  [["clear", "servfail:*"], '"servfail:*" is one argument too many: clear concerns all faults.'],
  [["remove"], 'ACTION must be list, add or clear, not "remove".'],
])("refuses %j", async (words, message) => {
  expect(await project.fails(2, "faults", ...words)).toContain(message);
});

it("lists every record of an answer, and refuses a fault that the server could not have", async () => {
  const answer = "answer:www.example.com/A:content=192.0.2.8,content=192.0.2.9,ttl=5";
  await project.ok("faults", "add", answer);
  expect((await resolve("www.example.com")).sort()).toEqual(["192.0.2.8", "192.0.2.9"]);
  expect(await project.ok("faults")).toBe(
    "answer  www.example.com/A  content=192.0.2.8,content=192.0.2.9,ttl=5  matched 1, hit 1\n",
  );
  expect(await project.fails(1, "faults", "add", "drop:*:server=192.0.2.53")).toContain(
    "192.0.2.53",
  );
  expect(await project.json("faults")).toHaveLength(1);
  expect(await project.ok("faults", "clear")).toBe("Cleared 1 fault.\n");
});

it("says what to start when no server runs, and starts none", async () => {
  const idle = new DnsProject();
  const message = await idle.fails(1, "faults");
  expect(message).toMatch(
    /^No server has the zones in .*dns\. Start "ledge dns serve" or "ledge dev"/,
  );
  idle.remove();
});
