import { bind } from "./bind.ts";
import { knot } from "./knot.ts";
import { nsd } from "./nsd.ts";
import type { Peer } from "./peer.ts";
import { powerDnsCached, powerDnsUncached } from "./powerdns.ts";

export const peers: readonly Peer[] = [bind, knot, nsd, powerDnsCached, powerDnsUncached];
