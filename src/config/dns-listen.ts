/** What `[dns]` says of the listeners: where they listen, how many there are, whom they ask. */
import { isIP } from "node:net";
import type { Table } from "./config-file.ts";
import type { Report } from "./mistakes.ts";
import { parseServer } from "../dns/client/server-address.ts";

export interface ListenConfig {
  readonly hosts: readonly string[];
  /** Hosts that were not asked for by name are left out where the machine lacks them. */
  readonly hostsOptional: boolean;
  readonly threads?: number;
  readonly resolvers: readonly string[];
}

const hostsDefault = ["127.0.0.1", "::1"];
const threadsMax = 64;

export function readListenConfig(table: Table, report: Report): ListenConfig {
  const { threads } = table;
  const hosts = strings(table["hosts"] ?? hostsDefault);
  if (hosts === null || !hosts.every((host) => isIP(host) !== 0)) {
    report(["dns", "hosts"], "must be a list of IPv4 and IPv6 addresses to listen at.");
  }
  const resolvers = table["resolver"] === undefined ? [] : strings(table["resolver"]);
  if (resolvers === null || !resolvers.every((text) => parseServer(text) !== null)) {
    report(["dns", "resolver"], 'must be an address such as "192.0.2.53" or "192.0.2.53:5300".');
  }
  if (threads !== undefined && !isThreadCount(threads)) {
    report(["dns", "threads"], `must be a number, 1 to ${threadsMax}.`);
  }
  return {
    hosts: hosts ?? [],
    hostsOptional: table["hosts"] === undefined,
    resolvers: resolvers ?? [],
    ...(threads !== undefined && { threads: Number(threads) }),
  };
}

function isThreadCount(input: unknown): boolean {
  return Number.isInteger(input) && Number(input) >= 1 && Number(input) <= threadsMax;
}

/** One, or a list. */
function strings(input: unknown): readonly string[] | null {
  const list: unknown = typeof input === "string" ? [input] : input;
  if (!Array.isArray(list) || list.length === 0) return null;
  return list.every((item) => typeof item === "string") ? list : null;
}
