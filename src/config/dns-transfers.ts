/**
 * The keys of `[dns]` about secondaries: TSIG keys, the clients that may transfer zones, and the
 * servers that get a NOTIFY after a change.
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
import * as v from "valibot";
import { normaliseHostname } from "../dns/record/fields.ts";
import { isTsigAlgorithm, type TsigKey } from "../dns/wire/tsig.ts";
import { listSchema, tableSchema, textSchema, type ReportMistake } from "./schema.ts";
import { parseServer, type ServerAddress } from "./server-address.ts";

export interface TransferConfig {
  readonly keys: readonly TsigKey[];
  /** Addresses, networks (`10.0.0.0/8`) and keys (`key:NAME`). A client needs to match one. */
  readonly allow: readonly string[];
  readonly secondaries: readonly Secondary[];
}

/** A server that gets a NOTIFY message after each change of a zone. */
export interface Secondary extends ServerAddress {
  readonly key?: TsigKey;
}

/** For secondaries on this machine. Its other users can ask for names one by one anyway. */
const allowDefault = ["127.0.0.1", "::1"];
const keyPrefix = "key:";

export const tsigKeysSchema = listSchema(
  tableSchema(
    {
      name: textSchema(normaliseHostname, 'must be a name such as "to-bind"'),
      algorithm: v.optional(
        textSchema(
          (name) => (isTsigAlgorithm(name) ? name : null),
          'must be "hmac-sha256", "hmac-sha384", "hmac-sha512" or "hmac-sha1"',
        ),
        "hmac-sha256",
      ),
      secret: textSchema(parseSecret, "must be base64 that is not empty"),
    },
    { name: "to-bind", secret: "c2VjcmV0" },
  ),
  "must be a list of tables",
);

export const transfersSchema = tableSchema({
  allow: v.nullish(
    listSchema(
      textSchema(parseAllowed, 'must be an address, a network such as "10.0.0.0/8", or "key:NAME"'),
    ),
    allowDefault,
  ),
  notify: v.optional(
    listSchema(
      tableSchema(
        {
          address: textSchema(parseServer, 'must be an address such as "127.0.0.1:5301"'),
          key: v.optional(textSchema((name) => name, "must be the name of a key")),
        },
        { address: "127.0.0.1:5301" },
      ),
      "must be a list of tables",
    ),
    [],
  ),
});

/** Node's decoder drops characters that are not base64, which would shorten the secret. */
export function parseSecret(secret = ""): Uint8Array | null {
  const octets = Buffer.from(secret, "base64");
  const isWhole = octets.toString("base64").startsWith(secret.replace(/=+$/, ""));
  return octets.length > 0 && isWhole ? new Uint8Array(octets) : null;
}

function parseAllowed(entry: string): string | null {
  const allowed = entry.toLowerCase();
  if (allowed.startsWith(keyPrefix)) return allowed;
  const [address = "", bits, more] = allowed.split("/");
  const width = isIP(address) === 4 ? 32 : 128;
  const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width);
  return isIP(address) !== 0 && isNetwork && more === undefined ? allowed : null;
}

/** Replaces names of keys by the keys. */
export function resolveTransfers(
  keys: readonly TsigKey[],
  { allow, notify }: v.InferOutput<typeof transfersSchema>,
  report: ReportMistake,
): TransferConfig {
  const find = (name: string): TsigKey | undefined =>
    keys.find((key) => key.name === name.toLowerCase());
  for (const [index, entry] of allow.entries()) {
    const name = entry.startsWith(keyPrefix) ? entry.slice(keyPrefix.length) : null;
    if (name === null || find(name) !== undefined) continue;
    report(["dns", "transfers", "allow", index], `is "${name}", which is not in dns.keys`);
  }
  const secondaries = notify.map(({ address, key: name }, index): Secondary => {
    if (name === undefined) return address;
    const key = find(name);
    if (key !== undefined) return { ...address, key };
    const path = ["dns", "transfers", "notify", index, "key"];
    report(path, `is ${JSON.stringify(name)}, which is not in dns.keys`);
    return address;
  });
  return { keys, allow, secondaries };
}
