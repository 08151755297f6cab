/**
 * Other name servers, for benchmarks and as secondaries. Each runs with its configuration in a
 * separate folder, on a loopback port, for a bounded time.
 */
import { execFileSync, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { encode } from "dns-packet";

interface PeerZone {
  readonly name: string;
  /** The path of a zone file. */
  readonly file: string;
}

export interface PeerPlace {
  /** An empty folder. */
  readonly folder: string;
  readonly port: number;
}

export interface RunningPeer {
  readonly port: number;
  readonly processId: number;
  stop(): Promise<void>;
}

export interface RunningProcess extends RunningPeer {
  /** The path of the log file. */
  readonly log: string;
}

export interface Peer {
  readonly name: string;
  /** The required programs, as Debian's packages install them. */
  readonly programs: readonly string[];
  start(zone: PeerZone, place: PeerPlace): Promise<RunningPeer>;
}

/** Longer than any run. The limit ends servers whose test process has died. */
const lifetimeMillisecondsMax = 20 * 60 * 1000;
const startMillisecondsMax = 60_000;

export function isInstalled({ programs }: Peer): boolean {
  return programs.every((program) => {
    try {
      execFileSync("which", [program], { stdio: "ignore", env: environment });
      return true;
    } catch {
      return false;
    }
  });
}

/** Debian installs servers in sbin, which is not on the path of every user. */
export const environment = {
  ...process.env,
  PATH: `${process.env["PATH"] ?? ""}:/usr/local/sbin:/usr/sbin:/sbin`,
};

/** Starts a server in the foreground, and waits until it answers for the zone. */
export async function startProcess(
  [program, ...args]: readonly [string, ...string[]],
  { port, folder, zoneName }: PeerPlace & { readonly zoneName: string },
): Promise<RunningProcess> {
  const logPath = join(folder, "log");
  const log = await open(logPath, "w");
  const child = spawn(program, args, {
    cwd: folder,
    env: environment,
    stdio: ["ignore", log.fd, log.fd],
    timeout: lifetimeMillisecondsMax,
  });
  await log.close();
  const readLog = (): string => readFileSync(logPath, "utf8").slice(-4000);
  const ended = once(child, "exit");
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    const kill = setTimeout(() => child.kill("SIGKILL"), 5000);
    await ended;
    clearTimeout(kill);
  };
  const failed = ended.then(() => {
    throw new Error(`${program} has ended:\n${readLog()}`);
  });
  try {
    await Promise.race([untilAnswering(port, zoneName), failed]);
  } catch (error) {
    await stop();
    throw new Error(`${program} does not answer:\n${readLog()}`, { cause: error });
  }
  failed.catch(() => {});
  return { port, processId: child.pid!, log: logPath, stop };
}

/** Asks for the zone's SOA until the answer has no error. */
export async function untilAnswering(port: number, zoneName: string): Promise<void> {
  const query = encode({ type: "query", id: 1, questions: [{ type: "SOA", name: zoneName }] });
  const socket = createSocket("udp4");
  const answered = Promise.withResolvers<void>();
  socket.on("message", (answer) => {
    if ((answer[3]! & 0x0f) === 0) answered.resolve();
  });
  socket.on("error", () => {});
  const ask = (): void => socket.send(query, port, "127.0.0.1");
  const asking = setInterval(ask, 50);
  const late = setTimeout(
    () => answered.reject(new Error("no answer arrived in time")),
    startMillisecondsMax,
  );
  try {
    ask();
    await answered.promise;
  } finally {
    clearInterval(asking);
    clearTimeout(late);
    socket.close();
  }
}
