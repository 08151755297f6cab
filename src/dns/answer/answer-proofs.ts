/**
 * The part of an answer that DNSSEC adds: the RRSIG records of its sets, and the NSEC records that
 * deny names and types. Without a signing context, and for sets of unsigned zones, nothing is added.
 *
 * A set that a wildcard gives to a name is signed as if the name existed (RFC 9824 section 3.3), so
 * no proof about the wildcard is needed.
 */
import type { AnswerSigner, SignatureRequest } from "../dnssec/answer-signer.ts";
import { nsecSet } from "../dnssec/nsec.ts";
import { hasFault } from "../dnssec/zone-signing.ts";
import type { NameKey } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import type { NodeView } from "./served-node.ts";
import type { ServedZone } from "./served-zones.ts";

export interface SigningContext {
  readonly signer: AnswerSigner;
  /** The CO flag (RFC 9824 section 5.1): a name that does not exist gets NXDOMAIN. */
  readonly compactOk: boolean;
}

/** The types that a zone has at a delegation; others are glue (RFC 4035 section 2.3). */
const delegationTypes = new Set<number>([typeCodes.NS, typeCodes.DS]);

export class AnswerProofs {
  readonly #context: SigningContext | null;
  readonly #nowSeconds: number;
  readonly requests: SignatureRequest[] = [];

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

  addSet(
    section: RecordSet[],
    zone: ServedZone,
    set: RecordSet,
    originalTtlSeconds = set.ttlSeconds,
  ): void {
    section.push(set);
    this.addSignature(section, zone, set, originalTtlSeconds);
  }

  /**
   * Adds the RRSIG set of a set; none in an answer without proofs.
   *
   * @param originalTtlSeconds at least the TTL of the set, and the same for all answers
   */
  addSignature(
    section: RecordSet[],
    zone: ServedZone,
    set: RecordSet,
    originalTtlSeconds = set.ttlSeconds,
  ): void {
    const { signing, apexOwner: apex } = zone;
    if (this.#context === null || signing === null) return;
    const nowSeconds = this.#nowSeconds;
    const wanted = { set, apex, signing, nowSeconds, originalTtlSeconds };
    const signature = this.#context.signer.sign(wanted);
    if ("octets" in signature) this.requests.push(signature);
    else section.push(signature);
  }

  /** Adds the SOA, and the NSEC record that denies a type or a name. */
  addDenial(section: RecordSet[], zone: ServedZone, nsec: RecordSet | null): void {
    this.addSet(section, zone, zone.negativeSoa, zone.soa.ttlSeconds);
    if (nsec !== null) this.addSet(section, zone, nsec);
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

  nsecOfNoName(zone: ServedZone, owner: Uint8Array): RecordSet {
    return nsecSet(owner, null, { ttlSeconds: zone.negativeSoa.ttlSeconds });
  }
}
