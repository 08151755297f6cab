/**
 * The answer to a question, from zones in memory: RFC 1034 section 4.3.2 as amended, and the rules
 * of the deployed service. In order:
 *
 *  1. A class other than IN, or a name in no zone of this server: REFUSED.
 *  2. A name at or below a delegation: a referral. DS at the cut itself belongs to this zone.
 *  3. A name that exists, or the wildcard of its closest encloser: ANY gets one HINFO record; a type
 *     that the name has gets that set; a flattened CNAME gets the addresses of its target; a CNAME
 *     gets itself, and the steps repeat for its target.
 *  4. Otherwise: NXDOMAIN or no data, with the SOA.
 *
 * A proxied name has the platform's sets in place of its own (served-node.ts), so the steps treat
 * it like any other name. Nothing waits: when an answer needs external addresses that the cache
 * does not have, the result is the question for the resolver.
 *
 * `signedAnswer()` takes the same steps, and adds the proofs of signed zones (answer-proofs.ts).
 */
import type { SignaturesNeeded } from "../dnssec/answer-signer.ts";
import { nameKey, type NameKey } from "../wire/name-key.ts";
import { classCodes, rcodes, typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import { AnswerProofs, type SigningContext } from "./answer-proofs.ts";
import type { AppliedRule, RuleName } from "./explanation.ts";
import {
  isExternalNeeded,
  type ExternalAddressCache,
  type ExternalNeeded,
} from "./external-addresses.ts";
import { flatten } from "./flattening.ts";
import { locateName } from "./name-location.ts";
import { refer } from "./referral.ts";
import type { Alias, NodeView, ServedNode } from "./served-node.ts";
import type { ServedZone } from "./served-zone.ts";
import type { ServedZones } from "./served-zones.ts";

/** Resolvers give up at about this length; they follow the rest of a longer chain themselves. */
const chainLengthMax = 16;
/** RFC 8482 section 4.2 leaves the TTL to the operator. */
const anyTtlSeconds = 3600;
/** HINFO with the CPU "RFC8482" and an empty OS. */
const anyData = Uint8Array.of(7, 0x52, 0x46, 0x43, 0x38, 0x34, 0x38, 0x32, 0);

const noSets: readonly RecordSet[] = [];

export interface WireQuestion {
  /** An absolute name as octets, in the case of the query. */
  readonly name: Uint8Array;
  readonly type: number;
  readonly class: number;
}

export interface Answer {
  readonly rcode: number;
  readonly authoritative: boolean;
  readonly answers: readonly RecordSet[];
  readonly authorities: readonly RecordSet[];
  /** Addresses that a referral needs: a message without room for them is truncated. */
  readonly glue: readonly RecordSet[];
  /** Sets that a message without room leaves out, and is not truncated. */
  readonly additionals: readonly RecordSet[];
  readonly rules: readonly AppliedRule[];
  /** The name exists, and the answer stays the same until the zones change. */
  readonly reusable: boolean;
}

export interface AnswerContext {
  readonly zones: ServedZones;
  readonly external: ExternalAddressCache;
  readonly nowSeconds: number;
}

/** Builds an answer while it follows the chain of CNAMEs. Its fields are those of `Answer`. */
class Lookup {
  readonly #context: AnswerContext;
  readonly #type: number;
  readonly #proofs: AnswerProofs;
  /** The names of the chain, those of flattened chains included. */
  readonly #visited: Set<NameKey>;
  rcode: number = rcodes.NOERROR;
  authoritative = false;
  reusable = true;
  readonly answers: RecordSet[] = [];
  readonly authorities: RecordSet[] = [];
  glue = noSets;
  additionals = noSets;
  readonly rules: AppliedRule[];
  /** The name at which the chain leaves the authoritative data of this server. */
  externalName: Uint8Array | null = null;
  looped = false;
  needed: ExternalNeeded | null = null;

  /** @param outer the lookup whose flattened CNAME this lookup follows */
  constructor(context: AnswerContext, type: number, proofs: AnswerProofs, outer?: Lookup) {
    this.#context = context;
    this.#type = type;
    this.#proofs = proofs;
    this.#visited = outer === undefined ? new Set() : outer.#visited;
    this.rules = outer === undefined ? [] : outer.rules;
  }

  #note(rule: RuleName, key: NameKey): void {
    this.rules.push({ rule, key });
  }

  #noteOnce(rule: RuleName, key: NameKey): void {
    if (!this.rules.some((noted) => noted.rule === rule && noted.key === key)) {
      this.#note(rule, key);
    }
  }

  findZone(name: Uint8Array): void {
    const key = nameKey(name);
    const zone = this.#context.zones.findFor(key, this.#type);
    if (zone === undefined) return this.refuse("no-zone", key);
    this.#note("zone", zone.apexKey);
    this.#lookUp(zone, key, name);
  }

  refuse(rule: RuleName, key: NameKey): void {
    this.#note(rule, key);
    this.rcode = rcodes.REFUSED;
    this.reusable = false;
  }

  #lookUp(zone: ServedZone, key: NameKey, owner: Uint8Array): void {
    this.#visited.add(key);
    if (this.#proofs.covers(zone)) this.#noteOnce("signed", zone.apexKey);
    const location = locateName(zone, key, this.#type);
    if (location.kind === "cut") return this.#refer(zone, location.node, owner);
    this.authoritative = true;
    if (location.kind === "exact") {
      const { owner: nodeOwner } = zone.view(location.node);
      return this.#answerFrom(zone, location.node, nodeOwner, key);
    }
    this.reusable = false;
    if (location.kind === "wildcard") {
      this.#note("wildcard", location.node.key);
      return this.#answerFrom(zone, location.node, owner, key);
    }
    this.#note("no-name", key);
    this.#denyName(zone, key, owner);
  }

  #denyName(zone: ServedZone, key: NameKey, owner: Uint8Array): void {
    const isSigned = this.#proofs.covers(zone);
    const nsec = isSigned ? this.#proofs.nsecOfNoName(zone, owner) : null;
    if (nsec !== null && this.#isProofWanted) return this.#showProof(zone, nsec, true);
    this.#proofs.addDenial(this.authorities, zone, nsec, { isSynthesised: true });
    if (isSigned && !this.#proofs.compactOk) this.#note("compact-denial", key);
    else this.rcode = rcodes.NXDOMAIN;
  }

  /** The name exists, or a wildcard covers it, and it has no records of the type. */
  #denyType(zone: ServedZone, view: NodeView, owner: Uint8Array): void {
    const isSigned = this.#proofs.covers(zone);
    const isSynthesised = owner !== view.owner;
    // A hidden DS set is not denied.
    const isHidden = this.#type === typeCodes.DS && view.sets.has(typeCodes.DS);
    const denied = isHidden ? 0 : this.#type;
    const nsec = isSigned ? this.#proofs.nsecOf(zone, view, owner, denied) : null;
    this.#proofs.addDenial(this.authorities, zone, nsec, { isSynthesised });
  }

  get #isProofWanted(): boolean {
    return this.#type === typeCodes.NSEC || this.#type === typeCodes.RRSIG;
  }

  /** NSEC and RRSIG records exist only in answers. RRSIG is answered minimally, as ANY is (RFC 8482). */
  #showProof(zone: ServedZone, nsec: RecordSet, isSynthesised: boolean): void {
    if (this.#type === typeCodes.NSEC) this.answers.push(nsec);
    this.answers.push(...this.#proofs.signatureOf(zone, nsec, { isSynthesised }));
  }

  #refer(zone: ServedZone, cut: ServedNode, owner: Uint8Array): void {
    const { servers, glue, siblings } = refer(zone, cut);
    this.#note("delegated", cut.key);
    this.authorities.push(servers);
    this.#proofs.addDelegation(this.authorities, zone, zone.view(cut), cut.key);
    this.glue = glue;
    this.additionals = siblings;
    this.externalName = owner;
    // Every name below a cut gets a referral, so clients could fill the memory with prepared ones.
    this.reusable = false;
  }

  answerAt(zone: ServedZone, node: ServedNode): void {
    this.#visited.add(node.key);
    this.#answerFrom(zone, node, zone.view(node).owner, node.key);
  }

  #answerFrom(zone: ServedZone, node: ServedNode, owner: Uint8Array, key: NameKey): void {
    const type = this.#type;
    const view = zone.view(node);
    const isSynthesised = owner !== view.owner;
    if (this.#isProofWanted && this.#proofs.covers(zone)) {
      return this.#showProof(zone, this.#proofs.nsecOf(zone, view, owner, type), isSynthesised);
    }
    if (view.sets.size === 0 && view.flattened === null) {
      this.#note(node.records.length === 0 ? "empty-non-terminal" : "no-data", key);
      return this.#denyType(zone, view, owner);
    }
    if (type === typeCodes.ANY) {
      this.#note("any-minimal", key);
      this.#proofs.addSet(this.answers, zone, minimalSet(owner), { isSynthesised });
      return;
    }
    const isHidden = type === typeCodes.DS && this.#proofs.hidesDs(zone, key);
    const set = isHidden ? undefined : view.sets.get(type);
    if (set !== undefined) {
      this.#noteSet(view, key);
      this.#addSet(zone, set, owner, isSynthesised);
      return;
    }
    const isAddress = type === typeCodes.A || type === typeCodes.AAAA;
    if (view.flattened !== null && isAddress) {
      this.#note("flattened", key);
      return this.#flatten(zone, view, view.flattened, owner);
    }
    if (view.alias !== null) {
      const alias = view.sets.get(typeCodes.CNAME)!;
      this.#note("alias", key);
      this.#addSet(zone, alias, owner, isSynthesised);
      return this.#follow(view.alias.target);
    }
    this.#note("no-data", key);
    this.#denyType(zone, view, owner);
  }

  #addSet(zone: ServedZone, set: RecordSet, owner: Uint8Array, isSynthesised: boolean): void {
    const owned = isSynthesised ? { ...set, owner } : set;
    this.#proofs.addSet(this.answers, zone, owned, { isSynthesised });
  }

  #noteSet({ proxied, generatedHttps }: NodeView, key: NameKey): void {
    const type = this.#type;
    if (type === typeCodes.DS) this.#note("parent-side", key);
    else if (proxied && (type === typeCodes.A || type === typeCodes.AAAA))
      this.#note("proxied", key);
    else if (generatedHttps && type === typeCodes.HTTPS) this.#note("https-made", key);
    else this.#note("exact", key);
  }

  /** RFC 1034 section 4.3.2 step 3a, across all zones of this server. */
  #follow(target: Uint8Array): void {
    const key = nameKey(target);
    if (this.#visited.has(key) || this.#visited.size >= chainLengthMax) {
      this.#note("alias-loops", key);
      this.looped = true;
      // RFC 1034 section 3.6.2: a loop is an error. A long chain is not: the client continues.
      if (this.#visited.has(key)) this.rcode = rcodes.SERVFAIL;
      return;
    }
    const zone = this.#context.zones.findFor(key, this.#type);
    if (zone === undefined) {
      this.#note("alias-leaves", key);
      this.externalName = target;
      return;
    }
    this.#lookUp(zone, key, target);
  }

  #flatten(zone: ServedZone, view: NodeView, alias: Alias, owner: Uint8Array): void {
    const { nowSeconds } = this.#context;
    // The addresses are signed under the name's own owner, by its own zone.
    const proofs = new AnswerProofs(null, nowSeconds);
    const target = new Lookup(this.#context, this.#type, proofs, this);
    target.#follow(alias.target);
    this.needed = target.needed;
    if (target.needed !== null) return;
    const { externalName } = target;
    if (!target.reusable || externalName !== null) this.reusable = false;
    const result = flatten(alias, target, this.#type, this.#context);
    if (result !== "failed" && isExternalNeeded(result)) {
      this.needed = result;
      return;
    }
    if (externalName !== null) {
      const rule = result === "failed" ? "external-failed" : "external-answer";
      this.#note(rule, nameKey(externalName));
    }
    if (result === "failed") this.rcode = rcodes.SERVFAIL;
    else if (result === null) this.#denyType(zone, view, owner);
    else {
      // The TTL of external addresses counts down, and the TTL of the CNAME bounds it.
      const { ttlSeconds: originalTtlSeconds } = alias;
      const origin = { isSynthesised: owner !== view.owner, originalTtlSeconds };
      this.#proofs.addSet(this.answers, zone, { ...result, owner }, origin);
    }
  }
}

