/** The source of a query that came over UDP or TCP. */
import { isIPv4 } from "node:net";
import type { RemoteInfo } from "node:dgram";
import type { QuerySource } from "../answer/query.ts";
import { parseIpv4, parseIpv6 } from "../record/field/ip-address.ts";

const unspecified = new Uint8Array(4);

/** @param address as Node writes it; an IPv6 address can have a zone (fe80::1%eth0) */
function addressOctets(address: string): Uint8Array {
  if (isIPv4(address)) return parseIpv4(address) ?? unspecified;
  return parseIpv6(address.replace(/%.*$/, "")) ?? unspecified;
}

/** Computes the octets of the address on demand, because only cookies need them. */
export class UdpSource implements QuerySource {
  readonly transport = "udp";
  readonly #remote: RemoteInfo;

  constructor(remote: RemoteInfo) {
    this.#remote = remote;
  }

  get address(): Uint8Array {
    return addressOctets(this.#remote.address);
  }
}

export function tcpSource(remoteAddress = ""): QuerySource {
  return { transport: "tcp", address: addressOctets(remoteAddress) };
}
