/** Connections of well-behaved and of misbehaving clients, over TCP and over TLS. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import { decode, encode } from "dns-packet";
import { describe, expect, it, onTestFinished } from "vitest";
import { Authority } from "../../tls/authority.ts";
import { ExternalAddressCache, type ExternalResult } from "../answer/external-addresses.ts";
import type { QuerySource } from "../answer/query.ts";
import { Responder } from "../answer/responder.ts";
import { serve } from "../../../test/dns/support/served.ts";
import { frame, Frames } from "../wire/message.ts";
import { makeQueryHandler } from "./query-handler.ts";
import { openTcp, type TcpOptions } from "./sockets.ts";

const big = Array.from({ length: 200 }, (_, at) => `big 60 TXT "${String(at).padEnd(200, "x")}"`);
// A CNAME at the apex is flattened, so its query waits for the resolver.
const zones = serve({
  "example.org": ["@ 60 CNAME far.example.net.", "www 60 A 192.0.2.1", ...big].join("\n"),
});

const folder = mkdtempSync(join(tmpdir(), "ledge-sockets-"));
const authority = Authority.open(folder, [], new Date());
rmSync(folder, { recursive: true });
const certify = () => authority.certify([], new Date());

function noTransfer(): never {
  throw new Error("These tests have no transfers");
}

async function openAt(
  options: Partial<TcpOptions> = {},
  resolve: () => Promise<ExternalResult> = async () => "failed",
): Promise<number> {
  const external = new ExternalAddressCache();
  const responder = new Responder({ zones, external });
  const resolution = { external, resolve, nowSeconds: () => 1000 };
  const handle = makeQueryHandler({ ...resolution, responder, transfer: noTransfer });
  const listener = await openTcp({ host: "127.0.0.1", port: 0, handle, ...options });
  onTestFinished(() => listener.close());
  return listener.port;
}

async function dialTls(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const ca = authority.certificate;
  const socket = connectTls({ port, host: "127.0.0.1", ca, ALPNProtocols: ["dot"], ...options });
  onTestFinished(() => void socket.destroy());
  await once(socket, "secureConnect");
  socket.on("error", () => {});
  return socket;
}

async function dialTcp(port: number, allowHalfOpen = false): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen, noDelay: true });
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Resolves when the socket closes. A disconnect may arrive as an error. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

function query(id: number, name = "www.example.org", type: "A" | "TXT" = "A"): Uint8Array {
  return frame(encode({ type: "query", id, questions: [{ name, type }] }));
}

/** The identifiers of the next `count` responses, in order of arrival. */
async function answers(socket: Socket, count: number): Promise<number[]> {
  const frames = new Frames();
  const ids: number[] = [];
  for await (const piece of socket) {
    for (const message of frames.push(piece as Uint8Array)) {
      ids.push(decode(Buffer.from(message)).id!);
    }
    if (ids.length >= count) break;
  }
  return ids;
}

