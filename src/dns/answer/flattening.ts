/**
 * CNAME flattening: a name with a flattened CNAME is answered with the addresses of the CNAME's
 * target, under the name's own owner. The TTL is the least of the flattened CNAME, of each CNAME
 * between it and the addresses, and of the addresses. Where the chain leaves the zones of this
 * server, the addresses come from a resolver.
 */
import { rcodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import {
  externalQuestion,
  type ExternalAddressCache,
  type ExternalNeeded,
} from "./external-addresses.ts";
import type { Alias } from "./served-node.ts";

/** The result of looking up the target in the zones of this server. */
export interface TargetLookup {
  readonly rcode: number;
  readonly looped: boolean;
  readonly answers: readonly RecordSet[];
  /** The name at which the chain of CNAMEs leaves the zones. */
  readonly externalName: Uint8Array | null;
}

export interface FlatteningContext {
  readonly owner: Uint8Array;
  /** The code of A or AAAA. */
  readonly type: number;
  readonly external: ExternalAddressCache;
  readonly nowSeconds: number;
}

export type Flattening =
  | { readonly kind: "addresses"; readonly set: RecordSet }
  | { readonly kind: "no-addresses" }
  | { readonly kind: "failed" }
  | ExternalNeeded;

export function flatten(
  alias: Alias,
  target: TargetLookup,
  { owner, type, external, nowSeconds }: FlatteningContext,
): Flattening {
  if (target.looped || target.rcode === rcodes.SERVFAIL) return { kind: "failed" };
  let { ttlSeconds } = alias;
  const data: Uint8Array[] = [];
  for (const set of target.answers) {
    ttlSeconds = Math.min(ttlSeconds, set.ttlSeconds);
    if (set.type === type) data.push(...set.data);
  }
  if (target.externalName !== null) {
    const question = externalQuestion(target.externalName, type);
    const found = external.get(question, nowSeconds);
    if (found === undefined) return { kind: "external", question };
    if (found === "failed") return { kind: "failed" };
    ttlSeconds = Math.min(ttlSeconds, found.ttlSeconds);
    data.push(...found.data);
  }
  if (data.length === 0) return { kind: "no-addresses" };
  return { kind: "addresses", set: { owner, type, ttlSeconds, data } };
}