export function answer(question: WireQuestion, context: AnswerContext): Answer | ExternalNeeded {
  return lookUpAnswer(question, context, new AnswerProofs(null, context.nowSeconds));
}

/** In place of an answer: too many signatures for names that no zone has were made this second. */
export interface SigningOverloaded {
  readonly kind: "overloaded";
}

/** The answer to a query with DO: sets of signed zones come with their proofs. */
export function signedAnswer(
  question: WireQuestion,
  context: AnswerContext,
  signing: SigningContext,
): Answer | ExternalNeeded | SignaturesNeeded | SigningOverloaded {
  const proofs = new AnswerProofs(signing, context.nowSeconds);
  const made = lookUpAnswer(question, context, proofs);
  if (isExternalNeeded(made)) return made;
  if (proofs.isOverloaded) return { kind: "overloaded" };
  const { requests } = proofs;
  return requests.length > 0 ? { kind: "signatures", requests } : made;
}

function lookUpAnswer(
  question: WireQuestion,
  context: AnswerContext,
  proofs: AnswerProofs,
): Answer | ExternalNeeded {
  const lookup = new Lookup(context, question.type, proofs);
  if (question.class === classCodes.IN) lookup.findZone(question.name);
  else lookup.refuse("other-class", nameKey(question.name));
  return finish(lookup);
}

/** The answer for a name of a zone, also where another zone or a delegation hides the name. */
export function answerAt(
  zone: ServedZone,
  node: ServedNode,
  type: number,
  context: AnswerContext,
): Answer | ExternalNeeded {
  const lookup = new Lookup(context, type, new AnswerProofs(null, context.nowSeconds));
  lookup.answerAt(zone, node);
  return finish(lookup);
}

function finish(lookup: Lookup): Answer | ExternalNeeded {
  if (lookup.needed !== null) return lookup.needed;
  if (lookup.rcode !== rcodes.SERVFAIL || lookup.looped) return lookup;
  // A client would take half of an answer for the whole.
  return { ...emptyAnswer(rcodes.SERVFAIL), rules: lookup.rules };
}

/** The set of a name that has records, for clients that ask for any (RFC 8482 section 4.2). */
export function minimalSet(owner: Uint8Array): RecordSet {
  return { owner, type: typeCodes.HINFO, ttlSeconds: anyTtlSeconds, data: [anyData] };
}

export function emptyAnswer(rcode: number): Answer {
  return {
    rcode,
    authoritative: false,
    answers: noSets,
    authorities: noSets,
    glue: noSets,
    additionals: noSets,
    rules: [],
    reusable: false,
  };
}
