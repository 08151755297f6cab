/** Addresses of name servers in configuration files and on the command line. */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isPort } from "../base/ports.ts";

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

const dnsPort = 53;
const hostName = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9])?\.?$/i;

/** `192.0.2.53`, `192.0.2.53:5300`, `2001:db8::53` or `[2001:db8::53]:5300`. */
export function parseServer(text: string): ServerAddress | null {
  const server = split(text);
  return server !== null && isIP(server.host) !== 0 ? server : null;
}

/** Parses the same forms, or looks up the name of a host, with or without a port. */
export async function lookUpServer(text: string): Promise<ServerAddress | null> {
  const server = split(text);
  if (server === null || isIP(server.host) !== 0) return server;
  if (!hostName.test(server.host)) return null;
  try {
    const { address } = await lookup(server.host);
    return { host: address, port: server.port };
  } catch {
    return null;
  }
}

function split(text: string): ServerAddress | null {
  const [, host = text, port = String(dnsPort)] =
    /^\[(.+)\]:(\d{1,5})$/.exec(text) ?? /^([^:]+):(\d{1,5})$/.exec(text) ?? [];
  return isPort(Number(port)) && Number(port) > 0 ? { host, port: Number(port) } : null;
}
