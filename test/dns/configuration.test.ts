/** The `[dns]` table in the worker: declared zones, quotas, name rules, and the service binding. */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { waitOptions } from "../support/dev-process.ts";
import { Client, type Envelope } from "./support/client.ts";
import { startTestDns } from "./support/running-dns.ts";
import { startServer, type Server, type ServerOptions } from "./support/server.ts";

let folder: string;
let server: Server | null = null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "ledge-dns-config-"));
});
afterEach(async () => {
  await stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(options: ServerOptions = {}): Promise<Client> {
  await stop();
  server = await startServer({ ...options, folder });
  return new Client(server.url);
}

async function stop(): Promise<void> {
  await server?.stop();
  server = null;
}

function a(name: string, more = {}) {
  return { type: "A", name, content: "192.0.2.1", ...more };
}

function cname(name: string, content: string) {
  return { type: "CNAME", name, content, proxied: true };
}

/** Makes the script call the API through its binding. */
async function ask(call: Record<string, unknown>) {
  const init = { method: "POST", body: JSON.stringify(call) };
  const response = await server!.miniflare.dispatchFetch("http://script/", init);
  return { status: response.status, body: (await response.json()) as Envelope };
}

const zones = [
  {
    name: "example.com",
    records: [
      { type: "A", name: "@", content: "192.0.2.1", proxied: true },
      { type: "MX", name: "@", content: "mail.example.com", priority: 10 },
    ],
  },
  { name: "empty.test" },
];

describe("a declared zone", () => {
  test("exists at the first request, and is created once", async () => {
    let client = await start({ config: { zones } });
    const [first] = await Promise.all(
      Array.from({ length: 10 }, () => client.call("GET", "/zones")),
    );
    expect(first!.body.result).toHaveLength(2);
    const { id } = (await client.ok("GET", "/zones?name=example.com"))[0];
    const path = `/zones/${id}/dns_records`;
    const records = await client.ok("GET", path);
    expect(records).toHaveLength(2);
    await client.ok("POST", path, { type: "A", name: "more", content: "192.0.2.2" });
    const serial = await client.serial(id);

    client = await start({ config: { zones } });
    expect(await client.ok("GET", path)).toHaveLength(3);
    expect(await client.serial(id)).toBe(serial);
  });

  test("is applied once for each start, also when the runtime has ended idle objects", async () => {
    // workerd ends an object that is idle for 10 s. A second script does it at once.
    const ending = {
      name: "ending",
      modules: true,
      compatibilityDate: "2026-08-01",
      compatibilityFlags: ["unsafe_module"],
      script: `
        import unsafe from "workerd:unsafe";
        export default {
          async fetch() {
            await unsafe.abortAllDurableObjects();
            return new Response(null, { status: 204 });
          },
        };`,
    };
    const client = await start({ config: { zones }, workers: [ending] });
    const { id } = (await client.ok("GET", "/zones?name=example.com"))[0];
    const records = `/zones/${id}/dns_records`;
    const [address] = await client.ok("GET", `${records}?type=A`);
    await client.ok("DELETE", `${records}/${address.id}`);
    const { id: emptyId } = (await client.ok("GET", "/zones?name=empty.test"))[0];
    await client.ok("DELETE", `/zones/${emptyId}`);
    const ended = await server!.miniflare.dispatchFetch("http://ending/");
    expect(ended.status).toBe(204);

    const answer = await fetch(`${server!.origin}/dns-query?name=example.com&type=A`);
    expect(await answer.json()).not.toHaveProperty("Answer");
    expect((await client.ok("GET", records)).map(({ type }: { type: string }) => type)).toEqual([
      "MX",
    ]);
    expect(await client.ok("GET", "/zones")).toHaveLength(1);
  });

  test("does without a record that conflicts with a record of the API, and says so", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const said = () => warn.mock.calls.flat().filter((line) => String(line).includes("[dns]"));
    const declared = [a("before"), a("www"), a("after")];
    const table = { zones: [{ name: "example.com", records: declared }] };
    let dns = await startTestDns(table, { folder });
    let { id } = (await dns.client.ok("GET", "/zones"))[0];
    const replaced = (
      await dns.client.ok("GET", `/zones/${id}/dns_records?name=www.example.com`)
    )[0];
    const alias = { type: "CNAME", name: "www", content: "example.org" };
    const batch = { deletes: [{ id: replaced.id }], posts: [alias] };
    await dns.client.ok("POST", `/zones/${id}/dns_records/batch`, batch);
    const lost = (await dns.client.ok("GET", `/zones/${id}/dns_records?name=after.example.com`))[0];
    await dns.client.ok("DELETE", `/zones/${id}/dns_records/${lost.id}`);
    await dns.stop();
    expect(said()).toEqual([]);

    dns = await startTestDns(table, { folder });
    onTestFinished(() => dns.stop());
    ({ id } = (await dns.client.ok("GET", "/zones"))[0]);
    const found = await dns.client.ok("GET", `/zones/${id}/dns_records`);
    const shown = found.map(({ type, name }: Record<string, string>) => `${type} ${name}`);
    expect(shown).toEqual(["A after.example.com", "A before.example.com", "CNAME www.example.com"]);
    await vi.waitUntil(() => said().length > 0, waitOptions);
    expect(said()).toEqual([
      "[dns]: records[1] of example.com (A www) is not created: A CNAME record with that host already " +
        "exists. Delete the other record (ledge dns delete) and start again, or remove records[1] from " +
        "the configuration.",
    ]);
  });

  test("has the same id on every server", async () => {
    const client = await start({ config: { zones } });
    const { id } = (await client.ok("GET", "/zones?name=example.com"))[0];
    const hash = createHash("sha256").update("zone example.com").digest("hex");
    expect(id).toBe(hash.slice(0, 32));
  });

  test.each<[Record<string, unknown>, string]>([
    [
      {
        zones: [
          {
            name: "x.test",
            records: [
              { type: "A", name: "@", content: "192.0.2.1" },
              { type: "A", name: "@" },
            ],
          },
        ],
      },
      "records[1] of x.test: content is a required field.",
    ],
    [{ nonsense: 1 }, "dns.nonsense is not a key"],
  ])("is refused in %j, with the reason", async (config, reason) => {
    const client = await start({ config });
    const answer = await client.call("GET", "/zones");
    expect(answer.status).toBe(500);
    expect(answer.body.errors).toEqual([{ code: 9450, message: expect.stringContaining(reason) }]);
  });
});

test("the configuration sets quotas, the length of comments, name rules and platform addresses", async () => {
  const config = {
    record_quota: 2,
    batch_quota: 3,
    tag_quota: 1,
    comment_length: 5,
    name_rules: "dns",
    platform_addresses: ["198.51.100.1", "127.0.0.1"],
    name_servers: ["ns.one.test", "ns.two.test"],
    email: "me@example.org",
    key: "secret-0123456789",
  };
  await start({ config });
  const client = new Client(server!.url, {
    "x-auth-email": "me@example.org",
    "x-auth-key": "secret-0123456789",
  });
  const zone = await client.ok("POST", "/zones", { name: "q.test" });
  expect(zone.name_servers).toEqual(["ns.one.test", "ns.two.test"]);
  const path = `/zones/${zone.id}/dns_records`;
  const code = async (body: unknown, suffix = "") =>
    (await client.call("POST", path + suffix, body)).body.errors.map((error) => error.code);
  expect(await code(a("x", { comment: "123456", tags: ["a:b", "c:d"] }))).toEqual([9313, 9300]);
  expect(await code(a("x", { content: "198.51.100.1" }))).toEqual([9431]);
  expect(await code({ posts: [a("a"), a("b"), a("c"), a("d")] }, "/batch")).toEqual([9442]);
  expect(await code({ posts: [a("a"), a("b"), a("c")] }, "/batch")).toEqual([81045]);
  expect(await code(a("1", { content: "127.0.0.1" }))).toEqual([]);
  expect(await code(a("2"))).toEqual([]);
  expect(await code(a("3"))).toEqual([81045]);
  expect(await client.ok("GET", `${path}/usage`)).toEqual({ record_quota: 2, record_usage: 2 });
  expect(
    (await client.importFile(zone.id, "a A 192.0.2.1\nb A 192.0.2.1\nc A 192.0.2.1")).body
      .errors[0]!.code,
  ).toBe(81045);
});

test("a proxied CNAME may point into another local zone if the chain ends at an address", async () => {
  const client = await start();
  const one = await client.createZone("one.test");
  const two = await client.createZone("two.test");
  const post = (zone: string, body: unknown) =>
    client.call("POST", `/zones/${zone}/dns_records`, body);
  expect((await post(one, cname("a", "b.two.test"))).body.errors[0]!.message).toBe(
    "Target b.two.test is not allowed for a proxied record.",
  );
  expect((await post(two, { type: "A", name: "c.one", content: "192.0.2.1" })).status).toBe(200);
  expect((await post(two, { type: "CNAME", name: "b", content: "c.one.two.test" })).status).toBe(
    200,
  );
  expect((await post(one, cname("a", "b.two.test"))).status).toBe(200);
  expect((await post(two, { type: "A", name: "*.w", content: "192.0.2.1" })).status).toBe(200);
  expect((await post(one, cname("w", "any.w.two.test"))).status).toBe(200);
  expect((await post(one, cname("far", "www.elsewhere.example"))).status).toBe(200);
  // A subdomain that is a separate zone, and a subdomain that is delegated.
  const sub = await client.createZone("sub.one.test");
  expect((await post(one, cname("s", "www.sub.one.test"))).status).toBe(400);
  expect((await post(sub, a("www"))).status).toBe(200);
  expect((await post(one, cname("s", "www.sub.one.test"))).status).toBe(200);
  expect((await post(one, { type: "NS", name: "gone", content: "ns.x.test" })).status).toBe(200);
  expect((await post(one, cname("d", "www.gone.one.test"))).status).toBe(200);
});

test("a service binding gives a script the same API without credentials", async () => {
  const script = {
    name: "script",
    modules: true,
    compatibilityDate: "2026-08-01",
    serviceBindings: { DNS: { name: "dns", entrypoint: "DnsApi" } },
    script: `export default {
      async fetch(request, env) {
        const { method, path, body, headers, faults } = await request.json();
        if (faults) await env.DNS.setFaults(faults);
        return env.DNS.fetch("http://dns/client/v4" + path, {
          method, headers: { "content-type": "application/json", ...headers },
          body: body ? JSON.stringify(body) : undefined,
        });
      }
    }`,
  };
  const client = await start({ config: { zones }, workers: [script] });
  const [zone] = (await ask({ method: "GET", path: "/zones?name=example.com" })).body.result;
  const path = `/zones/${zone.id}/dns_records`;
  const made = await ask({
    method: "POST",
    path,
    body: { type: "A", name: "from-script", content: "192.0.2.9" },
  });
  expect(await client.ok("GET", `${path}/${made.body.result.id}`)).toEqual(made.body.result);
  // Credentials in the request are checked.
  const wrong = await ask({
    method: "GET",
    path,
    headers: { authorization: "Bearer wrong-token" },
  });
  expect(wrong.status).toBe(403);
  const failed = await ask({ method: "GET", path, faults: [{ status: 503, times: 1 }] });
  expect(failed.status).toBe(503);
  expect((await ask({ method: "GET", path })).status).toBe(200);
});
