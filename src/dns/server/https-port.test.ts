/** The port of https: a port that is taken, and certificates of servers that run for months. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { HttpsPort } from "./https-port.ts";

const dayMilliseconds = 86_400_000;
const names = ["api.example"];
let folder: string;
let lines: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ledge-https-port-"));
  lines = [];
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

async function open(options: Partial<Parameters<typeof HttpsPort.open>[0]> = {}) {
  const port = await HttpsPort.open({
    folder,
    names,
    host: "127.0.0.1",
    port: 0,
    log: (text) => lines.push(text),
    ...options,
  });
  onTestFinished(() => port.close());
  return port;
}

/** The end of the certificate that a new connection gets. */
async function certificateEnd(port: number): Promise<Date> {
  // OpenSSL reads the real clock, for which the certificates of this test are from the future.
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { valid_to: end } = socket.getPeerCertificate();
  socket.destroy();
  return new Date(end);
}

it("renews the certificate of a running server 30 days before its end", async () => {
  const start = new Date("2030-01-01T00:00:00Z");
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"], now: start });
  const { port } = await open();
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
  const { port, url } = await open({ port: taken });
  expect(port).not.toBe(taken);
  expect(url).toBe(`https://localhost:${port}/client/v4`);
  expect(lines).toEqual([`Port ${taken} is taken: https of the DNS API uses another port.`]);
});

it("says that an authority for other names has to be trusted", async () => {
  await open();
  expect(lines).toEqual([]);
  await open({ names: ["other.example"] });
  expect(lines).toEqual([expect.stringContaining("ledge dns trust")]);
});
