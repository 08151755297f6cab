/** The publications of the worker: their content, their order, and that writes wait for them. */
import { Readable } from "node:stream";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { readState } from "../../src/dns/replication/listener-protocol.ts";
import type { Publication } from "../../src/dns/replication/publication.ts";
import { Client } from "./support/client.ts";
import { startServer, type ServerOptions } from "./support/server.ts";

const secret = "a secret of this test";

async function start(options: ServerOptions): Promise<{ client: Client; origin: string }> {
  const server = await startServer(options);
  onTestFinished(() => server.stop());
  return { client: new Client(server.url), origin: server.origin };
}

/** Listeners that record every batch, and delay the reply while `hold` is set. */
async function fakeListeners() {
  const batches: Publication[][] = [];
  const listeners = { batches, hold: false, held: [] as ServerResponse[], address: "" };
  const server = createServer(async (request, response) => {
    expect(request.headers["x-ledge-secret"]).toBe(secret);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    batches.push(JSON.parse(Buffer.concat(chunks).toString()) as Publication[]);
    if (listeners.hold) listeners.held.push(response);
    else response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  listeners.address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return listeners;
}

const record = (name: string) => ({ type: "A", name, content: "192.0.2.1", ttl: 60 });

test("a write returns once the listeners have it; concurrent writes share the next message", async () => {
  const listeners = await fakeListeners();
  const { client } = await start({ listeners: { address: listeners.address, secret } });
  const zoneId = await client.createZone("example.org");
  const path = `/zones/${zoneId}/dns_records`;
  expect(listeners.batches).toMatchObject([[{ kind: "state", data: { name: "example.org" } }]]);

  listeners.hold = true;
  let returned = 0;
  const first = client.ok("POST", path, record("first")).then(() => (returned += 1));
  await expect.poll(() => listeners.held.length).toBe(1);
  const others = Array.from({ length: 20 }, (_, index) =>
    client.ok("POST", path, record(`other-${index}`)).then(() => (returned += 1)),
  );
  // All records are in the zone, and no call has returned.
  await expect.poll(async () => ((await client.ok("GET", path)) as unknown[]).length).toBe(21);
  expect(returned).toBe(0);
  listeners.hold = false;
  listeners.held[0]!.writeHead(204).end();
  await Promise.all([first, ...others]);

  expect(listeners.batches.length).toBeLessThan(10);
  const changes = listeners.batches.flat().slice(1);
  expect(changes).toHaveLength(21);
  let at = (listeners.batches[0]![0] as { data: { serial: number } }).data.serial;
  for (const publication of changes) {
    expect(publication).toMatchObject({ kind: "change", zoneId, from: at });
    at = (publication as { change: { serial: number } }).change.serial;
  }
});

test("a write that fails or changes nothing is not published", async () => {
  const listeners = await fakeListeners();
  const { client } = await start({ listeners: { address: listeners.address, secret } });
  const zoneId = await client.createZone("example.org");
  const path = `/zones/${zoneId}/dns_records`;
  const { id } = await client.ok("POST", path, record("www"));
  const published = listeners.batches.length;
  expect((await client.call("POST", path, record("www"))).status).toBe(400);
  await client.ok("PATCH", `${path}/${id}`, { content: "192.0.2.1" });
  const batch = { posts: [record("one"), record("www")] };
  expect((await client.call("POST", `${path}/batch`, batch)).status).toBe(400);
  expect(listeners.batches).toHaveLength(published);
});

test("unreachable listeners do not fail a write", async () => {
  const listeners = { address: "127.0.0.1:1", secret };
  const { client } = await start({ listeners });
  const zoneId = await client.createZone("example.org");
  await client.ok("POST", `/zones/${zoneId}/dns_records`, record("www"));
  await client.ok("DELETE", `/zones/${zoneId}`);
  expect(await client.ok("GET", "/zones")).toEqual([]);
});

test("the state of zones requires the secret", async () => {
  const { address } = await fakeListeners();
  const { client, origin } = await start({ listeners: { address, secret } });
  const zoneId = await client.createZone("example.org");
  await client.ok("POST", `/zones/${zoneId}/dns_records`, { ...record("www"), comment: "mine" });
  const get = (path: string, given?: string) =>
    fetch(origin + path, { headers: given === undefined ? {} : { "x-ledge-secret": given } });
  for (const path of ["/ledge/zones", `/ledge/zones/${zoneId}`]) {
    expect((await get(path)).status).toBe(404);
    expect((await get(path, "another")).status).toBe(404);
  }
  expect(await (await get("/ledge/zones", secret)).json()).toEqual([zoneId]);
  const state = await (await get(`/ledge/zones/${zoneId}`, secret)).text();
  expect(await readState(Readable.from([state]))).toMatchObject({
    name: "example.org",
    records: [{ name: "www.example.org", content: "192.0.2.1" }],
  });
  expect(state).not.toContain("mine");
  expect((await get(`/ledge/zones/${"0".repeat(32)}`, secret)).status).toBe(404);
});

test("a worker without a secret does not serve the state of zones", async () => {
  const { origin } = await start({});
  const headers = { "x-ledge-secret": "" };
  expect((await fetch(`${origin}/ledge/zones`, { headers })).status).toBe(404);
});
