/**
 * What `[dns]` says of secondaries: keys, who may transfer zones, and who is told of changes.
 *
 *     [[dns.keys]]
 *     name = "to-bind"
 *     algorithm = "hmac-sha256"
 *     secret = "…"                 # base64
 *
 *     [dns.transfers]
 *     allow = ["127.0.0.1", "10.0.0.0/8", "key:to-bind"]
 *     notify = [{ address = "127.0.0.1:5301", key = "to-bind" }]
 */
import { isIP } from "node:net";
import { isTsigAlgorithm, type TsigKey } from "../../../worker/wire/tsig-mac.ts";
import { normaliseHostname } from "../../../worker/zone/hostname.ts";
import { UserError } from "../../plugin/user-error.ts";
import type { Secondary } from "./notifier.ts";

export interface TransferConfig {
  readonly keys: readonly TsigKey[];
  /** Addresses, networks (`10.0.0.0/8`) and keys (`key:NAME`): one of them is enough. */
  readonly allow: readonly string[];
  readonly secondaries: readonly Secondary[];
}

type Table = Readonly<Record<string, unknown>>;

/** Whoever is on this machine can read the zones as well as we. */
const ALLOW_DEFAULT = ["127.0.0.1", "::1"];
const DNS_PORT = 53;
const KEY_PREFIX = "key:";

class Mistake extends Error {}

/** @param place what the mistake is in, for its message */
export function readTransferConfig(table: Table, place = "The configuration"): TransferConfig {
  try {
    const keys = tables(table["keys"], "dns.keys").map(readKey);
    const transfers = (table["transfers"] ?? {}) as Table;
    if (typeof transfers !== "object" || Array.isArray(transfers)) {
      throw new Mistake("dns.transfers must be a table");
    }
    onlyKnown(transfers, ["allow", "notify"], "dns.transfers");
    const names = new Set(keys.map(({ name }) => name));
    const allow = readAllow(transfers["allow"] ?? ALLOW_DEFAULT, names);
    const secondaries = tables(transfers["notify"], "dns.transfers.notify").map((item, index) =>
      readSecondary(item, `dns.transfers.notify[${index}]`, keys),
    );
    return { keys, allow, secondaries };
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    throw new UserError(`${place}: ${error.message}.`);
  }
}

/** `127.0.0.1`, `127.0.0.1:5301`, `::1` or `[::1]:5301`. */
export function parseServer(text: string): { host: string; port: number } | null {
  const [, host = text, port = String(DNS_PORT)] =
    /^\[(.+)\]:(\d{1,5})$/.exec(text) ?? /^([^:]+):(\d{1,5})$/.exec(text) ?? [];
  return isIP(host) !== 0 && Number(port) > 0 && Number(port) < 65_536
    ? { host, port: Number(port) }
    : null;
}

function readKey(item: Table, index: number): TsigKey {
  const place = `dns.keys[${index}]`;
  onlyKnown(item, ["name", "algorithm", "secret"], place);
  const name = typeof item["name"] === "string" ? normaliseHostname(item["name"]) : null;
  if (name === null) throw new Mistake(`${place}.name must be a name such as "to-bind"`);
  const algorithm = item["algorithm"] ?? "hmac-sha256";
  if (typeof algorithm !== "string" || !isTsigAlgorithm(algorithm)) {
    throw new Mistake(
      `${place}.algorithm must be "hmac-sha256", "hmac-sha384", "hmac-sha512" or "hmac-sha1"`,
    );
  }
  return { name, algorithm, secret: readSecret(item["secret"], `${place}.secret`) };
}

/** Base64 says nothing of a character that does not belong; a secret that is cut would only fail later. */
export function readSecret(input: unknown, place: string): Uint8Array {
  const octets = typeof input === "string" ? Buffer.from(input, "base64") : Buffer.alloc(0);
  if (
    octets.length === 0 ||
    octets.toString("base64").replace(/=+$/, "") !== String(input).replace(/=+$/, "")
  ) {
    throw new Mistake(`${place} must be base64 that is not empty`);
  }
  return new Uint8Array(octets);
}

function readAllow(input: unknown, keyNames: ReadonlySet<string>): readonly string[] {
  const place = "dns.transfers.allow";
  if (!Array.isArray(input)) throw new Mistake(`${place} must be a list`);
  return input.map((item: unknown, index) => {
    const text = typeof item === "string" ? item : "";
    if (text.startsWith(KEY_PREFIX)) {
      const name = text.slice(KEY_PREFIX.length).toLowerCase();
      if (keyNames.has(name)) return KEY_PREFIX + name;
      throw new Mistake(`${place}[${index}]: there is no key "${name}" in dns.keys`);
    }
    const [address = "", bits, more] = text.split("/");
    const family = isIP(address);
    const width = family === 4 ? 32 : 128;
    const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width);
    if (family !== 0 && isNetwork && more === undefined) return text;
    throw new Mistake(
      `${place}[${index}] must be an address, a network such as "10.0.0.0/8", or "key:NAME"`,
    );
  });
}

function readSecondary(item: Table, place: string, keys: readonly TsigKey[]): Secondary {
  onlyKnown(item, ["address", "key"], place);
  const server = typeof item["address"] === "string" ? parseServer(item["address"]) : null;
  if (server === null) {
    throw new Mistake(`${place}.address must be an address such as "127.0.0.1:5301"`);
  }
  if (item["key"] === undefined) return server;
  const key = keys.find(({ name }) => name === String(item["key"]).toLowerCase());
  if (key === undefined) throw new Mistake(`${place}.key: there is no such key in dns.keys`);
  return { ...server, key };
}

function tables(input: unknown, place: string): readonly Table[] {
  if (input === undefined) return [];
  const isTable = (item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item);
  if (Array.isArray(input) && input.every(isTable)) return input as Table[];
  throw new Mistake(`${place} must be a list of tables`);
}

function onlyKnown(table: Table, known: readonly string[], place: string): void {
  const unknown = Object.keys(table).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw new Mistake(`${place} has no "${unknown}": it has ${known.join(", ")}`);
}
