/** `ledge dns serve`: DNS without a script, and the commands for a server that runs. */
import { createServer, type AddressInfo } from "node:net";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { runDns } from "../support/dns-command.ts";
import { createProject, DevProcess, ledge } from "../support/dev-process.ts";
import { runInProcess } from "../support/in-process-command.ts";

const zones = [
  { name: "example.com", records: [{ type: "A", name: "www", content: "192.0.2.1" }] },
];

function serve(folder: string, ...words: string[]): DevProcess {
  return new DevProcess(process.execPath, [ledge, "dns", "serve", ...words], folder);
}

/** The port of UDP and TCP, as soon as the server prints it. */
async function dnsPort(server: DevProcess, host = "127.0.0.1"): Promise<number> {
  const line = new RegExp(`^DNS {2,}.*\\b${host.replaceAll(".", "\\.")}:(\\d+)`, "m");
  return Number((await server.waitForOutput(line))[1]);
}

function resolverOf(...servers: string[]): Resolver {
  const resolver = new Resolver({ timeout: 30_000, tries: 2 });
  resolver.setServers(servers);
  return resolver;
}

const anyPorts = ["--port", "0", "--dns-port", "0"];

it("serves zones in a folder without a configuration file, until an interrupt", async () => {
  const folder = createProject({});
  const server = serve(folder, ...anyPorts, "--persist-to", "state");
  const port = await dnsPort(server);
  const here = async (...words: string[]) => {
    const persist = ["--persist-to", "state"];
    const { code, out, error } = await runInProcess(folder, ["dns", ...words, ...persist]);
    expect({ code, error }).toEqual({ code: 0, error: "" });
    return out;
  };
  await here("zones", "--create", "example.com");
  await here("add", "example.com", "www", "A", "192.0.2.1");
  expect(await resolverOf(`127.0.0.1:${port}`).resolve4("www.example.com")).toEqual(["192.0.2.1"]);
  const [, url] = /^DNS API +(\S+)$/m.exec(server.output) ?? [];
  const answer = await fetch(new URL("/dns-query?name=www.example.com", url));
  expect(await answer.json()).toMatchObject({ Answer: [{ data: "192.0.2.1" }] });

  const second = await runDns(folder, ["serve", ...anyPorts, "--persist-to", "state"]);
  expect(second).toMatchObject({ code: 1, out: "" });
  expect(second.error).toMatch(/^Process \d+ has the zones in .* Stop it, or keep yours/);

  expect(await server.end("SIGINT")).toBe(130);
  await server.processesEnd();
});

it("takes ports, addresses and faults, and tells of a port that is taken", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const taken = (other.address() as AddressInfo).port;
  const folder = createProject({ "wrangler.json": { name: "project", dns: { zones } } });
  const ports = [
    "--port",
    String(taken),
    "--dns-port",
    "0",
    "--https-port",
    "0",
    "--tls-port",
    "0",
  ];
  const fault = "servfail:www.example.com/A:times=1";
  const server = serve(folder, ...ports, "--host", "127.0.0.2", "--fault", fault);
  const port = await dnsPort(server, "127.0.0.2");
  expect(server.output).toContain(`Port ${taken} is taken: the DNS API uses another port.`);
  expect(server.output).not.toContain(`127.0.0.1:${port}`);
  expect(server.output).toContain("zones    example.com");
  expect(server.output).toMatch(/^ {2}https +https:\/\/localhost:\d+\/client\/v4 /m);
  const [, tls = ""] = await server.waitForOutput(/^DNS {2,}(127\.0\.0\.2:\d+) \(TLS\)$/m);
  const words = ["dns", "dig", "example.com", "SOA", "--tls", "--server", tls];
  const overTls = await runInProcess(folder, words);
  expect(overTls.out).toContain(`;; ${tls} by TLS`);
  const resolver = resolverOf(`127.0.0.2:${port}`);
  await expect(resolver.resolve4("www.example.com")).rejects.toMatchObject({ code: "ESERVFAIL" });
  expect(await resolver.resolve4("www.example.com")).toEqual(["192.0.2.1"]);
  expect(await server.end("SIGTERM")).toBe(0);
  await server.processesEnd();
});

it("ends with the reason when the server refuses a fault", async () => {
  const words = ["serve", ...anyPorts, "--fault", "drop:*:server=192.0.2.53"];
  const refused = await runDns(createProject({}), words);
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.error).toContain("192.0.2.53");
});

it.each([
  [["--host", "localhost"], '--host must be an address such as 127.0.0.1, not "localhost".'],
  [["--dns-port", "70000"], '--dns-port must be a whole number from 0 to 65535, not "70000".'],
  [["--fault", "servfial:*"], 'Did you mean "servfail"?'],
])("refuses %j", async (words, message) => {
  const refused = await runInProcess(createProject({}), ["dns", "serve", ...words]);
  expect(refused).toMatchObject({ code: 2, out: "" });
  expect(refused.error).toContain(message);
});
