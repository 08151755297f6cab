/** TCP ports of this machine: valid, free, reserved, in use. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export const portMax = 65_535;
/** `findFreePort()` tries this many ports after the wanted port, then takes any free port. */
const nextPortsMax = 20;
/** A dev server on a busy machine takes longer than half a minute to start. */
const reservedMilliseconds = 120_000;
/** On one machine a connection is accepted or refused at once. A slower server is busy. */
const connectMilliseconds = 1000;

export function isPort(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= portMax;
}

/** The wanted port, or else the next port on which no server listens; for 0, any free port. */
export async function findFreePort(wanted: number, host: string): Promise<number> {
  if (wanted !== 0) {
    const last = Math.min(wanted + nextPortsMax, portMax);
    for (let port = wanted; port <= last; port++) {
      if (await isPortFree(port, host)) return port;
    }
  }
  return reservePort();
}

/** Another process may take the port between the look and the call; then the next free port counts. */
export async function listenAtFreePort(
  { port: wanted, host }: { readonly port: number; readonly host: string },
  listen: (port: number, host: string) => Promise<number>,
): Promise<number> {
  for (;;) {
    const port = await findFreePort(wanted, host);
    try {
      return await listen(port, host);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
}

export async function isPortFree(port: number, host: string): Promise<boolean> {
  for (const address of addressesOf(host)) {
    if (!(await canListen(port, address))) return false;
  }
  return true;
}

/** A name can stand for two addresses, and a runtime may listen on either. */
function addressesOf(host: string): string[] {
  if (host === "localhost") return ["127.0.0.1", "::1"];
  if (host === "*") return ["0.0.0.0", "::"];
  return [host];
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(false);
      // On a machine without IPv6 no other server has the port.
      else if (error.code === "EADDRNOTAVAIL" || error.code === "EAFNOSUPPORT") resolve(true);
      else reject(error);
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * A free port for a server whose port must be known before the server starts. An open connection
 * to the port keeps the system from assigning the port to another process for a while, and does
 * not keep workerd from listening on the port.
 */
async function reservePort(): Promise<number> {
  const server = createServer();
  const { promise: accepted, resolve } = Promise.withResolvers<Socket>();
  server.once("connection", resolve);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const sockets = [connect(port, "127.0.0.1"), await accepted];
  server.close();
  // On Windows an open connection does keep other servers from listening on the port.
  const milliseconds = process.platform === "win32" ? 0 : reservedMilliseconds;
  for (const socket of sockets) socket.unref().on("error", () => {});
  setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, milliseconds).unref();
  return port;
}

/** A slow server counts as listening, and so does a server that this process cannot reach. */
export function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (listening: boolean): void => {
      socket.destroy();
      resolve(listening);
    };
    socket.setTimeout(connectMilliseconds, () => settle(true));
    socket.once("connect", () => settle(true));
    socket.once("error", ({ code }: NodeJS.ErrnoException) => settle(code !== "ECONNREFUSED"));
  });
}
