/** The companion worker as users start it: by a binding of the plugin, or with startDns(). */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startDns, type StartDnsOptions } from "../../dist/index.js";
import { temporaryFolder } from "../support/store.ts";

const plugin = {
  package: fileURLToPath(new URL("../../dist/plugin.js", import.meta.url)),
  name: "dns",
};

const declared = {
  zones: [{ name: "example.com", records: [{ type: "A", name: "@", content: "192.0.2.1" }] }],
};

const script = `
  export default {
    async fetch(request, env) {
      const zones = await (await env.DNS.fetch("http://dns/client/v4/zones")).json();
      const [{ id }] = zones.result;
      const records = "http://dns/client/v4/zones/" + id + "/dns_records";
      if (request.method === "POST") {
        await env.DNS.fetch(records, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ type: "A", name: "www", content: "192.0.2.2", ttl: 60 }),
        });
      }
      const { result } = await (await env.DNS.fetch(records)).json();
      return Response.json(result.map(({ name, content }) => name + " " + content));
    },
  };`;

function worker(options: Record<string, unknown>, name = "script") {
  return {
    config: {
      name,
      compatibilityDate: "2026-08-01",
      manifest: {
        mainModule: "index.mjs",
        modules: { "index.mjs": { type: "esm" as const, contents: script } },
      },
      env: { DNS: { type: "unsafe:dns" as const, dev: { plugin, options } } },
    },
  };
}

function start(folder: string, workers: ReturnType<typeof worker>[]): Miniflare {
  const miniflare = new Miniflare({ resourcePersistencePath: folder, workers });
  onTestFinished(() => miniflare.dispose().catch(() => {}));
  return miniflare;
}

describe("a binding of type unsafe:dns", () => {
  it("is the record API with the zones of its options, and stores its records", async () => {
    const folder = temporaryFolder();
    const first = start(folder, [worker(declared)]);
    const answer = await first.dispatchFetch("http://script/", { method: "POST" });
    expect(await answer.json()).toEqual(["example.com 192.0.2.1", "www.example.com 192.0.2.2"]);
    await first.dispose();

    const second = start(folder, [worker(declared)]);
    expect(await (await second.dispatchFetch("http://script/")).json()).toHaveLength(2);
    // In Node, through the proxy of getBindings().
    const { DNS } = await second.getBindings<{ DNS: { fetch: typeof fetch } }>();
    const zones = await DNS.fetch("http://dns/client/v4/zones?name=example.com");
    expect(await zones.json()).toMatchObject({ success: true, result: [{ name: "example.com" }] });
    // The worker answers DNS over HTTPS for its zones too.
    const resolved = await DNS.fetch("http://dns/dns-query?name=www.example.com");
    expect(await resolved.json()).toMatchObject({ Status: 0, Answer: [{ data: "192.0.2.2" }] });
  });

  it("is shared by all scripts, whose options have to agree", async () => {
    const agreed = start(temporaryFolder(), [worker(declared), worker(declared, "other")]);
    await agreed.ready;
    const other = await agreed.getWorker("other");
    await agreed.dispatchFetch("http://script/", { method: "POST" });
    expect(await (await other.fetch("http://other/")).json()).toHaveLength(2);

    const divided = start(temporaryFolder(), [worker(declared), worker({}, "other")]);
    await expect(divided.ready).rejects.toThrow(
      /all scripts share one DNS: give both the same options/,
    );
  });
});

/** A project whose zones `startDns()` serves, in the folder of the Miniflares. */
function projectIn(state: string, table: object): string {
  writeFileSync(join(state, "wrangler.json"), JSON.stringify({ dns: table }));
  return join(state, "wrangler.json");
}

const list = async (miniflare: Miniflare) =>
  (await (await miniflare.dispatchFetch("http://script/")).json()) as string[];

describe("a binding of type unsafe:dns and startDns() on one folder", () => {
  const ports = { port: 0, dnsPort: 0, log: () => {} };

  it("have the same zones, also when startDns() takes over and ends", async () => {
    const state = temporaryFolder();
    const configPath = projectIn(state, declared);
    const bound = start(join(state, "v3"), [worker(declared)]);
    await bound.dispatchFetch("http://script/", { method: "POST" });
    // Each request of the script is answered, by one owner or the other.
    const done = new AbortController();
    const lists: string[][] = [];
    const reading = (async () => {
      while (!done.signal.aborted) lists.push(await list(bound));
    })();
    for (let round = 0; round < 2; round++) {
      const dns = await startDns({ configPath, persistTo: state, ...ports });
      expect(await list(bound)).toEqual(["example.com 192.0.2.1", "www.example.com 192.0.2.2"]);
      const query = new URL("/dns-query?name=www.example.com", dns.url);
      const answer = await (await fetch(query)).json();
      expect(answer).toMatchObject({ Status: 0, Answer: [{ data: "192.0.2.2" }] });
      await dns.stop();
      expect(await list(bound)).toHaveLength(2);
    }
    done.abort();
    await reading;
    expect(lists.filter(({ length }) => length !== 2)).toEqual([]);
  });

  it("warn once of a table that differs from the owner's", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    onTestFinished(() => warn.mockRestore());
    const state = temporaryFolder();
    const dns = await startDns({
      configPath: projectIn(state, declared),
      persistTo: state,
      ...ports,
    });
    onTestFinished(() => dns.stop());
    expect(await list(start(join(state, "v3"), [worker(declared)]))).toHaveLength(1);
    expect(warn).not.toHaveBeenCalled();
    const other = start(join(state, "v3"), [worker({ zones: [{ name: "example.net" }] })]);
    expect(await list(other)).toEqual(["example.com 192.0.2.1"]);
    expect(await list(other)).toHaveLength(1);
    expect(warn).toHaveBeenCalledOnce();
    expect(warn).toHaveBeenCalledWith(expect.stringContaining("its [dns] table differs"));
  });
});

