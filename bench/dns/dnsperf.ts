import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface Load {
  readonly port: number;
  /** A file with a name and a type on each line. */
  readonly queries: string;
  readonly seconds: number;
  readonly transport: "udp" | "tcp";
  /** Sets DO. */
  readonly dnssecOk: boolean;
}

export interface LoadResult {
  readonly completed: number;
  readonly queriesPerSecond: number;
  readonly lost: number;
}

/** As many sockets as a busy resolver has. */
const clients = 16;
const outstanding = 200;

export async function runDnsperf({
  port,
  queries,
  seconds,
  transport,
  dnssecOk,
}: Load): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)("dnsperf", [
    "-s",
    "127.0.0.1",
    "-p",
    String(port),
    "-d",
    queries,
    "-l",
    String(seconds),
    "-c",
    String(clients),
    "-q",
    String(outstanding),
    "-m",
    transport,
    ...(dnssecOk ? ["-D"] : []),
  ]);
  const read = (label: string): number =>
    Number(new RegExp(`${label}:\\s+([\\d.]+)`).exec(stdout)?.[1]);
  return {
    completed: read("Queries completed"),
    queriesPerSecond: read("Queries per second"),
    lost: read("Queries lost"),
  };
}
