/** The sockets of a listener thread, at one port of every host: UDP, and TCP in the first thread. */
import type { ServerAddress } from "../config/dns-table.ts";
import type { QueryHandler } from "./query-handler.ts";
import { openTcp } from "./tcp.ts";
import { checkUnshared, openUdp } from "./udp.ts";

export interface BindOptions {
  readonly hosts: readonly string[];
  /** 0: any port that is free on every host, for UDP and TCP. */
  readonly port: number;
  readonly tcp: boolean;
  readonly reusePort: boolean;
  /** Other threads of this server have the port already. */
  readonly isShared?: boolean;
  /** Leave out hosts that this machine does not have. */
  readonly hostsOptional: boolean;
  readonly handler: QueryHandler;
}

export interface BoundSockets {
  readonly hosts: readonly string[];
  readonly port: number;
  close(): Promise<void>;
}

/** The system's free port for TCP may be taken for UDP. */
const attemptsMax = 20;
/** The codes of a machine without IPv6, or without this address. */
const absentHostCodes = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT"]);

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

/** Binds all sockets, or none: a failure closes the sockets that were bound before it. */
export async function bindSockets(options: BindOptions): Promise<BoundSockets> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await bindOnce(options);
    } catch (error) {
      const canRetry = options.port === 0 && codeOf(error) === "EADDRINUSE";
      if (!canRetry || attempt === attemptsMax) throw error;
    }
  }
}

async function bindOnce(options: BindOptions): Promise<BoundSockets> {
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
        if (!options.hostsOptional || !absentHostCodes.has(codeOf(error))) throw error;
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

/** TCP comes first: its socket never shares a port, so it detects another server. */
async function bindHost(
  options: BindOptions & ServerAddress,
  opened: { close(): unknown }[],
): Promise<number> {
  let { port } = options;
  if (options.tcp) {
    const tcp = await openTcp(options);
    opened.push(tcp);
    port = tcp.port;
    if (options.reusePort && options.isShared !== true)
      await checkUnshared({ host: options.host, port });
  }
  opened.push(await openUdp({ ...options, port }));
  return port;
}
