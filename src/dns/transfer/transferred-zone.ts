/**
 * A zone as secondaries get it: plain records, which any name server can serve. Records that Ledge
 * makes while it answers (the platform's addresses for proxied names, flattened CNAMEs, generated
 * HTTPS records) are written out, so that a secondary gives the same answers.
 *
 * Every transfer, whole or incremental, is made from this copy. The copy changes only together with
 * its journal, so both kinds of transfer lead to the same zone. External addresses are those of the
 * zone's last change: a secondary does not ask again before the serial changes.
 *
 * A signed zone is transferred without signatures and without its keys: a key without signatures
 * would make the answers of a secondary bogus. A secondary signs with keys of its own.
 */
import { textKey, type NameKey } from "../wire/name-key.ts";
import { formatName } from "../wire/name.ts";
import { classCodes, rcodes, typeCodes } from "../wire/numbers.ts";
import type { RecordSet, ResourceRecord } from "../wire/resource-record.ts";
import { answer, type AnswerContext } from "../answer/answer.ts";
import {
  externalQuestion,
  isExternalNeeded,
  type ExternalAddresses,
  type ExternalNeeded,
  type ExternalQuestion,
} from "../answer/external-addresses.ts";
import type { Alias, NodeView, ServedNode } from "../answer/served-node.ts";
import type { ServedZone } from "../answer/served-zone.ts";
import type { ZoneChange } from "../answer/zone-data.ts";
import { compareRecords, ZoneJournal, type ZoneDelta } from "./journal.ts";

/** Some megabytes. A secondary with an older serial takes the whole zone. */
const journalRecordsMax = 100_000;

const addressTypes = [typeCodes.A, typeCodes.AAAA] as const;

export class TransferredZone {
  readonly #records = new Map<NameKey, readonly ResourceRecord[]>();
  /** Names with an expanded CNAME: any change of the zone can change their addresses. */
  readonly #expanded = new Set<NameKey>();
  readonly #journal = new ZoneJournal({ recordsMax: journalRecordsMax });
  #serial: number;
  #soa: ResourceRecord;

  constructor(zone: ServedZone, context: AnswerContext) {
    this.#serial = zone.serial;
    this.#soa = soaOf(zone);
    for (const node of zone.nodes()) this.#put(zone, node.key, context);
  }

  get serial(): number {
    return this.#serial;
  }

  get soa(): ResourceRecord {
    return this.#soa;
  }

