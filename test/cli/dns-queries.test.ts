/** `ledge dns queries`, for a server that runs. */
import { Resolver } from "node:dns/promises";
import { expect, it } from "vitest";
import { DevProcess, ledge } from "../support/dev-process.ts";
import { DnsProject } from "../support/dns-command.ts";

const project = new DnsProject({
  zones: [{ name: "example.com", records: [{ type: "A", name: "www", content: "192.0.2.1" }] }],
});
project.serve();

const server = (): string => `127.0.0.1:${project.running.dnsPort}`;
const waiting = { timeout: 30_000, interval: 20 };

/** Asks, whatever the answer is. */
async function ask(name: string, type = "A", asked = server()): Promise<void> {
  const resolver = new Resolver({ timeout: 30_000, tries: 1 });
  resolver.setServers([asked]);
  await resolver.resolve(name, type).catch(() => {});
}

async function linesOf(...words: string[]): Promise<string[]> {
  return (await project.ok("queries", ...words)).split("\n").slice(0, -1);
}

it("shows the last queries, with and without faults, as often as it runs", async () => {
  expect(await project.run("queries")).toEqual({ code: 0, out: "", error: "No queries.\n" });
  await ask("www.example.com");
  await ask("gone.example.com", "MX");
  await project.ok("faults", "add", "servfail:www.example.com/TXT");
  await ask("www.example.com", "TXT");
  await project.ok("faults", "clear");
  await project.ok("dig", "example.com", "SOA", "--tcp", "--server", server());
  const time = /^\d\d:\d\d:\d\d\.\d{3}/;
  const client = /127\.0\.0\.1:\d+ */;
  const steady = (line: string): string =>
    line
      .replace(time, "T")
      .replace(client, "C ")
      .replace(/\d+\/\d+ octets, [\d.]+ ms/, "…");
  for (const lines of [await linesOf(), await linesOf()]) {
    expect(lines.map(steady)).toEqual([
      "T  udp    C NOERROR    A       www.example.com  …, rd",
      "T  udp    C NXDOMAIN   MX      gone.example.com  …, rd",
      "T  udp    C SERVFAIL   TXT     www.example.com  …, rd, fault servfail",
      "T  tcp    C NOERROR    SOA     example.com  …, rd",
    ]);
  }
});

it("filters, and prints a line of JSON for each query", async () => {
  await ask("www.example.com");
  await ask("a.b.example.com");
  const json = await linesOf("--json", "--name", "*.B.example.com.", "--rcode", "nxdomain");
  expect(json.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      name: "a.b.example.com",
      type: "A",
      transport: "udp",
      rcode: "NXDOMAIN",
      clientAddress: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      time: expect.stringMatching(/Z$/),
    }),
  ]);
  expect(await linesOf("--type", "a", "--transport", "udp", "--count", "1")).toEqual([
    expect.stringContaining("a.b.example.com"),
  ]);
  expect(await linesOf("--transport", "tls")).toEqual([]);
});

it("follows: each query once, until an interrupt", async () => {
  const words = [ledge, "dns", "queries", "--follow", "--count", "0", "--name", "*.follow.test"];
  const follower = new DevProcess(process.execPath, [...words, "--json"], project.folder);
  const names = (): string[] =>
    Array.from(follower.output.matchAll(/^\{.*?"name":"(.*?)"/gm), ([, name = ""]) => name);
  let count = 0;
  // The first queries may be older than the follower, which leaves them out.
  await expect
    .poll(async () => {
      await ask(`${++count}.follow.test`);
      return names().length;
    }, waiting)
    .toBeGreaterThan(0);
  // More than the server keeps, in portions.
  for (let round = 0; round < 6; round += 1) {
    const asked = Array.from({ length: 50 }, () => `${++count}.follow.test`);
    await Promise.all(asked.map((name) => ask(name)));
    await expect.poll(() => asked.every((name) => names().includes(name)), waiting).toBe(true);
  }
  const all = names();
  const first = Number(all[0]!.split(".")[0]);
  expect(new Set(all).size).toBe(all.length);
  expect(all).toHaveLength(count - first + 1);
  expect(await follower.end("SIGINT")).toBe(130);
});

it("says that no server runs, or that the server has ended", async () => {
  const idle = new DnsProject();
  expect(await idle.fails(1, "queries")).toMatch(
    /^No server has the zones in .* "ledge dns serve"/,
  );
  const words = [ledge, "dns", "serve", "--port", "0", "--dns-port", "0"];
  const serving = new DevProcess(process.execPath, words, idle.folder);
  const [, asked] = await serving.waitForOutput(/^DNS {2,}(127\.0\.0\.1:\d+)/m);
  const follower = new DevProcess(process.execPath, [ledge, "dns", "queries", "-f"], idle.folder);
  await expect
    .poll(async () => {
      await ask("example.com", "A", asked);
      return follower.output;
    }, waiting)
    .toContain("REFUSED");
  await serving.end();
  expect(await follower.exited).toBe(1);
  expect(follower.output).toMatch(/^The server that had the zones in .* has ended\.$/m);
  idle.remove();
});
