import { bind, bindSigned } from "./bind.ts";
import { knot, knotSigned } from "./knot.ts";
import { nsd } from "./nsd.ts";
import type { Peer } from "./peer.ts";
import { powerDnsCached, powerDnsUncached } from "./powerdns.ts";

export const peers: readonly Peer[] = [bind, knot, nsd, powerDnsCached, powerDnsUncached];

/** With DNSSEC. */
export const signedPeers: readonly Peer[] = [knotSigned, bindSigned];
