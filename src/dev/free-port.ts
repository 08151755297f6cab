/** Ports for servers on this machine. */
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** How many are tried, one after the other, before any port at all is taken. */
const triesMax = 20;

/** The port itself, or the next one that nobody listens on; for 0, any. */
export async function freePort(wanted: number, host: string): Promise<number> {
  const hosts = addresses(host);
  if (wanted !== 0) {
    const last = Math.min(wanted + triesMax, 65_535);
    for (let port = wanted; port <= last; port++) {
      if (await isFree(port, hosts)) return port;
    }
  }
  return (await listen(0, hosts[0] as string)) as number;
}

/** A name may stand for two addresses, and a runtime may take either. */
function addresses(host: string): string[] {
  if (host === "localhost") return ["127.0.0.1", "::1"];
  if (host === "*") return ["0.0.0.0", "::"];
  return [host];
}

async function isFree(port: number, hosts: readonly string[]): Promise<boolean> {
  for (const host of hosts) {
    if ((await listen(port, host)) === null) return false;
  }
  return true;
}

/** Listens for a moment. Gives the port, or `null` where somebody else does already. */
function listen(port: number, host: string): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(null);
      // A machine without IPv6: nobody can be there.
      else if (error.code === "EADDRNOTAVAIL" || error.code === "EAFNOSUPPORT") resolve(port);
      else reject(error);
    });
    server.listen({ port, host, exclusive: true }, () => {
      const { port: taken } = server.address() as AddressInfo;
      server.close(() => resolve(taken));
    });
  });
}
