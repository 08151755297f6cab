/**
 * The machines of the example: two network namespaces on a bridge, or only ports of this machine.
 *
 * A namespace has its own addresses and ports, as a machine has. It needs root and `ip` of iproute2.
 */
import { execFileSync } from "node:child_process";

export interface Place {
  readonly name: string;
  /** Where the runtime listens: port 0 is any free port. */
  readonly address: string;
  /** The words before a command that runs there. */
  readonly command: readonly string[];
}

export interface Places {
  readonly runtimes: readonly Place[];
  /** An address of the host that the runtimes reach. */
  readonly hostAddress: string;
  /** A sentence for the start. */
  readonly description: string;
  remove(): void;
}

const count = 2;
/** The bridge, the namespaces and the addresses carry the id of the process that made them. */
const bridgePattern = /\bledge-(\d+)\b/g;

export function makePlaces({ onlyProcesses = false } = {}): Places {
  if (onlyProcesses) return processes("as --processes asks");
  const problem = namespaceProblem();
  return problem === null ? namespaces(process.pid) : processes(problem);
}

/** @param reason why there are no network namespaces */
function processes(reason: string): Places {
  return {
    runtimes: Array.from({ length: count }, (_, index) => ({
      name: `edge-${index + 1}`,
      address: "127.0.0.1:0",
      command: [],
    })),
    hostAddress: "127.0.0.1",
    description: `two processes on two ports: ${reason}`,
    remove() {},
  };
}

function namespaces(id: number): Places {
  removeLeftNamespaces();
  const network = `10.89.${id % 256}`;
  const bridge = `ledge-${id}`;
  ip("link", "add", bridge, "type", "bridge");
  ip("addr", "add", `${network}.1/24`, "dev", bridge);
  ip("link", "set", bridge, "up");
  const runtimes = Array.from({ length: count }, (_, index): Place => {
    const [name, outer] = [`${bridge}-${index + 1}`, `le${id}v${index + 1}`];
    const inside = ["-n", name];
    ip("netns", "add", name);
    ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", name);
    ip("link", "set", outer, "master", bridge, "up");
    ip(...inside, "addr", "add", `${network}.${index + 11}/24`, "dev", "eth0");
    for (const device of ["lo", "eth0"]) ip(...inside, "link", "set", device, "up");
    return {
      name: `edge-${index + 1}`,
      address: `${network}.${index + 11}:8080`,
      command: ["ip", "netns", "exec", name],
    };
  });
  return {
    runtimes,
    hostAddress: `${network}.1`,
    description: `two network namespaces, ${bridge}-1 and ${bridge}-2`,
    remove: () => removeNamespaces(id),
  };
}

/** @returns what network namespaces need and this process has not; `null` if nothing is missing */
function namespaceProblem(): string | null {
  if (process.getuid?.() !== 0) return "network namespaces need root";
  const probe = `ledge-${process.pid}-probe`;
  try {
    ip("netns", "add", probe);
    ip("netns", "delete", probe);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT"
      ? 'network namespaces need "ip" (apt-get install iproute2)'
      : "the system allows no network namespaces";
  }
}

/** Those of processes that were killed. */
function removeLeftNamespaces(): void {
  const found = `${ip("netns", "list")}\n${ip("-o", "link", "show")}`.matchAll(bridgePattern);
  const ids = new Set(Array.from(found, ([, id]) => Number(id)));
  for (const id of ids) if (!signal(id, 0)) removeNamespaces(id);
}

function removeNamespaces(id: number): void {
  for (let number = 1; number <= count; number++) {
    const name = `ledge-${id}-${number}`;
    // A runtime outlives a process that was killed.
    const runtimes = attempt("netns", "pids", name).split("\n").filter(Boolean);
    for (const runtime of runtimes) signal(Number(runtime), "SIGKILL");
    // The system removes a namespace some time after its deletion, and the link with the namespace.
    attempt("link", "delete", `le${id}v${number}`);
    attempt("netns", "delete", name);
  }
  attempt("link", "delete", `ledge-${id}`);
}

/** @returns whether there is such a process */
function signal(id: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(id, name);
  } catch {
    return false;
  }
}

/** What is missing needs no removal. */
function attempt(...words: string[]): string {
  try {
    return ip(...words);
  } catch {
    return "";
  }
}

function ip(...words: string[]): string {
  return execFileSync("ip", words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
