/** Ports for servers on this machine. */
import { createServer } from "node:net";
import { reservePort } from "./reserved-port.ts";

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
  return reservePort();
}

/** A name may stand for two addresses, and a runtime may take either. */
function addresses(host: string): string[] {
  if (host === "localhost") return ["127.0.0.1", "::1"];
  if (host === "*") return ["0.0.0.0", "::"];
  return [host];
}

async function isFree(port: number, hosts: readonly string[]): Promise<boolean> {
  for (const host of hosts) {
    if (!(await canListen(port, host))) return false;
  }
  return true;
}

/** Listens for a moment. */
function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(false);
      // A machine without IPv6: nobody can be there.
      else if (error.code === "EADDRNOTAVAIL" || error.code === "EAFNOSUPPORT") resolve(true);
      else reject(error);
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
