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
import { isTsigAlgorithm, type TsigKey } from "../dns/wire/tsig-mac.ts";
import { normaliseHostname } from "../dns/record/field/hostname.ts";
import { isTable, type Table } from "./config-file.ts";
import type { Report } from "./mistakes.ts";
import { unknownKey } from "../base/nearest.ts";
import type { Path } from "./place.ts";
import { parseServer } from "../dns/client/server-address.ts";

/** A secondary name server, which is notified of changes. */
export interface Secondary {
  readonly host: string;
  readonly port: number;
  readonly key?: TsigKey;
}

export interface TransferConfig {
  readonly keys: readonly TsigKey[];
  /** Addresses, networks (`10.0.0.0/8`) and keys (`key:NAME`): one of them is enough. */
  readonly allow: readonly string[];
  readonly secondaries: readonly Secondary[];
}

/** Whoever is on this machine can read the zones as well as we. */
const allowDefault = ["127.0.0.1", "::1"];
const keyPrefix = "key:";

export function readTransferConfig(table: Table, report: Report): TransferConfig {
  const keys = tables(table["keys"], ["dns", "keys"], report).flatMap((item, index) => {
    return readKey(item, ["dns", "keys", index], report) ?? [];
  });
  const given = table["transfers"] ?? {};
  const path = ["dns", "transfers"];
  if (!isTable(given)) {
    report(path, "must be a table.");
    return { keys, allow: [], secondaries: [] };
  }
  reportUnknown(given, ["allow", "notify"], path, report);
  const notify = [...path, "notify"];
  return {
    keys,
    allow: readAllow(given["allow"] ?? allowDefault, keys, report),
    secondaries: tables(given["notify"], notify, report).flatMap((item, index) => {
      return readSecondary(item, [...notify, index], keys, report) ?? [];
    }),
  };
}

function readKey(item: Table, path: Path, report: Report): TsigKey | null {
  reportUnknown(item, ["name", "algorithm", "secret"], path, report);
  const { algorithm = "hmac-sha256" } = item;
  const name = typeof item["name"] === "string" ? normaliseHostname(item["name"]) : null;
  const secret = parseSecret(item["secret"]);
  const isKnown = typeof algorithm === "string" && isTsigAlgorithm(algorithm);
  if (name === null) report([...path, "name"], 'must be a name such as "to-bind".');
  if (!isKnown) {
    const known = '"hmac-sha256", "hmac-sha384", "hmac-sha512" or "hmac-sha1"';
    report([...path, "algorithm"], `must be ${known}.`);
  }
  if (secret === null) report([...path, "secret"], "must be base64 that is not empty.");
  return name === null || !isKnown || secret === null ? null : { name, algorithm, secret };
}

/** Node leaves out what is no base64; a secret that is cut would fail only later, and elsewhere. */
export function parseSecret(input: unknown): Uint8Array | null {
  if (typeof input !== "string") return null;
  const octets = Buffer.from(input, "base64");
  const isWhole = octets.toString("base64").startsWith(input.replace(/=+$/, ""));
  return octets.length > 0 && isWhole ? new Uint8Array(octets) : null;
}

function readAllow(input: unknown, keys: readonly TsigKey[], report: Report): readonly string[] {
  const path = ["dns", "transfers", "allow"];
  if (!Array.isArray(input)) {
    report(path, "must be a list.");
    return [];
  }
  for (const [index, item] of input.entries()) {
    const problem = problemOfEntry(item, keys);
    if (problem !== null) report([...path, index], problem);
  }
  return input.map((item) => String(item).toLowerCase());
}

function problemOfEntry(item: unknown, keys: readonly TsigKey[]): string | null {
  const text = typeof item === "string" ? item.toLowerCase() : "";
  if (text.startsWith(keyPrefix)) {
    const wanted = text.slice(keyPrefix.length);
    const isThere = keys.some(({ name }) => name === wanted);
    return isThere ? null : `is "${wanted}", which is not in dns.keys.`;
  }
  const [address = "", bits, more] = text.split("/");
  const width = isIP(address) === 4 ? 32 : 128;
  const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width);
  if (isIP(address) !== 0 && isNetwork && more === undefined) return null;
  return 'must be an address, a network such as "10.0.0.0/8", or "key:NAME".';
}

function readSecondary(
  item: Table,
  path: Path,
  keys: readonly TsigKey[],
  report: Report,
): Secondary | null {
  reportUnknown(item, ["address", "key"], path, report);
  const server = typeof item["address"] === "string" ? parseServer(item["address"]) : null;
  if (server === null) report([...path, "address"], 'must be an address such as "127.0.0.1:5301".');
  const wanted = item["key"];
  const key = keys.find(({ name }) => typeof wanted === "string" && name === wanted.toLowerCase());
  if (wanted !== undefined && key === undefined) {
    report([...path, "key"], `is ${JSON.stringify(wanted)}, which is not in dns.keys.`);
  }
  return server && { ...server, ...(key !== undefined && { key }) };
}

function tables(input: unknown, path: Path, report: Report): readonly Table[] {
  if (input === undefined) return [];
  if (Array.isArray(input) && input.every(isTable)) return input;
  report(path, "must be a list of tables.");
  return [];
}

function reportUnknown(table: Table, known: readonly string[], path: Path, report: Report): void {
  for (const key of Object.keys(table)) {
    if (!known.includes(key)) report([...path, key], `${unknownKey(key, known)}.`);
  }
}
