/** Servers that end with the tests of a file, and sockets that end with a test. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { afterAll, onTestFinished } from "vitest";
import { Client } from "./client.ts";
import { startTestDns, type TestDns } from "./running-dns.ts";
import { startServer, type Server, type ServerOptions } from "./server.ts";

/** The companion worker alone, and a client of its record API. */
export async function useServer(
  options: ServerOptions = {},
): Promise<{ readonly server: Server; readonly client: Client }> {
  const server = await startServer(options);
  afterAll(() => server.stop());
  return { server, client: new Client(server.url) };
}

export async function useDns(...args: Parameters<typeof startTestDns>): Promise<TestDns> {
  const running = await startTestDns(...args);
  afterAll(() => running.stop());
  return running;
}

/** A UDP socket on loopback. Returns its port. */
export async function useUdp(
  onMessage: (message: Buffer, reply: (answer: Uint8Array) => void) => void = () => {},
): Promise<number> {
  const socket = createSocket("udp4");
  socket.on("message", (message, { port, address }) =>
    onMessage(message, (answer) => socket.send(answer, port, address)),
  );
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => void socket.close());
  return socket.address().port;
}
