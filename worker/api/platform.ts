/** /ips: the addresses of the platform, for firewalls of origins. */
import { encodeHex } from "../../src/base/hex.ts";
import { parseIpv4 } from "../../src/dns/record/ip-address.ts";
import { replyWith } from "../objects/object-reply.ts";
import type { Handlers } from "./api-call.ts";

function isIpv4(address: string): boolean {
  return parseIpv4(address) !== null;
}

export const platformHandlers = {
  listAddresses: async ({ config }) => {
    const addresses = config.platformAddresses;
    const text = new TextEncoder().encode(addresses.join(" "));
    const etag = encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-256", text), 0, 16));
    return replyWith({
      ipv4_cidrs: addresses.filter(isIpv4).map((address) => `${address}/32`),
      ipv6_cidrs: addresses.filter((address) => !isIpv4(address)).map((each) => `${each}/128`),
      etag,
    });
  },
} satisfies Handlers;
