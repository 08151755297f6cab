/**
 * A zone as secondaries get it: plain records, which any name server can serve. What Ledge makes up
 * while it answers (the platform's addresses for proxied names, flattened CNAMEs, HTTPS records) is
 * written out, so that a secondary answers the same.
 *
 * The copy here is what every transfer is made from, whole or incremental: it changes only together
 * with the journal, so a secondary that follows the journal ends with what a whole transfer gives.
 * Addresses that a resolver gave for flattened names are those of the zone's last change: without a
 * new serial no secondary would come for newer ones.
 */
import type { RecordSet, ResourceRecord } from "../wire/resource-record.ts";
import { textKey, type NameKey } from "../wire/name-key.ts";
import { formatName } from "../wire/name.ts";
import { classCodes, rcodes, typeCodes } from "../wire/numbers.ts";
import { answer, isExternalNeeded, type AnswerContext } from "../answer/answer.ts";
import type { ExternalQuestion } from "../answer/external-addresses.ts";
import type { Alias, NodeView, ServedNode } from "../answer/served-node.ts";
import type { ServedZone, ZoneChange } from "../answer/served-zone.ts";
import { difference } from "./difference.ts";
import { ZoneJournal, type ZoneDelta } from "./journal.ts";

/** Some megabytes; a secondary that was away for longer takes the whole zone. */
const journalRecordsMax = 100_000;

const addressTypes = [typeCodes.A, typeCodes.AAAA] as const;

export class TransferredZone {
  readonly #records = new Map<NameKey, readonly ResourceRecord[]>();
  /** Names whose records depend on those of others, and may change with any change. */
  readonly #dissolved = new Set<NameKey>();
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

  /** @param change what the zone has just taken; `null` when it came whole */
  follow(zone: ServedZone, change: ZoneChange | null, context: AnswerContext): void {
    if (zone.serial === this.#serial) return;
    const removed: ResourceRecord[] = [];
    const added: ResourceRecord[] = [];
    for (const key of this.#touched(zone, change)) {
      const before = this.#records.get(key) ?? [];
      const changed = difference(before, this.#put(zone, key, context));
      removed.push(...changed.removed);
      added.push(...changed.added);
    }
    const soaBefore = this.#soa;
    const soaAfter = soaOf(zone);
    this.#journal.append({
      from: this.#serial,
      to: zone.serial,
      soaBefore,
      soaAfter,
      removed,
      added,
    });
    this.#serial = zone.serial;
    this.#soa = soaAfter;
  }

  #touched(zone: ServedZone, change: ZoneChange | null): Set<NameKey> {
    const keys = new Set(this.#dissolved);
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
    const dissolved = node !== undefined && dissolvedAlias(zone.view(node)) !== null;
    if (dissolved) this.#dissolved.add(key);
    else this.#dissolved.delete(key);
    return records;
  }
}

/** What a resolver has to be asked before the names of a zone can be written out. */
export function outsideQuestions(zone: ServedZone, context: AnswerContext): ExternalQuestion[] {
  const questions: ExternalQuestion[] = [];
  for (const node of zone.nodes()) {
    const dissolved = dissolvedAlias(zone.view(node));
    if (dissolved === null) continue;
    for (const type of addressTypes) {
      const found = addresses(dissolved.target, type, context);
      if ("question" in found) questions.push(found.question);
    }
  }
  return questions;
}

/**
 * The CNAME that addresses stand for: a flattened one, and one that has other records beside it,
 * which Ledge serves and other name servers refuse (RFC 2181 section 10.1).
 */
function dissolvedAlias({ flattened, alias, sets }: NodeView): Alias | null {
  return flattened ?? (sets.size > 1 ? alias : null);
}

function nodeRecords(zone: ServedZone, node: ServedNode, context: AnswerContext): ResourceRecord[] {
  const view = zone.view(node);
  const { sets, owner } = view;
  const dissolved = dissolvedAlias(view);
  const left = dissolved === null ? [typeCodes.SOA] : [typeCodes.SOA, typeCodes.CNAME];
  const records = [...sets.values()]
    .filter(({ type }) => !(left as number[]).includes(type))
    .flatMap(fromSet);
  if (dissolved === null) return records;
  for (const type of addressTypes.filter((each) => !sets.has(each))) {
    const found = addresses(dissolved.target, type, context);
    if ("question" in found || found.data.length === 0) continue;
    const ttlSeconds = Math.min(dissolved.ttlSeconds, found.ttlSeconds);
    records.push(...fromSet({ owner, type, ttlSeconds, data: found.data }));
  }
  // Nobody could say the addresses: whoever asks the secondary may find them by the alias.
  if (records.length === 0 && node.key !== zone.apexKey) return [aliasRecord(owner, dissolved)];
  return records;
}

interface Addresses {
  readonly data: readonly Uint8Array[];
  readonly ttlSeconds: number;
}

const noAddresses: Addresses = { data: [], ttlSeconds: 0 };

/** Of the target of an alias, in a zone here or elsewhere. */
function addresses(
  target: Uint8Array,
  type: (typeof addressTypes)[number],
  context: AnswerContext,
): Addresses | { readonly question: ExternalQuestion } {
  const result = answer({ name: target, type, class: classCodes.IN }, context);
  if (isExternalNeeded(result)) return { question: result.questions[0]! };
  if (result.rcode === rcodes.REFUSED) {
    const name = formatName(target);
    const question = { name, type: type === typeCodes.A ? ("A" as const) : ("AAAA" as const) };
    const found = context.outside.get(question, context.nowSeconds);
    if (found === undefined) return { question };
    return found === "failed" ? noAddresses : found;
  }
  const ttlSeconds = Math.min(...result.answers.map((set) => set.ttlSeconds));
  const data = result.answers.filter((set) => set.type === type).flatMap((set) => set.data);
  return { data, ttlSeconds };
}

function aliasRecord(owner: Uint8Array, { target, ttlSeconds }: Alias): ResourceRecord {
  const name = formatName(owner);
  return { name, type: typeCodes.CNAME, class: classCodes.IN, ttlSeconds, data: target };
}

function fromSet({ owner, type, ttlSeconds, data }: RecordSet): ResourceRecord[] {
  const name = formatName(owner);
  return data.map((each) => ({ name, type, class: classCodes.IN, ttlSeconds, data: each }));
}

function soaOf(zone: ServedZone): ResourceRecord {
  return fromSet(zone.soa)[0]!;
}
