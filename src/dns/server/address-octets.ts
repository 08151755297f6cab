import { isIPv4 } from "node:net";
import { parseIpv4, parseIpv6 } from "../record/field/ip-address.ts";

const unspecified = new Uint8Array(4);

/** Of an address as Node says it; an IPv6 one may come with its zone (fe80::1%eth0). */
export function octetsOf(address: string): Uint8Array {
  if (isIPv4(address)) return parseIpv4(address) ?? unspecified;
  return parseIpv6(address.replace(/%.*$/, "")) ?? unspecified;
}
