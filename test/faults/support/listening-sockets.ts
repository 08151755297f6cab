/**
 * The sockets on which a process and its descendants listen, from Linux's /proc: a table of sockets
 * by inode, and the inodes that each process has open.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface ListeningSocket {
  readonly processId: number;
  readonly transport: "tcp" | "udp" | "unix";
  /** An IP address, or the path of a Unix socket (`@…` for a socket without a file). */
  readonly address: string;
  /** 0 for a Unix socket. */
  readonly port: number;
}

export const hasProc = process.platform === "linux";

/** The process and its descendants. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const parent = /^\d+$/.test(name) ? parentOf(Number(name)) : null;
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = [root];
  for (const each of tree) tree.push(...(children.get(each) ?? []));
  return tree;
}

/** The arguments of a process; empty for a process that has ended. */
export function argumentsOf(processId: number): string[] {
  return readText(`/proc/${processId}/cmdline`).split("\0").slice(0, -1);
}

export function listeningSockets(root: number): ListeningSocket[] {
  return processTree(root).flatMap((processId) => {
    const open = openSockets(processId);
    return [...tcpAndUdp(processId), ...unixSockets(processId)]
      .filter(({ inode }) => open.has(inode))
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

function openSockets(processId: number): Set<string> {
  const inodes = new Set<string>();
  try {
    for (const name of readdirSync(`/proc/${processId}/fd`)) {
      const target = readlinkSync(`/proc/${processId}/fd/${name}`);
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      if (inode !== undefined) inodes.add(inode);
    }
  } catch {
    // The process or the descriptor is gone.
  }
  return inodes;
}

function parentOf(processId: number): number | null {
  // The name of the program, in brackets, may contain spaces and brackets.
  const fields = readText(`/proc/${processId}/stat`).split(") ").at(-1)?.split(" ");
  return fields?.[1] === undefined ? null : Number(fields[1]);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
