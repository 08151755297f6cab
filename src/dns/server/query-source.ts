import type { QuerySource } from "../answer/query.ts";
import { parseIpv4, parseIpv6 } from "../record/ip-address.ts";

const unspecified = new Uint8Array(4);

/** The source of a query that came over UDP or TCP. */
export class SocketSource implements QuerySource {
  readonly transport: "udp" | "tcp";
  readonly server: string;
  readonly #remoteAddress: string;

  /**
   * @param server the address that the socket is bound to
   * @param remoteAddress as Node writes it; an IPv6 address can have a zone (fe80::1%eth0)
   */
  constructor(transport: "udp" | "tcp", server: string, remoteAddress: string) {
    this.transport = transport;
    this.server = server;
    this.#remoteAddress = remoteAddress;
  }

  /** Computed on demand, because only transfers need it. */
  get address(): Uint8Array {
    const address = this.#remoteAddress.replace(/%.*$/, "");
    return parseIpv4(address) ?? parseIpv6(address) ?? unspecified;
  }
}