it("startDns() refuses zones of another format in one sentence", async () => {
  const state = temporaryFolder();
  const options = { configPath: projectIn(state, declared), persistTo: state, port: 0, dnsPort: 0 };
  await (await startDns({ ...options, log: () => {} })).stop();
  writeFileSync(join(state, "v3/dns/format"), "2\n");
  await expect(startDns(options)).rejects.toThrow(
    /have format 2, and this version of Ledge has format 1: export .*\(ledge dns export\)/,
  );
});

interface Envelope {
  success: boolean;
  result: { name: string }[];
  errors: { code: number }[];
}

/** Starts DNS for a project with these files, and collects the log. */
async function startProject(files: Record<string, string>, options: StartDnsOptions = {}) {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const lines: string[] = [];
  const dns = await startDns({
    configPath: join(folder, Object.keys(files)[0] as string),
    port: 0,
    dnsPort: 0,
    log: (text) => lines.push(text),
    ...options,
  });
  onTestFinished(() => dns.stop());
  const zones = async (headers: Record<string, string>) =>
    (await (await fetch(`${dns.url}/zones`, { headers })).json()) as Envelope;
  return { folder, dns, log: lines.join("\n"), zones };
}

const owner = {
  "X-Auth-Email": "dev@ledge.local",
  "X-Auth-Key": "0123456789abcdef0123456789abcdef01234",
};

describe("startDns()", () => {
  it("serves the zones of the configuration file, and prints how to reach the API", async () => {
    const { dns, log, zones } = await startProject({
      "wrangler.toml": `
        name = "project"
        [[dns.zones]]
        name = "example.org"
        [env.test.dns]
        zones = [{ name = "test.example" }]`,
    });
    expect(log).toBe(
      [
        `DNS API    ${dns.url}`,
        "  e-mail   dev@ledge.local",
        `  key      ${owner["X-Auth-Key"]}`,
        "  zones    example.org",
        `DNS        127.0.0.1:${dns.dnsPort}, [::1]:${dns.dnsPort} (UDP and TCP)`,
      ].join("\n"),
    );
    expect((await zones(owner)).result.map(({ name }) => name)).toEqual(["example.org"]);
    expect((await zones({})).errors.map(({ code }) => code)).toEqual([9106]);
  });

  it("reads the table of an environment, and secrets from .dev.vars", async () => {
    const key = "f".repeat(37);
    const { log, zones } = await startProject(
      {
        "wrangler.jsonc":
          '{ "env": { "test": { "dns": { "zones": [{ "name": "test.example" }] } } } }',
        ".dev.vars": `DNS_KEY=${key}\nDNS_TOKENS=[{"token":"token-for-reading","read_only":true}]`,
      },
      { environment: "test" },
    );
    expect(log).toContain(
      "  key      DNS_KEY of your secrets file\n  tokens   1\n  zones    test.example",
    );
    expect(log).not.toContain(key);
    expect((await zones(owner)).success).toBe(false);
    expect((await zones({ ...owner, "X-Auth-Key": key })).result).toHaveLength(1);
    expect((await zones({ authorization: "Bearer token-for-reading" })).result).toHaveLength(1);
  });

  it("takes another port when the requested port is in use, and prints that", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const { dns, log, zones } = await startProject({ "wrangler.json": "{}" }, { port });
    expect(log).toContain(`Port ${port} is taken: the DNS API uses another port.`);
    expect(new URL(dns.url).port).not.toBe(String(port));
    expect((await zones(owner)).success).toBe(true);
  });

  it.each([
    [
      '{ "dns": { "emial": "x" } }',
      /wrangler\.json:1:12: dns\.emial is not a key; did you mean "email"\?/,
    ],
    ['{ "dns": { "zones": [{ "name": "a b" }] } }', /dns\.zones\[0\]\.name must be a hostname\./],
    ['{ "dns": { "api_port": 70000 } }', /dns\.api_port must be a port, 0 to 65535/],
    ['{ "dns": 5 }', /dns must be a table, not a number\./],
  ])("reports the mistake in %s before it starts", async (text, message) => {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "wrangler.json"), text);
    const starting = startDns({ configPath: join(folder, "wrangler.json"), log: () => {} });
    await expect(starting).rejects.toThrow(message);
  });
});
