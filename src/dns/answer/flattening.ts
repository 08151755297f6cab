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

/**
 * Returns `null` when the target has no addresses.
 *
 * @param type the code of A or AAAA
 */
export function flatten(
  alias: Alias,
  target: TargetLookup,
  type: number,
  { external, nowSeconds }: { external: ExternalAddressCache; nowSeconds: number },
): Omit<RecordSet, "owner"> | ExternalNeeded | "failed" | null {
  if (target.looped || target.rcode === rcodes.SERVFAIL) return "failed";
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
    if (found === "failed") return "failed";
    ttlSeconds = Math.min(ttlSeconds, found.ttlSeconds);
    data.push(...found.data);
  }
  return data.length === 0 ? null : { type, ttlSeconds, data };
}
