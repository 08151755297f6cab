/** What `[dns]` says of the listeners, checked before anything starts. */
import { isIP } from "node:net";
import { UserError } from "../plugin/user-error.ts";

export interface ListenConfig {
  readonly port: number;
  readonly hosts: readonly string[];
  /** Hosts that were not asked for by name are left out where the machine lacks them. */
  readonly hostsOptional: boolean;
  readonly threads?: number;
  readonly resolvers: readonly string[];
}

type Table = Readonly<Record<string, unknown>>;

const PORT_DEFAULT = 8053;
const HOSTS_DEFAULT = ["127.0.0.1", "::1"];
const THREADS_MAX = 64;

/** An address, with a port perhaps: 192.0.2.53, 192.0.2.53:5300, 2001:db8::53, [2001:db8::53]:5300. */
function isServer(text: string): boolean {
  const withPort = /^\[(.+)\]:(\d{1,5})$/.exec(text) ?? /^([^:]+):(\d{1,5})$/.exec(text);
  if (withPort === null) return isIP(text) !== 0;
  return isIP(withPort[1]!) !== 0 && Number(withPort[2]) < 65_536;
}

/** One, or a list. */
function strings(input: unknown): readonly string[] | null {
  const list: unknown = typeof input === "string" ? [input] : input;
  if (!Array.isArray(list) || list.length === 0) return null;
  return list.every((item) => typeof item === "string") ? list : null;
}

export function readListenConfig(table: Table, place = "The configuration"): ListenConfig {
  const fail = (what: string): never => {
    throw new UserError(`${place}: ${what}.`);
  };
  const port = readPort(table, "port", PORT_DEFAULT, place);
  const hosts = strings(table["hosts"] ?? HOSTS_DEFAULT);
  if (hosts === null || !hosts.every((host) => isIP(host) !== 0)) {
    return fail("dns.hosts must be a list of IPv4 and IPv6 addresses to listen at");
  }
  const resolvers = table["resolver"] === undefined ? [] : strings(table["resolver"]);
  if (resolvers === null || !resolvers.every(isServer)) {
    return fail('dns.resolver must be an address such as "192.0.2.53" or "192.0.2.53:5300"');
  }
  const hostsOptional = table["hosts"] === undefined;
  const config = { port, hosts, hostsOptional, resolvers };
  const { threads } = table;
  if (threads === undefined) return config;
  if (!Number.isInteger(threads) || Number(threads) < 1 || Number(threads) > THREADS_MAX) {
    return fail(`dns.threads must be a number, 1 to ${THREADS_MAX}`);
  }
  return { ...config, threads: Number(threads) };
}

export function readPort(
  table: Table,
  key: string,
  otherwise: number,
  place = "The configuration",
): number {
  const port = table[key] ?? otherwise;
  if (Number.isInteger(port) && Number(port) >= 0 && Number(port) < 65_536) return Number(port);
  throw new UserError(`${place}: dns.${key} must be a port, 0 to 65535.`);
}