  /** Everything but the SOA. */
  *records(): Generator<ResourceRecord> {
    for (const records of this.#records.values()) yield* records;
  }

  since(serial: number): readonly ZoneDelta[] | null {
    return this.#journal.since(serial);
  }

  /** @param change the change that was applied to the zone; `null` when the zone was replaced */
  follow(zone: ServedZone, change: ZoneChange | null, context: AnswerContext): void {
    if (zone.serial === this.#serial) return;
    const removed: ResourceRecord[] = [];
    const added: ResourceRecord[] = [];
    for (const key of this.#affectedNames(zone, change)) {
      const before = this.#records.get(key) ?? [];
      const changed = compareRecords(before, this.#put(zone, key, context));
      removed.push(...changed.removed);
      added.push(...changed.added);
    }
    const [soaBefore, soaAfter] = [this.#soa, soaOf(zone)];
    const serials = { from: this.#serial, to: zone.serial };
    this.#journal.append({ ...serials, soaBefore, soaAfter, removed, added });
    this.#serial = zone.serial;
    this.#soa = soaAfter;
  }

  #affectedNames(zone: ServedZone, change: ZoneChange | null): Set<NameKey> {
    const keys = new Set(this.#expanded);
    if (change === null || change.head !== undefined) {
      for (const key of this.#records.keys()) keys.add(key);
      for (const { key } of zone.nodes()) keys.add(key);
    } else {
      for (const { name } of [...change.removed, ...change.added]) keys.add(textKey(name));
    }
    return keys;
  }

  #put(zone: ServedZone, key: NameKey, context: AnswerContext): readonly ResourceRecord[] {
    const node = zone.find(key);
    const records = node === undefined ? [] : nodeRecords(zone, node, context);
    if (records.length === 0) this.#records.delete(key);
    else this.#records.set(key, records);
    const expanded = node !== undefined && expandedAlias(zone.view(node)) !== null;
    if (expanded) this.#expanded.add(key);
    else this.#expanded.delete(key);
    return records;
  }
}

/** The questions for a resolver that must be answered before the records can be written out. */
export function externalQuestions(zone: ServedZone, context: AnswerContext): ExternalQuestion[] {
  const questions: ExternalQuestion[] = [];
  for (const node of zone.nodes()) {
    const expanded = expandedAlias(zone.view(node));
    if (expanded === null) continue;
    for (const type of addressTypes) {
      const found = addresses(expanded.target, type, context);
      if (isExternalNeeded(found)) questions.push(found.question);
    }
  }
  return questions;
}

/**
 * The CNAME that is replaced by addresses: a flattened CNAME, or a CNAME beside other records, which
 * Ledge serves and other name servers refuse (RFC 2181 section 10.1).
 */
function expandedAlias({ flattened, alias, sets }: NodeView): Alias | null {
  return flattened ?? (sets.size > 1 ? alias : null);
}

function nodeRecords(zone: ServedZone, node: ServedNode, context: AnswerContext): ResourceRecord[] {
  const view = zone.view(node);
  const { sets, owner } = view;
  const expanded = expandedAlias(view);
  const records = [...sets.values()]
    .filter(({ type }) => type !== typeCodes.SOA)
    .filter(({ type }) => expanded === null || type !== typeCodes.CNAME)
    .map((set) => (node.key === zone.apexKey ? withoutKeys(set, zone) : set))
    .flatMap(recordsOf);
  if (expanded === null) return records;
  for (const type of addressTypes.filter((each) => !sets.has(each))) {
    const found = addresses(expanded.target, type, context);
    if (isExternalNeeded(found) || found.data.length === 0) continue;
    const ttlSeconds = Math.min(expanded.ttlSeconds, found.ttlSeconds);
    records.push(...recordsOf({ owner, type, ttlSeconds, data: found.data }));
  }
  // The addresses are unknown: clients of the secondary follow the CNAME.
  if (records.length === 0 && node.key !== zone.apexKey) {
    const { ttlSeconds, target } = expanded;
    return recordsOf({ owner, type: typeCodes.CNAME, ttlSeconds, data: [target] });
  }
  return records;
}

/** A DNSKEY record of the record API stays: it is the key of another server. */
function withoutKeys(set: RecordSet, { keySets }: ServedZone): RecordSet {
  const keys = keySets.find(({ type }) => type === set.type)?.data ?? [];
  const texts = new Set(keys.map(String));
  return keys.length === 0
    ? set
    : { ...set, data: set.data.filter((data) => !texts.has(String(data))) };
}

/** The addresses of the target of an alias, in a zone of this server or external. */
function addresses(
  target: Uint8Array,
  type: (typeof addressTypes)[number],
  context: AnswerContext,
): ExternalAddresses | ExternalNeeded {
  const result = answer({ name: target, type, class: classCodes.IN }, context);
  if (isExternalNeeded(result)) return result;
  if (result.rcode === rcodes.REFUSED) {
    const question = externalQuestion(target, type);
    const found = context.external.get(question, context.nowSeconds);
    if (found === undefined) return { kind: "external", question };
    return found === "failed" ? { data: [], ttlSeconds: 0 } : found;
  }
  const ttlSeconds = Math.min(...result.answers.map((set) => set.ttlSeconds));
  const data = result.answers.filter((set) => set.type === type).flatMap((set) => set.data);
  return { data, ttlSeconds };
}

function recordsOf({ owner, type, ttlSeconds, data }: RecordSet): ResourceRecord[] {
  const name = formatName(owner);
  return data.map((each) => ({ name, type, class: classCodes.IN, ttlSeconds, data: each }));
}

function soaOf(zone: ServedZone): ResourceRecord {
  return recordsOf(zone.soa)[0]!;
}
