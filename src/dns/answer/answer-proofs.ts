/**
 * The part of an answer that DNSSEC adds: the RRSIG records of its sets, and the NSEC records that
 * deny names and types. Without a signing context, and for sets of unsigned zones, nothing is added.
 *
 * A set that a wildcard gives to a name is signed as if the name existed (RFC 9824 section 3.3), so
 * no proof about the wildcard is needed.
 */
import type { AnswerSigner } from "../dnssec/answer-signer.ts";
import { nsecSet } from "../dnssec/compact-denial.ts";
import type { SignatureRequest } from "../dnssec/signature-cache.ts";
import { hasFault } from "../dnssec/signature-fault.ts";
import type { NameKey } from "../wire/name-key.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import type { NodeView } from "./served-node.ts";
import type { ServedZone } from "./served-zone.ts";

/** How an answer with proofs is made, for a query with DO. */
export interface SigningContext {
  readonly signer: AnswerSigner;
  /** The client's address is proven: the query came over TCP or HTTPS. */
  readonly isProven: boolean;
  /** The CO flag (RFC 9824 section 5.1): a name that does not exist gets NXDOMAIN. */
  readonly compactOk: boolean;
}

interface SetOrigin {
  /** The zone does not have the owner of the set. */
  readonly isSynthesised: boolean;
  /** At least the TTL of the set. Default: the TTL of the set. */
  readonly originalTtlSeconds?: number;
}

const stored: SetOrigin = { isSynthesised: false };
/** The types that a zone has at a delegation; others are glue (RFC 4035 section 2.3). */
const delegationTypes = new Set<number>([typeCodes.NS, typeCodes.DS]);

export class AnswerProofs {
  readonly #context: SigningContext | null;
  readonly #nowSeconds: number;
  /** Signatures that the caller has to make. */
  readonly requests: SignatureRequest[] = [];
  /** A signature was not made, because the budget is used up. */
  isOverloaded = false;

  constructor(context: SigningContext | null, nowSeconds: number) {
    this.#context = context;
    this.#nowSeconds = nowSeconds;
  }

  /** Whether answers from this zone have proofs. */
  covers(zone: ServedZone): boolean {
    return this.#context !== null && zone.signing !== null;
  }

  get compactOk(): boolean {
    return this.#context?.compactOk === true;
  }

  /** Adds a set and its signature. */
  addSet(section: RecordSet[], zone: ServedZone, set: RecordSet, origin = stored): void {
    section.push(set);
    section.push(...this.signatureOf(zone, set, origin));
  }

  /** The RRSIG set of a set; none in an answer without proofs. */
  signatureOf(zone: ServedZone, set: RecordSet, origin = stored): readonly RecordSet[] {
    const { signing } = zone;
    if (this.#context === null || signing === null || this.isOverloaded) return [];
    const { isSynthesised, originalTtlSeconds = set.ttlSeconds } = origin;
    const { signer, isProven } = this.#context;
    const apex = zone.apexOwner;
    const nowSeconds = this.#nowSeconds;
    const wanted = { set, apex, signing, nowSeconds, originalTtlSeconds, isSynthesised, isProven };
    const signature = signer.sign(wanted);
    if (signature === "overloaded") this.isOverloaded = true;
    else if ("octets" in signature) this.requests.push(signature);
    else return [signature];
    return [];
  }

  /** Adds the SOA, and the NSEC record that denies a type or a name. */
  addDenial(section: RecordSet[], zone: ServedZone, nsec: RecordSet | null, origin = stored): void {
    const { negativeSoa, soa } = zone;
    const soaOrigin = { isSynthesised: false, originalTtlSeconds: soa.ttlSeconds };
    // The NSEC record first: when the budget is used up, nothing else is worth its time.
    const proof: RecordSet[] = [];
    if (nsec !== null && this.covers(zone)) this.addSet(proof, zone, nsec, origin);
    this.addSet(section, zone, negativeSoa, soaOrigin);
    section.push(...proof);
  }

  /** Adds to a referral the DS set of the delegation, or the proof that there is none. */
  addDelegation(section: RecordSet[], zone: ServedZone, cut: NodeView, key: NameKey): void {
    if (!this.covers(zone) || this.hidesDs(zone, key)) return;
    const ds = cut.sets.get(typeCodes.DS);
    this.addSet(section, zone, ds ?? this.nsecOf(zone, cut, cut.owner, typeCodes.DS));
  }

  /** A test has broken the delegation. */
  hidesDs({ signing }: ServedZone, key: NameKey): boolean {
    return this.#context !== null && hasFault(signing?.faults ?? [], "missing_ds", key);
  }

  /**
   * The NSEC record of a name that exists, or of a name that a wildcard covers.
   *
   * @param queried the type that the record denies
   */
  nsecOf(zone: ServedZone, view: NodeView, owner: Uint8Array, queried: number): RecordSet {
    const { ttlSeconds } = zone.negativeSoa;
    const types = new Set(view.sets.keys());
    const isDelegation = types.has(typeCodes.NS) && !types.has(typeCodes.SOA);
    // The addresses of the target are not known here. Resolvers may use the record for other types
    // (RFC 8198), so it denies no more than was asked.
    if (view.flattened !== null) types.add(typeCodes.A).add(typeCodes.AAAA);
    types.delete(queried);
    if (!isDelegation) return nsecSet(owner, types, { ttlSeconds });
    const own = [...types].filter((type) => delegationTypes.has(type));
    return nsecSet(owner, own, { ttlSeconds, isDelegation });
  }

  /** The NSEC record of a name that does not exist. */
  nsecOfNoName(zone: ServedZone, owner: Uint8Array): RecordSet {
    return nsecSet(owner, null, { ttlSeconds: zone.negativeSoa.ttlSeconds });
  }
}
