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
 * For a query with DO the same steps add the proofs of signed zones: the RRSIG records of sets, and
 * the NSEC records that deny names and types. A set that a wildcard gives to a name is signed as if
 * the name existed (RFC 9824 section 3.3), so no proof about the wildcard is needed.
 */
import type { AnswerSigner, SignatureRequest, SignaturesNeeded } from "../dnssec/answer-signer.ts";
import { nsecSet } from "../dnssec/nsec.ts";
import { hasFault } from "../dnssec/zone-signing.ts";
import { formatName, isAtOrBelow, keyOctets, nameKey, type NameKey } from "../wire/name.ts";
import { classCodes, rcodes, typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import {
  externalQuestion,
  isExternalNeeded,
  type KnownAddresses,
  type ExternalNeeded,
} from "./external-addresses.ts";
import type { Alias, NodeView, ServedNode } from "./served-node.ts";
import type { ServedZone, ServedZones } from "./served-zones.ts";

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
  readonly zones: Pick<ServedZones, "findFor">;
  readonly external: KnownAddresses;
  readonly nowSeconds: number;
  /** For queries with DO; without it the answers of signed zones have no proofs. */
  readonly signing?: {
    readonly signer: AnswerSigner;
    /** The CO flag (RFC 9824 section 5.1): a name that does not exist gets NXDOMAIN. */
    readonly compactOk: boolean;
  };
}

/** Builds an answer while it follows the chain of CNAMEs. Its fields are those of `Answer`. */
class Lookup {
  readonly #context: AnswerContext;
  readonly #type: number;
  /** The signatures that the signer has not made. */
  readonly requests: SignatureRequest[] = [];
  /** The names of the chain, those of flattened chains included. */
  readonly #visited: Set<NameKey>;
  rcode: number = rcodes.NOERROR;
  authoritative = false;
  reusable = true;
  readonly answers: RecordSet[] = [];
  readonly authorities: RecordSet[] = [];
  readonly glue: RecordSet[] = [];
  readonly additionals: RecordSet[] = [];
  readonly rules: AppliedRule[];
  /** The name at which the chain leaves the authoritative data of this server. */
  externalName: Uint8Array | null = null;
  looped = false;
  needed: ExternalNeeded | null = null;

  /** @param outer the lookup whose flattened CNAME this lookup follows */
  constructor(context: AnswerContext, type: number, outer?: Lookup) {
    this.#context = context;
    this.#type = type;
    this.#visited = outer === undefined ? new Set() : outer.#visited;
    this.rules = outer === undefined ? [] : outer.rules;
  }

  #note(rule: RuleName, key: NameKey): void {
    this.rules.push({ rule, key });
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
    const { apexKey } = zone;
    const isNoted = (applied: AppliedRule) => applied.rule === "signed" && applied.key === apexKey;
    if (this.#isSigned(zone) && !this.rules.some(isNoted)) this.#note("signed", apexKey);
    const location = zone.locate(key, this.#type);
    if (location.kind === "cut") return this.#refer(zone, location.node, owner);
    this.authoritative = true;
    if (location.kind === "exact") {
      return this.#answerFrom(zone, location.node, zone.view(location.node).owner, key);
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
    const { ttlSeconds } = zone.negativeSoa;
    const nsec = this.#isSigned(zone) ? nsecSet(owner, null, { ttlSeconds }) : null;
    if (nsec !== null && this.#isProofWanted) return this.#showProof(zone, nsec);
    this.#deny(zone, nsec);
    if (nsec !== null && this.#context.signing?.compactOk !== true) {
      this.#note("compact-denial", key);
    } else this.rcode = rcodes.NXDOMAIN;
  }

  /** The name exists, or a wildcard covers it, and it has no records of the type. */
  #denyType(zone: ServedZone, view: NodeView, owner: Uint8Array): void {
    // A hidden DS set is not denied.
    const isHidden = this.#type === typeCodes.DS && view.sets.has(typeCodes.DS);
    const denied = isHidden ? 0 : this.#type;
    this.#deny(zone, this.#isSigned(zone) ? nsecOf(zone, view, owner, denied) : null);
  }

  /** Adds the SOA, and the NSEC record that denies a type or a name. */
  #deny(zone: ServedZone, nsec: RecordSet | null): void {
    this.#put(this.authorities, zone, zone.negativeSoa, zone.soa.ttlSeconds);
    if (nsec !== null) this.#put(this.authorities, zone, nsec);
  }

  /** Whether answers from this zone have proofs. */
  #isSigned(zone: ServedZone): boolean {
    return this.#context.signing !== undefined && zone.signing !== null;
  }