describe.each(["TCP", "TLS"])("openTcp() by %s", (transport) => {
  const isTls = transport === "TLS";
  const open = (options: Partial<TcpOptions> = {}, resolve?: () => Promise<ExternalResult>) =>
    openAt({ ...options, identity: isTls ? certify() : undefined }, resolve);
  const dial = (port: number, allowHalfOpen = false): Promise<Socket> =>
    isTls ? dialTls(port, { allowHalfOpen } as ConnectionOptions) : dialTcp(port, allowHalfOpen);

  it("answers a query that arrives octet by octet, and many that arrive at once", async () => {
    const port = await open();
    const slow = await dial(port);
    for (const octet of query(7)) slow.write(Uint8Array.of(octet));
    expect(await answers(slow, 1)).toEqual([7]);

    const fast = await dial(port);
    const ids = Array.from({ length: 1000 }, (_, id) => id);
    fast.write(Buffer.concat(ids.map((id) => query(id))));
    expect(await answers(fast, ids.length)).toEqual(ids);
  });

  it("waits for a slow client of a transfer as often as necessary, and leaves nothing behind", async () => {
    const warnings: string[] = [];
    const warn = ({ name }: Error): unknown => warnings.push(name);
    process.on("warning", warn);
    onTestFinished(() => void process.off("warning", warn));
    const message = new Uint8Array(16 * 1024);
    const messages = Array.from({ length: 2000 }, () => message);
    const handle = async function* (): AsyncGenerator<Uint8Array, void> {
      yield* messages;
    };
    const socket = await dial(await open({ handle }));
    socket.write(query(1));
    let octets = 0;
    for await (const piece of socket) {
      octets += (piece as Uint8Array).length;
      if (octets === messages.length * (message.length + 2)) break;
    }
    // Warnings arrive in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });

  it("sends responses as they are ready, not in the order of the queries", async () => {
    const resolved = Promise.withResolvers<ExternalResult>();
    const socket = await dial(await open({}, () => resolved.promise));
    socket.write(Buffer.concat([query(1, "example.org"), query(2)]));
    const found = answers(socket, 2);
    // The resolver answers after the second response.
    socket.once("data", () => resolved.resolve({ addresses: ["192.0.2.9"], ttlSeconds: 60 }));
    expect(await found).toEqual([2, 1]);
  });

  it("answers queries that were sent before the client closed its half", async () => {
    const resolved = Promise.withResolvers<ExternalResult>();
    const socket = await dial(await open({}, () => resolved.promise), true);
    socket.end(Buffer.concat([query(1, "example.org"), query(2)]));
    const found = answers(socket, 3);
    socket.once("data", () => resolved.resolve("failed"));
    // There were only two queries: the stream ends after two responses.
    expect(await found).toEqual([2, 1]);
  });

  it("stops reading from a client that reads no responses, and disconnects it", async () => {
    const socket = await dial(await open({ idleMilliseconds: 500 }));
    socket.pause();
    const flood = Buffer.concat(
      Array.from({ length: 500 }, () => query(1, "big.example.org", "TXT")),
    );
    const before = process.memoryUsage().external + process.memoryUsage().arrayBuffers;
    const gone = closed(socket);
    // Each query has a response of 40 KiB; the client sends while the server reads.
    const send = (): void => {
      while (!socket.destroyed && socket.write(flood));
    };
    socket.on("drain", send);
    send();
    await gone;
    const after = process.memoryUsage().external + process.memoryUsage().arrayBuffers;
    expect(after - before).toBeLessThan(64 * 1024 * 1024);
  });

  it("disconnects a client that never completes a query", async () => {
    const socket = await dial(await open({ idleMilliseconds: 300 }));
    const gone = closed(socket);
    // Single octets do not count as activity.
    const sending = setInterval(() => socket.write(Uint8Array.of(1)), 20);
    onTestFinished(() => clearInterval(sending));
    socket.write(Uint8Array.of(255, 255));
    await expect(gone).resolves.toBeUndefined();
  });

  it("replaces the connection that has been silent for longest", async () => {
    const port = await open({ connectionsMax: 2 });
    const [first, second] = [await dial(port), await dial(port)];
    first.write(query(1));
    await once(first, "data");
    second.write(query(2));
    await once(second, "data");
    first.write(query(3));
    await once(first, "data");
    const gone = closed(second);
    const third = await dial(port);
    third.write(query(4));
    expect(await answers(third, 1)).toEqual([4]);
    second.resume();
    await gone;
    first.write(query(5));
    expect(await answers(first, 1)).toEqual([5]);
  });

  it("stops reading from a client with a hundred queries at the resolver", async () => {
    const resolved = Promise.withResolvers<ExternalResult>();
    let asked = 0;
    const port = await open({}, () => {
      asked += 1;
      return resolved.promise;
    });
    const socket = await dial(port);
    const ids = Array.from({ length: 150 }, (_, id) => id);
    socket.write(Buffer.concat(ids.map((id) => query(id, "example.org"))));
    const other = await dial(port);
    other.write(query(1));
    expect(await answers(other, 1)).toEqual([1]);
    expect(asked).toBeLessThanOrEqual(100);
    const found = answers(socket, ids.length);
    resolved.resolve({ addresses: ["192.0.2.9"], ttlSeconds: 60 });
    expect((await found).sort((one, two) => one - two)).toEqual(ids);
  });
});

describe("openTcp() with a certificate", () => {
  it("answers clients that name the protocol of DNS over TLS, or none", async () => {
    const port = await openAt({ identity: certify() });
    const named = await dialTls(port);
    expect([named.authorized, named.alpnProtocol]).toEqual([true, "dot"]);
    const old = await dialTls(port, { ALPNProtocols: [], maxVersion: "TLSv1.2" });
    for (const socket of [named, old]) {
      socket.write(query(7));
      expect(await answers(socket, 1)).toEqual([7]);
    }
    await expect(dialTls(port, { ALPNProtocols: ["h2"] })).rejects.toThrow(
      "no application protocol",
    );
  });

  it("tells the handler that the query came over TLS", async () => {
    const sources: QuerySource[] = [];
    const port = await openAt({
      identity: certify(),
      handle: (asked, source) => {
        sources.push(source);
        return asked;
      },
    });
    const socket = await dialTls(port);
    socket.write(query(1));
    await answers(socket, 1);
    expect(sources).toMatchObject([{ transport: "tls", server: "127.0.0.1" }]);
    expect(sources[0]?.address).toEqual(Uint8Array.of(127, 0, 0, 1));
  });

  it("gives new connections the renewed certificate, and keeps the old connections", async () => {
    const listener = await openTcp({
      host: "127.0.0.1",
      port: 0,
      handle: (asked) => asked,
      identity: certify(),
    });
    onTestFinished(() => listener.close());
    const before = await dialTls(listener.port);
    listener.renew(certify());
    const after = await dialTls(listener.port);
    const serials = [before, after].map((socket) => socket.getPeerCertificate().serialNumber);
    expect(serials[0]).not.toBe(serials[1]);
    before.write(query(3));
    expect(await answers(before, 1)).toEqual([3]);
  });

  it.each([
    ["octets that are not TLS", query(1)],
    ["the start of a handshake", Uint8Array.of(22, 3, 1, 2, 0, 1)],
  ])("disconnects a client that sends %s", async (_, octets) => {
    const socket = await dialTcp(await openAt({ identity: certify(), idleMilliseconds: 300 }));
    socket.write(octets);
    socket.resume();
    await closed(socket);
    expect(socket.bytesRead).toBeLessThan(100);
  });

  it("counts a client whose handshake never ends as silent", async () => {
    const port = await openAt({ identity: certify(), connectionsMax: 1 });
    const waiting = await dialTcp(port);
    const gone = closed(waiting.resume());
    const socket = await dialTls(port);
    await gone;
    socket.write(query(7));
    expect(await answers(socket, 1)).toEqual([7]);
  });

  it("survives clients that reset their connections at any time", async () => {
    const port = await openAt({ identity: certify() });
    for (const octets of [new Uint8Array(), Uint8Array.of(22, 3, 1), query(1)]) {
      const raw = await dialTcp(port);
      raw.write(octets);
      raw.resetAndDestroy();
    }
    const socket = await dialTls(port);
    socket.write(query(7));
    expect(await answers(socket, 1)).toEqual([7]);
  });
});
