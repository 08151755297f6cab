/** The sockets of a thread: UDP, and TCP for the one that leads, at one port of every host. */
import { createSocket } from "node:dgram";
import type { Answerer } from "./answerer.ts";
import { openTcp, type TcpListener } from "./tcp.ts";
import { openUdp, type Endpoint } from "./udp.ts";

export interface BindOptions {
  readonly hosts: readonly string[];
  /** 0: any that is free everywhere. */
  readonly port: number;
  readonly tcp: boolean;
  readonly reusePort: boolean;
  /** Hosts that this machine does not have are left out. */
  readonly hostsOptional: boolean;
  readonly answerer: Answerer;
}

export interface Binding {
  readonly hosts: readonly string[];
  readonly port: number;
  close(): Promise<void>;
}

/** A port that is free for TCP may be taken for UDP; so many are tried. */
const attemptsMax = 20;
/** A machine without IPv6, or without an address of that family. */
const noSuchHost = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT"]);

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

/** All or nothing: what was opened is closed again when something fails. */
export async function bindAll(options: BindOptions): Promise<Binding> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await bindOnce(options);
    } catch (error) {
      const again = options.port === 0 && codeOf(error) === "EADDRINUSE";
      if (!again || attempt === attemptsMax) throw error;
    }
  }
}

async function bindOnce(options: BindOptions): Promise<Binding> {
  const opened: { close(): unknown }[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((socket) => socket.close()));
  };
  const hosts: string[] = [];
  let { port } = options;
  let absent: unknown;
  try {
    for (const host of options.hosts) {
      try {
        port = await bindHost({ ...options, host, port }, opened);
        hosts.push(host);
      } catch (error) {
        if (!options.hostsOptional || !noSuchHost.has(codeOf(error))) throw error;
        absent = error;
      }
    }
    if (hosts.length === 0) throw absent;
  } catch (error) {
    await close();
    throw error;
  }
  return { hosts, port, close };
}

/** TCP comes first: its socket shares with nobody, and so finds out who else is there. */
async function bindHost(
  options: BindOptions & Endpoint,
  opened: { close(): unknown }[],
): Promise<number> {
  let { port } = options;
  if (options.tcp) {
    const tcp: TcpListener = await openTcp(options);
    opened.push(tcp);
    port = tcp.port;
    if (options.reusePort) await checkAlone({ host: options.host, port });
  }
  opened.push(await openUdp({ ...options, port }));
  return port;
}

/** Sockets that share a port share it with any other that does. This one does not. */
function checkAlone({ host, port }: Endpoint): Promise<void> {
  const socket = createSocket({ type: host.includes(":") ? "udp6" : "udp4", ipv6Only: true });
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.bind({ port, address: host, exclusive: true }, () => socket.close(() => resolve()));
  });
}
