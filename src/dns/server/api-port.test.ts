/** The ports of the record API in front of a server that stands for the companion worker, and certificates of servers that run for months. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect as connectPlain, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { Authority } from "../../tls/authority.ts";
import { ApiPort, openHttpsPort } from "./api-port.ts";
import { ServerCertificate } from "./server-certificate.ts";

const name = "api.example";
const received: string[] = [];
let folder: string;
let authority: Authority;
let opened: ApiPort;

/** Answers each piece that it gets, and holds the connection open as workerd does. */
const worker = createServer({ allowHalfOpen: true }, (socket) => {
  socket.on("error", () => {});
  socket.on("end", () => socket.end());
  socket.on("data", (piece: Buffer) => {
    received.push(piece.toString("latin1"));
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ledge-api-port-"));
  authority = Authority.open(join(folder, "https"), [name], new Date());
  received.length = 0;
  worker.listen(join(folder, "worker"));
  await once(worker, "listening");
  opened = await ApiPort.open({
    host: "127.0.0.1",
    port: 0,
    target: join(folder, "worker"),
    identity: authority.certify([name], new Date()),
  });
});

afterEach(async () => {
  await opened.close();
  worker.close();
  await once(worker, "close");
  rmSync(folder, { recursive: true });
});

async function connectTo(servername: string): Promise<TLSSocket> {
  const ca = authority.certificate;
  const socket = connect({ port: opened.port, host: "127.0.0.1", servername, ca });
  await once(socket, "secureConnect");
  return socket;
}

it("ends the connection with the response when the client asks for that", async () => {
  const socket = await connectTo(name);
  socket.write("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  expect(await text(socket)).toMatch(/\r\n\r\nok$/);
});

it("passes octets on that no HTTP parser of Node accepts", async () => {
  const socket = await connectTo(name);
  const request = "GET / HTTP/1.0\r\nHost: api.example\r\n\r\n\0\0";
  socket.write(request);
  expect(await text(socket)).toMatch(/\r\n\r\nok$/);
  expect(received.join("")).toBe(request);
});

it("has a certificate for its names only", async () => {
  await expect(connectTo("other.example")).rejects.toThrow(/Hostname\/IP does not match/);
});

it("gives new connections the renewed certificate, and keeps the old connections", async () => {
  const before = await connectTo(name);
  const { serialNumber } = before.getPeerCertificate();
  opened.renew(authority.certify([name], new Date()));
  const after = await connectTo(name);
  expect(after.getPeerCertificate().serialNumber).not.toBe(serialNumber);
  before.write("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  expect(await text(before)).toMatch(/ok$/);
  after.destroy();
});

it("closes a connection whose first head does not end, and no connection after a head", async () => {
  const port = await ApiPort.open({
    host: "127.0.0.1",
    port: 0,
    target: join(folder, "worker"),
    headMilliseconds: 500,
  });
  onTestFinished(() => port.close());
  const request = "GET / HTTP/1.1\r\nHost: api.example\r\n";
  const whole = connectPlain(port.port, "127.0.0.1");
  whole.write(`${request}\r\n`);
  await once(whole, "data");
  const half = connectPlain(port.port, "127.0.0.1");
  half.write(request);
  await once(half.resume(), "close");
  expect(half.bytesRead).toBe(0);
  whole.write(`${request}\r\n`);
  const [answer] = (await once(whole, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/\r\n\r\nok$/);
  whole.destroy();
});

it("answers a head that has arrived in time, after a stall of the process", async () => {
  const headMilliseconds = 500;
  const target = join(folder, "worker");
  const port = await ApiPort.open({ host: "127.0.0.1", port: 0, target, headMilliseconds });
  onTestFinished(() => port.close());
  const client = connectPlain(port.port, "127.0.0.1");
  await once(client, "connect");
  // The port accepts the connection in one of these turns.
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  client.write("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * headMilliseconds);
  expect(await text(client)).toMatch(/\r\n\r\nok$/);
});

/** The end of the certificate that a new connection gets. */
async function certificateEnd(port: number): Promise<Date> {
  // OpenSSL reads the real clock, for which the certificates of this test are from the future.
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { valid_to: end } = socket.getPeerCertificate();
  socket.destroy();
  return new Date(end);
}

describe("openHttpsPort()", () => {
  const dayMilliseconds = 86_400_000;
  let lines: string[];
  const log = (line: string): void => void lines.push(line);
  beforeEach(() => void (lines = []));
  afterEach(() => void vi.useRealTimers());

  async function open(wanted = 0, names = [name]): Promise<number> {
    const certificate = new ServerCertificate({ folder, names, log });
    const at = { folder, host: "127.0.0.1", port: wanted };
    const port = await openHttpsPort({ ...at, certificate, log });
    onTestFinished(() => {
      certificate.close();
      return port.close();
    });
    return port.port;
  }

  it("renews the certificate of a running server 30 days before its end", async () => {
    const start = new Date("2030-01-01T00:00:00Z");
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"], now: start });
    const port = await open();
    const day = (count: number): Date => new Date(start.getTime() + count * dayMilliseconds);
    expect(await certificateEnd(port)).toEqual(day(90));
    vi.advanceTimersByTime(59 * dayMilliseconds);
    expect(await certificateEnd(port)).toEqual(day(90));
    vi.advanceTimersByTime(dayMilliseconds);
    expect(await certificateEnd(port)).toEqual(day(150));
  });

  it("uses another port when the wanted port is taken, and says so", async () => {
    const other = createServer();
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    onTestFinished(() => void other.close());
    const { port: taken } = other.address() as AddressInfo;
    expect(await open(taken)).not.toBe(taken);
    expect(lines).toEqual([`Port ${taken} is taken: https of the DNS API uses another port.`]);
  });

  it("says that an authority for other names has to be trusted", async () => {
    await open();
    expect(lines).toEqual([]);
    await open(0, ["other.example"]);
    expect(lines).toEqual([expect.stringContaining("ledge dns trust")]);
  });
});