  /** A test has broken the delegation. */
  #hidesDs({ signing }: ServedZone, key: NameKey): boolean {
    const { faults = [] } = signing ?? {};
    return this.#context.signing !== undefined && hasFault(faults, "missing_ds", key);
  }

  /** Adds a set, and in an answer with proofs its RRSIG set. */
  #put(
    section: RecordSet[],
    zone: ServedZone,
    set: RecordSet,
    originalTtlSeconds = set.ttlSeconds,
  ): void {
    section.push(set);
    if (this.#isSigned(zone)) this.#sign(section, zone, set, originalTtlSeconds);
  }

  #sign(
    section: RecordSet[],
    { apexOwner: apex, signing }: ServedZone,
    set: RecordSet,
    originalTtlSeconds: number,
  ): void {
    const { nowSeconds, signing: context } = this.#context;
    const times = { nowSeconds, originalTtlSeconds };
    const signature = context!.signer.sign(set, { apex, signing: signing! }, times);
    if (Array.isArray(signature)) this.requests.push(...signature);
    else section.push(signature);
  }

  get #isProofWanted(): boolean {
    return this.#type === typeCodes.NSEC || this.#type === typeCodes.RRSIG;
  }

  /** NSEC and RRSIG records exist only in answers. RRSIG is answered minimally, as ANY is (RFC 8482). */
  #showProof(zone: ServedZone, nsec: RecordSet): void {
    if (this.#type === typeCodes.NSEC) this.answers.push(nsec);
    this.#sign(this.answers, zone, nsec, nsec.ttlSeconds);
  }

  #refer(zone: ServedZone, cut: ServedNode, owner: Uint8Array): void {
    const view = zone.view(cut);
    const servers = view.sets.get(typeCodes.NS)!;
    this.#note("delegated", cut.key);
    this.authorities.push(servers);
    if (this.#isSigned(zone) && !this.#hidesDs(zone, cut.key)) {
      const ds = view.sets.get(typeCodes.DS) ?? nsecOf(zone, view, view.owner, typeCodes.DS);
      this.#put(this.authorities, zone, ds);
    }
    for (const target of servers.data) {
      const key = nameKey(target);
      const node = isAtOrBelow(key, zone.apexKey) ? zone.find(key) : undefined;
      // An address above all cuts is not glue: clients can query it.
      if (node === undefined || zone.locate(key, typeCodes.A).kind !== "cut") continue;
      // The referral is useless without the addresses below this cut (RFC 9471).
      const addresses = isAtOrBelow(key, cut.key) ? this.glue : this.additionals;
      const { sets } = zone.view(node);
      for (const set of [sets.get(typeCodes.A), sets.get(typeCodes.AAAA)]) {
        if (set !== undefined) addresses.push(set);
      }
    }
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
    if (this.#isProofWanted && this.#isSigned(zone)) {
      return this.#showProof(zone, nsecOf(zone, view, owner, type));
    }
    if (view.sets.size === 0 && view.flattened === null) {
      this.#note(node.records.length === 0 ? "empty-non-terminal" : "no-data", key);
      return this.#denyType(zone, view, owner);
    }
    if (type === typeCodes.ANY) {
      this.#note("any-minimal", key);
      return this.#put(this.answers, zone, minimalSet(owner));
    }
    const isHidden = type === typeCodes.DS && this.#hidesDs(zone, key);
    const set = isHidden ? undefined : view.sets.get(type);
    if (set !== undefined) {
      this.#noteSet(view, key);
      return this.#addSet(zone, set, owner);
    }
    const isAddress = type === typeCodes.A || type === typeCodes.AAAA;
    if (view.flattened !== null && isAddress) {
      this.#note("flattened", key);
      return this.#flatten(zone, view, view.flattened, owner);
    }
    if (view.alias !== null) {
      const alias = view.sets.get(typeCodes.CNAME)!;
      this.#note("alias", key);
      this.#addSet(zone, alias, owner);
      return this.#follow(view.alias.target);
    }
    this.#note("no-data", key);
    this.#denyType(zone, view, owner);
  }

  #addSet(zone: ServedZone, set: RecordSet, owner: Uint8Array): void {
    this.#put(this.answers, zone, set.owner === owner ? set : { ...set, owner });
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

  /**
   * A name with a flattened CNAME is answered with the addresses of the CNAME's target, under the
   * name's own owner. The TTL is the least of the flattened CNAME, of each CNAME between it and the
   * addresses, and of the addresses. Where the chain leaves the zones of this server, the addresses
   * come from a resolver.
   */
  #flatten(zone: ServedZone, view: NodeView, alias: Alias, owner: Uint8Array): void {
    const type = this.#type;
    // The addresses are signed under the name's own owner, by its own zone.
    const target = new Lookup({ ...this.#context, signing: undefined }, type, this);
    target.#follow(alias.target);
    this.needed = target.needed;
    if (target.needed !== null) return;
    const { externalName } = target;
    if (!target.reusable || externalName !== null) this.reusable = false;
    let isFailed = target.looped || target.rcode === rcodes.SERVFAIL;
    const found: Omit<RecordSet, "owner" | "type">[] = target.answers.map((set) => {
      return { ttlSeconds: set.ttlSeconds, data: set.type === type ? set.data : [] };
    });
    if (!isFailed && externalName !== null) {
      const question = externalQuestion(externalName, type);
      const addresses = this.#context.external.get(question, this.#context.nowSeconds);
      if (addresses === undefined) {
        this.needed = { kind: "external", question };
        return;
      }
      if (addresses === "failed") isFailed = true;
      else found.push(addresses);
      this.#note(isFailed ? "external-failed" : "external-answer", nameKey(externalName));
    }
    const data = found.flatMap((part) => part.data);
    const ttlSeconds = Math.min(alias.ttlSeconds, ...found.map((part) => part.ttlSeconds));
    if (isFailed) this.rcode = rcodes.SERVFAIL;
    else if (data.length === 0) this.#denyType(zone, view, owner);
    else {
      // The TTL of external addresses counts down, and the TTL of the CNAME bounds it.
      const set = { owner, type, ttlSeconds, data };
      this.#put(this.answers, zone, set, alias.ttlSeconds);
    }
  }
}

