/** The zones of a listener thread, against a fake companion worker. */
import { once } from "node:events";
import { createServer, request as send, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { zoneData } from "../../../test/dns/support/served.ts";
import { ServedZones } from "../answer/served-zones.ts";
import {
  logPath,
  publicationPath,
  secretHeader,
  stateLines,
  zonesPath,
} from "../replication/listener-protocol.ts";
import type { Publication } from "../replication/publication.ts";
import type { ServedRecord, ZoneData } from "../rules/zone.ts";
import { ReplicatedZones, startPublicationServer } from "./replicated-zones.ts";

function record(id: string): ServedRecord {
  const name = `${id}.example.org`;
  const rest = { priority: null, ttl: 60, proxied: false, settings: {} };
  return { id, name, type: "A", content: "192.0.2.1", ...rest };
}

function data(serial: number, ids: readonly string[]): ZoneData {
  return zoneData("example.org", ids.map(record), { id: "z", serial });
}

function change(from: number, added: string): Publication {
  const made = { serial: from + 1, removed: [], added: [record(added)] };
  return { kind: "change", zoneId: "z", from, change: made };
}

/** A worker with one zone, which counts the requests for it. */
async function start(initial: ZoneData | null) {
  const worker = { zone: initial, requests: 0, hold: Promise.resolve() };
  const server = createServer(async (request, response) => {
    if (request.headers[secretHeader] !== "secret") return response.writeHead(404).end();
    if (request.url === zonesPath) return response.end('["z"]');
    worker.requests += 1;
    const { zone } = worker;
    await worker.hold;
    if (zone === null) return response.writeHead(404).end();
    return response.end([...stateLines(zone)].join(""));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const zones = new ServedZones({ platformAddresses: [] });
  const replicated = new ReplicatedZones(zones, { secret: "secret", onChange: () => {} });
  onTestFinished(() => {
    replicated.stop();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const serial = () => zones.get("z")?.serial ?? null;
  return { worker, server, zones, replicated, origin, serial };
}

describe("ReplicatedZones", () => {
  it("applies changes in sequence without a request", async () => {
    const { worker, replicated, origin, serial } = await start(data(1, ["a"]));
    await replicated.load(origin);
    await replicated.apply([change(1, "b"), change(2, "c")]);
    expect(serial()).toBe(3);
    expect(worker.requests).toBe(1);
  });

  it("fetches the zone after a lost publication, and ignores older publications", async () => {
    const { worker, replicated, origin, serial } = await start(data(1, ["a"]));
    await replicated.load(origin);
    worker.zone = data(5, ["a", "b"]);
    await replicated.apply([change(4, "b")]);
    expect(serial()).toBe(5);
    expect(worker.requests).toBe(2);
    await replicated.apply([change(3, "x"), change(4, "b")]);
    expect(serial()).toBe(5);
    expect(worker.requests).toBe(2);
  });

  it("sends a request again that meets the end of an idle connection", async () => {
    const { worker, server, replicated, origin, serial } = await start(data(1, ["a"]));
    const connections = new Set<Socket>();
    server.prependListener("request", ({ socket }: IncomingMessage) => {
      if (connections.has(socket)) socket.destroy();
      connections.add(socket);
    });
    await replicated.load(origin);
    expect(serial()).toBe(1);
    worker.zone = data(5, ["a", "b"]);
    await replicated.apply([change(4, "b")]);
    expect(serial()).toBe(5);
    expect(connections.size).toBe(3);
  });

  it("applies a publication that arrives during a load after the load", async () => {
    const { worker, replicated, origin, serial } = await start(data(1, ["a"]));
    const held = Promise.withResolvers<void>();
    worker.hold = held.promise;
    const starting = replicated.load(origin);
    while (worker.requests === 0) await new Promise(setImmediate);
    const applying = replicated.apply([change(1, "b")]);
    held.resolve();
    await Promise.all([starting, applying]);
    expect(serial()).toBe(2);
    expect(worker.requests).toBe(1);
  });

  it("adds and removes zones as published, and as fetched", async () => {
    const { worker, replicated, origin, serial } = await start(null);
    await replicated.load(origin);
    expect(serial()).toBe(null);
    await replicated.apply([{ kind: "state", data: data(7, []) }]);
    expect(serial()).toBe(7);
    await replicated.apply([{ kind: "removed", zoneId: "z" }]);
    expect(serial()).toBe(null);
    await replicated.apply([change(8, "a")]);
    expect(serial()).toBe(null);
    expect(worker.requests).toBe(2);
  });

  it("loads a zone with more records than a line has", async () => {
    const ids = Array.from({ length: 2500 }, (_, index) => `r${index}`);
    const { zones, replicated, origin } = await start(data(1, ids));
    await replicated.load(origin);
    expect(zones.get("z")?.serial).toBe(1);
    expect([...stateLines(data(1, ids))]).toHaveLength(4);
  });
});

describe("startPublicationServer()", () => {
  const secret = "secret-of-this-start";

  async function serve() {
    const applied: unknown[] = [];
    const server = await startPublicationServer({
      port: 0,
      secret,
      calls: {
        [publicationPath]: (given) => void applied.push(given),
        [logPath]: () => [],
      },
    });
    onTestFinished(() => server.stop());
    const post = async (path: string, headers: Record<string, string>, body = "[]") => {
      const sent = send(`http://${server.address}${path}`, { method: "POST", headers });
      sent.end(body);
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    return { applied, post };
  }

  it("makes the calls that have the secret and a loopback host", async () => {
    const { applied, post } = await serve();
    expect(await post(publicationPath, { [secretHeader]: secret, host: "localhost" })).toBe(204);
    expect(await post(logPath, { [secretHeader]: secret })).toBe(200);
    expect(await post("/other", { [secretHeader]: secret })).toBe(404);
    expect(await post(publicationPath, { [secretHeader]: secret }, "{")).toBe(500);
    expect(applied).toEqual([[]]);
  });

  it("refuses other hosts, foreign pages and wrong secrets", async () => {
    const { applied, post } = await serve();
    const refused: Record<string, string>[] = [
      {},
      { [secretHeader]: "" },
      { [secretHeader]: `${secret}x` },
      { [secretHeader]: secret.slice(1) },
      { [secretHeader]: secret, host: "evil.example" },
      { [secretHeader]: secret, origin: "https://evil.example" },
    ];
    for (const headers of refused) expect(await post(publicationPath, headers)).toBe(403);
    expect(applied).toEqual([]);
  });
});
