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
import type { ResourceRecord } from "../../wire/message.ts";
import { textKey, type NameKey } from "../../wire/name-key.ts";
import { formatName } from "../../wire/name.ts";
import { CLASS, TYPE } from "../../wire/numbers.ts";
import type { RecordSet } from "../../wire/record-set.ts";
import { answer, isOutsideNeeded, type AnswerContext } from "../answer.ts";
import type { OutsideQuestion } from "../outside.ts";
import type { Alias, ServedNode } from "../served-node.ts";
import type { ServedZone, ZoneChange } from "../served-zone.ts";
import { difference } from "./difference.ts";
import { ZoneJournal, type ZoneDelta } from "./journal.ts";

/** Some megabytes; a secondary that was away for longer takes the whole zone. */
const JOURNAL_RECORDS_MAX = 100_000;

const ADDRESS_TYPES = [TYPE.A, TYPE.AAAA] as const;

export class TransferredZone {
  readonly #records = new Map<NameKey, readonly ResourceRecord[]>();
  /** Names whose records depend on those of others, and may change with any change. */
  readonly #flattened = new Set<NameKey>();
  readonly #journal = new ZoneJournal({ recordsMax: JOURNAL_RECORDS_MAX });
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
    const keys = new Set(this.#flattened);
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
    if (node !== undefined && zone.view(node).flattened !== null) this.#flattened.add(key);
    else this.#flattened.delete(key);
    return records;
  }
}

/** What a resolver has to be asked before the flattened names of a zone can be written out. */
export function outsideQuestions(zone: ServedZone, context: AnswerContext): OutsideQuestion[] {
  const questions: OutsideQuestion[] = [];
  for (const node of zone.nodes()) {
    const { flattened, owner } = zone.view(node);
    if (flattened === null) continue;
    for (const type of ADDRESS_TYPES) {
      const result = answer({ name: owner, type, class: CLASS.IN }, context);
      if (isOutsideNeeded(result)) questions.push(...result.questions);
    }
  }
  return questions;
}

function nodeRecords(zone: ServedZone, node: ServedNode, context: AnswerContext): ResourceRecord[] {
  const { sets, flattened, owner } = zone.view(node);
  const records = [...sets.values()].filter(({ type }) => type !== TYPE.SOA).flatMap(fromSet);
  if (flattened === null) return records;
  const addresses = ADDRESS_TYPES.filter((type) => !sets.has(type)).flatMap((type) => {
    const result = answer({ name: owner, type, class: CLASS.IN }, context);
    return isOutsideNeeded(result) ? [] : result.answers.flatMap(fromSet);
  });
  if (addresses.length === 0 && records.length === 0 && node.key !== zone.apexKey) {
    // Nobody could say the addresses: whoever asks the secondary may find them by the alias.
    return [aliasRecord(owner, flattened)];
  }
  return [...records, ...addresses];
}

function aliasRecord(owner: Uint8Array, { target, ttlSeconds }: Alias): ResourceRecord {
  const name = formatName(owner);
  return { name, type: TYPE.CNAME, class: CLASS.IN, ttlSeconds, data: target };
}

function fromSet({ owner, type, ttlSeconds, data }: RecordSet): ResourceRecord[] {
  const name = formatName(owner);
  return data.map((each) => ({ name, type, class: CLASS.IN, ttlSeconds, data: each }));
}

function soaOf(zone: ServedZone): ResourceRecord {
  return fromSet(zone.soa)[0]!;
}
