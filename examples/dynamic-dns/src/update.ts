/**
 * The parameters of an update in the dyndns2 protocol: `hostname` contains up to twenty names,
 * separated by commas, and `myip` up to one address of each family. The default of `myip` is the
 * address of the caller.
 */

export type RecordType = "A" | "AAAA";

export interface Update {
  hosts: string[];
  addresses: Partial<Record<RecordType, string>>;
}

/** The protocol's words for an invalid request. */
export type UpdateError = "notfqdn" | "numhost" | "badip";

const hostsMax = 20;

export function parseUpdate(
  parameters: URLSearchParams,
  caller: string | null,
): Update | UpdateError {
  const hosts = items(parameters.get("hostname")).map((host) =>
    host.toLowerCase().replace(/\.$/, ""),
  );
  if (hosts.length === 0 || !hosts.every(isFullName)) return "notfqdn";
  if (hosts.length > hostsMax) return "numhost";

  const given = [...items(parameters.get("myip")), ...items(parameters.get("myipv6"))];
  const addresses: Update["addresses"] = {};
  for (const address of given.length > 0 ? given : items(caller)) {
    const type = recordType(address);
    if (type === null || addresses[type] !== undefined) return "badip";
    addresses[type] = address;
  }
  return Object.keys(addresses).length === 0 ? "badip" : { hosts, addresses };
}

function items(list: string | null): string[] {
  return (list ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function isFullName(host: string): boolean {
  return host.length <= 253 && /^([a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}$/.test(host);
}

/** The record type for `address`, or `null` when it is not an address. */
export function recordType(address: string): RecordType | null {
  if (/^(\d{1,3}\.){3}\d{1,3}$/.test(address)) {
    const valid = address.split(".").every((octet) => Number(octet) < 256 && !/^0\d/.test(octet));
    return valid ? "A" : null;
  }
  return /^[0-9a-f:.]*:[0-9a-f:.]*$/i.test(address) && URL.canParse(`http://[${address}]/`)
    ? "AAAA"
    : null;
}