export function answer(
  question: WireQuestion,
  context: AnswerContext,
): Answer | ExternalNeeded | SignaturesNeeded {
  const lookup = new Lookup(context, question.type);
  if (question.class === classCodes.IN) lookup.findZone(question.name);
  else lookup.refuse("other-class", nameKey(question.name));
  const made = finish(lookup);
  const { requests } = lookup;
  return requests.length === 0 || isExternalNeeded(made) ? made : { kind: "signatures", requests };
}

/** The answer for a name of a zone, also where another zone or a delegation hides the name. */
export function answerAt(
  zone: ServedZone,
  node: ServedNode,
  type: number,
  context: AnswerContext,
): Answer | ExternalNeeded {
  const lookup = new Lookup(context, type);
  lookup.answerAt(zone, node);
  return finish(lookup);
}

function finish(lookup: Lookup): Answer | ExternalNeeded {
  if (lookup.needed !== null) return lookup.needed;
  if (lookup.rcode !== rcodes.SERVFAIL || lookup.looped) return lookup;
  // A client would take half of an answer for the whole.
  return { ...emptyAnswer(rcodes.SERVFAIL), rules: lookup.rules };
}

/** The types that a zone has at a delegation; others are glue (RFC 4035 section 2.3). */
const delegationTypes = new Set<number>([typeCodes.NS, typeCodes.DS]);

/**
 * The NSEC record of a name that exists, or that a wildcard covers.
 *
 * @param queried the type that the record denies
 */
function nsecOf(zone: ServedZone, view: NodeView, owner: Uint8Array, queried: number): RecordSet {
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

/**
 * Why an answer is as it is: the rules that `answer()` applies, with their sentences. `{name}` stands
 * for the name that the rule was applied to.
 */
const sentences = {
  "other-class": "the class is not IN",
  "no-zone": "no zone of this server contains {name}",
  zone: "the zone is {name}",
  delegated: "{name} is delegated: the answer refers to its name servers",
  "parent-side": "DS records at the delegation of {name} are the parent's",
  exact: "{name} has records of this type",
  wildcard: "the name does not exist, and the wildcard {name} covers it",
  alias: "{name} is a CNAME: the answer continues at its target",
  "alias-leaves": "{name} is in no zone of this server: the client looks it up",
  "alias-loops": "the chain of CNAMEs ends at {name}: the chain is a loop or too long",
  flattened: "the CNAME of {name} is flattened: the answer has the addresses of its target",
  "external-answer": "a resolver gave the addresses of {name}",
  "external-failed": "a resolver could not give the addresses of {name}",
  proxied: "{name} is proxied: the answer has the platform's addresses",
  "https-made": "{name} is proxied: its HTTPS record is generated",
  "any-minimal": "ANY is answered with one HINFO record (RFC 8482)",
  "empty-non-terminal": "{name} has no records, only names below it",
  "no-data": "{name} has no records of this type",
  "no-name": "{name} does not exist",
  signed: "{name} is signed: the answer has the signatures of its sets",
  "compact-denial": "an NSEC record says that {name} does not exist, with NOERROR (RFC 9824)",
} as const;

type RuleName = keyof typeof sentences;

export interface AppliedRule {
  readonly rule: RuleName;
  readonly key: NameKey;
}

export function subjectOf({ key }: AppliedRule): string {
  return formatName(keyOctets(key));
}

export function explainRule(applied: AppliedRule): string {
  return sentences[applied.rule].replace("{name}", () => subjectOf(applied));
}
