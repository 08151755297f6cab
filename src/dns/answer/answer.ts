/**
 * The answer to a question, from zones in memory: RFC 1034 section 4.3.2 as amended, and the
 * service's own rules. In order:
 *
 *  1. Another class than IN, or a name in no zone here: REFUSED.
 *  2. At or below a delegation: a referral; DS at the cut itself is the zone's own.
 *  3. A name that exists, or the wildcard of its closest encloser, answers:
 *     ANY with one HINFO record; a type that it has with that set; a flattened CNAME with addresses
 *     of its target; a CNAME with itself, and all this again for its target.
 *  4. Otherwise NXDOMAIN or no data, with the SOA.
 *
 * Deviation: answers are not signed; DS and DNSKEY are served as they were told, and DO changes
 * nothing.
 *
 * A proxied name has the platform's sets in place of its own (served-node.ts), so no rule here
 * speaks of it but to say so. Nothing waits: where a resolver is needed and has not been asked, the
 * result says what to ask for.
 */
import { nameKey, type NameKey } from "../wire/name-key.ts";
import { formatName } from "../wire/name.ts";
import { classCodes, rcodes, typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import { locate } from "./locate.ts";
import type { ExternalAddressCache, ExternalQuestion } from "./external-addresses.ts";
import { refer } from "./referral.ts";
import type { Rule, RuleName } from "./explanation.ts";
import type { Alias, NodeView, ServedNode } from "./served-node.ts";
import type { ServedZone } from "./served-zone.ts";
import type { ServedZones } from "./served-zones.ts";

/** Resolvers give up at about this depth; a longer chain is cut, and left to them. */
const chainLengthMax = 16;
/** RFC 8482 section 4.2; the TTL is the operator's choice. */
const anyTtlSeconds = 3600;
/** CPU "RFC8482", no OS. */
const anyData = Uint8Array.of(7, 0x52, 0x46, 0x43, 0x38, 0x34, 0x38, 0x32, 0);

const noSets: readonly RecordSet[] = [];

export interface WireQuestion {
  /** A whole name as octets, in the case in which it was asked for. */
  readonly name: Uint8Array;
  readonly type: number;
  readonly class: number;
}

export interface Answer {
  readonly rcode: number;
  readonly authoritative: boolean;
  readonly answers: readonly RecordSet[];
  readonly authorities: readonly RecordSet[];
  /** Needed addresses of a referral's servers: without room for them an answer is truncated. */
  readonly glue: readonly RecordSet[];
  /** What is left out in silence when there is no room. */
  readonly additionals: readonly RecordSet[];
  readonly rules: readonly Rule[];
  /** The same until the zones change, and for a name that exists: worth being kept. */
  readonly lasting: boolean;
}

export interface AnswerContext {
  readonly zones: ServedZones;
  readonly outside: ExternalAddressCache;
  readonly nowSeconds: number;
}

/** A resolver has to be asked first. */
export interface ExternalNeeded {
  readonly questions: readonly ExternalQuestion[];
}

class Lookup {
  readonly #context: AnswerContext;
  readonly #type: number;
  /** Names on the way, those of flattened chains included. */
  readonly #met: Set<NameKey>;
  rcode: number = rcodes.NOERROR;
  authoritative = false;
  lasting = true;
  readonly answers: RecordSet[] = [];
  readonly authorities: RecordSet[] = [];
  glue = noSets;
  additionals = noSets;
  readonly rules: Rule[];
  /** Where the chain went that no zone here can follow. */
  left: Uint8Array | null = null;
  looped = false;
  needed: ExternalQuestion | null = null;

  constructor(context: AnswerContext, type: number, from?: Lookup) {
    this.#context = context;
    this.#type = type;
    this.#met = from === undefined ? new Set() : from.#met;
    this.rules = from === undefined ? [] : from.rules;
  }

  #note(rule: RuleName, key: NameKey): void {
    this.rules.push({ rule, key });
  }

  start(name: Uint8Array): void {
    const key = nameKey(name);
    const zone = this.#context.zones.findFor(key, this.#type);
    if (zone === undefined) {
      this.#note("no-zone", key);
      this.rcode = rcodes.REFUSED;
      this.lasting = false;
      return;
    }
    this.#note("zone", zone.apexKey);
    this.#lookUp(zone, key, name);
  }

  #lookUp(zone: ServedZone, key: NameKey, owner: Uint8Array): void {
    this.#met.add(key);
    const place = locate(zone, key, this.#type);
    switch (place.kind) {
      case "cut":
        return this.#refer(zone, place.node, owner);
      case "exact": {
        this.authoritative = true;
        const view = zone.view(place.node);
        return this.#answerFrom(zone, place.node, { view, owner: view.owner, key });
      }
      case "wildcard":
        this.authoritative = true;
        this.lasting = false;
        this.#note("wildcard", place.node.key);
        return this.#answerFrom(zone, place.node, { view: zone.view(place.node), owner, key });
      case "none":
        this.authoritative = true;
        this.lasting = false;
        this.#note("no-name", key);
        this.rcode = rcodes.NXDOMAIN;
        this.authorities.push(zone.negativeSoa);
    }
  }

  #refer(zone: ServedZone, cut: ServedNode, owner: Uint8Array): void {
    const { servers, glue, siblings } = refer(zone, cut);
    this.#note("delegated", cut.key);
    this.authorities.push(servers);
    this.glue = glue;
    this.additionals = siblings;
    this.left = owner;
    // Any name below a cut gets a referral; keeping one for each would be keeping what is asked.
    this.lasting = false;
  }

  #answerFrom(
    zone: ServedZone,
    node: ServedNode,
    { view, owner, key }: { view: NodeView; owner: Uint8Array; key: NameKey },
  ): void {
    const type = this.#type;
    if (view.sets.size === 0 && view.flattened === null) {
      this.#note(node.records.length === 0 ? "empty-non-terminal" : "no-data", key);
      this.authorities.push(zone.negativeSoa);
      return;
    }
    if (type === typeCodes.ANY) {
      this.#note("any-minimal", key);
      const data = [anyData];
      this.answers.push({ owner, type: typeCodes.HINFO, ttlSeconds: anyTtlSeconds, data });
      return;
    }
    const set = view.sets.get(type);
    if (set !== undefined) {
      this.#noteSet(view, key);
      this.answers.push(owner === view.owner ? set : { ...set, owner });
      return;
    }
    const isAddress = type === typeCodes.A || type === typeCodes.AAAA;
    if (view.flattened !== null && isAddress) {
      this.#note("flattened", key);
      return this.#flatten(zone, view.flattened, owner);
    }
    if (view.alias !== null) {
      const alias = view.sets.get(typeCodes.CNAME)!;
      this.#note("alias", key);
      this.answers.push(owner === view.owner ? alias : { ...alias, owner });
      return this.#follow(view.alias.target);
    }
    this.#note("no-data", key);
    this.authorities.push(zone.negativeSoa);
  }

  #noteSet({ proxied, madeHttps }: NodeView, key: NameKey): void {
    const type = this.#type;
    if (type === typeCodes.DS) this.#note("parent-side", key);
    else if (proxied && (type === typeCodes.A || type === typeCodes.AAAA))
      this.#note("proxied", key);
    else if (madeHttps && type === typeCodes.HTTPS) this.#note("https-made", key);
    else this.#note("exact", key);
  }

  /** RFC 1034 section 4.3.2 step 3a; into other zones of this server as well. */
  #follow(target: Uint8Array): void {
    const key = nameKey(target);
    if (this.#met.has(key) || this.#met.size >= chainLengthMax) {
      this.#note("alias-loops", key);
      this.looped = true;
      // RFC 1034 section 3.6.2: a loop is an error; a chain that is only long is left to others.
      if (this.#met.has(key)) this.rcode = rcodes.SERVFAIL;
      return;
    }
    const zone = this.#context.zones.findFor(key, this.#type);
    if (zone === undefined) {
      this.#note("alias-leaves", key);
      this.left = target;
      return;
    }
    this.#lookUp(zone, key, target);
  }

  /** The target's addresses under the name of the alias, for the least TTL on the way. */
  #flatten(zone: ServedZone, alias: Alias, owner: Uint8Array): void {
    const inner = new Lookup(this.#context, this.#type, this);
    inner.#follow(alias.target);
    this.needed = inner.needed;
    if (inner.needed !== null) return;
    if (!inner.lasting) this.lasting = false;
    if (inner.looped || inner.rcode === rcodes.SERVFAIL) {
      this.rcode = rcodes.SERVFAIL;
      return;
    }
    let ttlSeconds = alias.ttlSeconds;
    const data: Uint8Array[] = [];
    for (const set of inner.answers) {
      ttlSeconds = Math.min(ttlSeconds, set.ttlSeconds);
      if (set.type === this.#type) data.push(...set.data);
    }
    if (inner.left !== null) {
      const outside = this.#askOutside(inner.left);
      if (outside === null) return;
      ttlSeconds = Math.min(ttlSeconds, outside.ttlSeconds);
      data.push(...outside.data);
    }
    if (data.length > 0) {
      this.answers.push({ owner, type: this.#type, ttlSeconds, data });
    } else {
      this.authorities.push(zone.negativeSoa);
    }
  }

  #askOutside(name: Uint8Array): { data: readonly Uint8Array[]; ttlSeconds: number } | null {
    const { outside, nowSeconds } = this.#context;
    const question = {
      name: formatName(name),
      type: this.#type === typeCodes.A ? ("A" as const) : ("AAAA" as const),
    };
    this.lasting = false;
    const found = outside.get(question, nowSeconds);
    if (found === undefined) {
      this.needed = question;
      return null;
    }
    if (found !== "failed") {
      this.#note("outside-answer", nameKey(name));
      return found;
    }
    this.#note("outside-failed", nameKey(name));
    this.rcode = rcodes.SERVFAIL;
    return null;
  }
}

export function answer(question: WireQuestion, context: AnswerContext): Answer | ExternalNeeded {
  const lookup = new Lookup(context, question.type);
  if (question.class === classCodes.IN) lookup.start(question.name);
  else {
    lookup.rules.push({ rule: "other-class", key: nameKey(question.name) });
    lookup.rcode = rcodes.REFUSED;
    lookup.lasting = false;
  }
  if (lookup.needed !== null) return { questions: [lookup.needed] };
  if (lookup.rcode !== rcodes.SERVFAIL || lookup.looped) return lookup;
  // Half an answer would be taken for a whole one.
  return { ...emptyAnswer(rcodes.SERVFAIL), rules: lookup.rules };
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
    lasting: false,
  };
}

export function isExternalNeeded(result: Answer | ExternalNeeded): result is ExternalNeeded {
  return "questions" in result;
}
