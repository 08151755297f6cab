/**
 * The sockets on which a process and its descendants listen, from Linux's /proc: a table of sockets
 * by inode, and the inodes that each process has open.
 */
import { readFileSync } from "node:fs";
import { openFiles, processTreeIds } from "../../support/processes.ts";

export interface ListeningSocket {
  readonly processId: number;
  readonly transport: "tcp" | "udp" | "unix";
  /** An IP address, or the path of a Unix socket (`@…` for a socket without a file). */
  readonly address: string;
  /** 0 for a Unix socket. */
  readonly port: number;
}

export function listeningSockets(root: number): ListeningSocket[] {
  return processTreeIds(root).flatMap((processId) => {
    const open = new Set(openFiles(processId));
    return [...tcpAndUdp(processId), ...unixSockets(processId)]
      .filter(({ inode }) => open.has(`socket:[${inode}]`))
      .map(({ transport, address, port }) => ({ processId, transport, address, port }));
  });
}

/** The number of connections that a server on a port of this machine has; 0 without /proc. */
export function connectionCount(port: number): number {
  const established = "01";
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return ["tcp", "tcp6"].flatMap((table) =>
    rows(`/proc/self/net/${table}`).filter(
      ([, local = "", , state]) => local.endsWith(suffix) && state === established,
    ),
  ).length;
}

type Found = ListeningSocket & { readonly inode: string };

function tcpAndUdp(processId: number): Found[] {
  // A listening TCP socket, and a UDP socket without a peer.
  const states = { tcp: "0A", tcp6: "0A", udp: "07", udp6: "07" };
  return Object.entries(states).flatMap(([table, listening]) =>
    rows(`/proc/${processId}/net/${table}`).flatMap((columns): Found[] => {
      const [, local = "", , state, , , , , , inode = ""] = columns;
      if (state !== listening) return [];
      const [address = "", port = ""] = local.split(":");
      return [
        {
          processId,
          transport: table.startsWith("tcp") ? "tcp" : "udp",
          address: readAddress(address),
          port: Number.parseInt(port, 16),
          inode,
        },
      ];
    }),
  );
}

function unixSockets(processId: number): Found[] {
  const acceptsConnections = 0x10000;
  return rows(`/proc/${processId}/net/unix`).flatMap((columns): Found[] => {
    const [, , , flags = "", , , inode = "", path = ""] = columns;
    if ((Number.parseInt(flags, 16) & acceptsConnections) === 0) return [];
    return [{ processId, transport: "unix", address: path, port: 0, inode }];
  });
}

function rows(path: string): string[][] {
  const [, ...lines] = readText(path).trimEnd().split("\n");
  return lines.map((line) => line.trim().split(/\s+/));
}

/** The kernel writes words of 32 bits in the order of the machine's octets. */
function readAddress(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  const octets = words.flatMap((word) => [...Buffer.from(word, "hex")].toReversed());
  if (octets.length === 4) return octets.join(".");
  const isLoopback = octets.slice(0, -1).every((octet) => octet === 0) && octets.at(-1) === 1;
  return isLoopback ? "::1" : Buffer.from(octets).toString("hex");
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
