/**
 * A zone as secondaries get it: plain records, which any name server can serve. Records that Ledge
 * makes while it answers (the platform's addresses for proxied names, flattened CNAMEs, generated
 * HTTPS records) are written out, so that a secondary gives the same answers.
 *
 * Every transfer, whole or incremental, is made from this copy. The copy changes only together with
 * its journal, so both kinds of transfer lead to the same zone. External addresses are those of the
 * zone's last change: a secondary does not ask again before the serial changes. When addresses have
 * changed, the zone takes a new serial (`src/dns/server/outgoing-transfers.ts`).
 *
 * A signed zone is transferred without signatures and without its keys: a key without signatures
 * would make the answers of a secondary bogus. A secondary signs with keys of its own.
 */
import { answerAt, minimalSet, type AnswerContext } from "../answer/answer.ts";
import { isExternalNeeded, type ExternalQuestion } from "../answer/external-addresses.ts";
import type { ServedNode } from "../answer/served-node.ts";
import { ServedZones, type ServedZone } from "../answer/served-zones.ts";
import type { ZoneChange, ZoneData } from "../rules/zone.ts";
import { formatName, isAtOrBelow, nameKey, textKey, type NameKey } from "../wire/name.ts";
import { classCodes, rcodes, typeCodes } from "../wire/numbers.ts";
import type { RecordSet, ResourceRecord } from "../wire/resource-record.ts";

/** Some megabytes. A secondary with an older serial takes the whole zone. */
const journalRecordsMax = 100_000;

const addressTypes = [typeCodes.A, typeCodes.AAAA] as const;

interface RecordDifference {
  readonly removed: readonly ResourceRecord[];
  readonly added: readonly ResourceRecord[];
}

/** What a serial changed, as it is transferred (RFC 1995). The lists are without SOA. */
export interface ZoneDelta extends RecordDifference {
  readonly from: number;
  readonly to: number;
  readonly soaBefore: ResourceRecord;
  readonly soaAfter: ResourceRecord;
}

export class TransferredZone {
  readonly #records = new Map<NameKey, readonly ResourceRecord[]>();
  /** Names with a flattened CNAME: any change of the zone can change their addresses. */
  readonly #flattened = new Set<NameKey>();
  /** The journal: without a gap up to the current serial. It is lost when the process ends. */
  readonly #deltas: ZoneDelta[] = [];
  #journalRecords = 0;
  serial: number;
  soa: ResourceRecord;

  constructor(zone: ServedZone, context: AnswerContext) {
    this.serial = zone.serial;
    this.soa = soaOf(zone);
    for (const node of zone.nodes()) this.#put(zone, node.key, context);
  }

  *records(): Generator<ResourceRecord> {
    for (const records of this.#records.values()) yield* records;
  }

  /** The deltas from a serial to the last; `null` when the journal does not have the serial. */
  since(serial: number): readonly ZoneDelta[] | null {
    const start = this.#deltas.findIndex(({ from }) => from === serial);
    return start < 0 ? null : this.#deltas.slice(start);
  }

  /** Whether a flattened name can have its addresses from another zone or an external name. */
  dependsOnOthers(zone: ServedZone): boolean {
    return [...this.#flattened].some((key) => {
      const node = zone.find(key);
      const target = node && zone.view(node).flattened?.target;
      if (target === undefined) return false;
      const targetKey = nameKey(target);
      if (!isAtOrBelow(targetKey, zone.apexKey)) return true;
      const location = zone.locate(targetKey, typeCodes.A);
      if (location.kind !== "exact") return true;
      const { alias, flattened } = zone.view(location.node);
      return alias !== null || flattened !== null;
    });
  }

  /** Whether flattened names have other addresses now than in this copy. */
  isStale(zone: ServedZone, context: AnswerContext): boolean {
    return [...this.#flattened].some((key) => {
      const node = zone.find(key);
      if (node === undefined) return false;
      const before = withoutTtls(this.#records.get(key) ?? []);
      return withoutTtls(nodeRecords(zone, node, context)) !== before;
    });
  }

  /** @param change the change that was applied to the zone; `null` when the zone was replaced */
  follow(zone: ServedZone, change: ZoneChange | null, context: AnswerContext): void {
    if (zone.serial === this.serial) return;
    const removed: ResourceRecord[] = [];
    const added: ResourceRecord[] = [];
    for (const key of this.#affectedNames(zone, change)) {
      const before = this.#records.get(key) ?? [];
      const changed = compareRecords(before, this.#put(zone, key, context));
      removed.push(...changed.removed);
      added.push(...changed.added);
    }
    const [soaBefore, soaAfter] = [this.soa, soaOf(zone)];
    const delta = { from: this.serial, to: zone.serial, soaBefore, soaAfter, removed, added };
    this.serial = zone.serial;
    this.soa = soaAfter;
    this.#deltas.push(delta);
    this.#journalRecords += recordCount(delta);
    while (this.#journalRecords > journalRecordsMax) {
      this.#journalRecords -= recordCount(this.#deltas.shift()!);
    }
  }

  #affectedNames(zone: ServedZone, change: ZoneChange | null): Set<NameKey> {
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
    const isFlattened = node !== undefined && zone.view(node).flattened !== null;
    if (isFlattened) this.#flattened.add(key);
    else this.#flattened.delete(key);
    return records;
  }
}

/** The questions for a resolver that must be answered before the records can be written out. */
export function externalQuestions(zone: ServedZone, context: AnswerContext): ExternalQuestion[] {
  const questions: ExternalQuestion[] = [];
  for (const node of zone.nodes()) {
    if (zone.view(node).flattened === null) continue;
    for (const type of addressTypes) {
      const result = answerAt(zone, node, type, context);
      if (isExternalNeeded(result)) questions.push(result.question);
    }
  }
  return questions;
}

interface ReplayOptions extends AnswerContext {
  readonly platformAddresses: readonly string[];
  readonly current: TransferredZone;
}

/**
 * The copy and its journal after a restart, from the zone at an earlier serial and the changes that
 * the zone object has logged since then. The log does not have the addresses that flattened names had
 * when their targets are in other zones or elsewhere, so a secondary may have others than a replay
 * would remove. Such a zone is not replayed, and its secondaries take the whole zone once.
 *
 * @param start the zone before the changes
 * @returns `null` when the changes do not lead to the current zone
 */
export function replayZone(
  start: ZoneData,
  changes: readonly ZoneChange[],
  { platformAddresses, external, nowSeconds, current }: ReplayOptions,
): TransferredZone | null {
  const zones = new ServedZones({ platformAddresses });
  zones.put(start);
  const context = { zones, external, nowSeconds };
  const replayed = new TransferredZone(zones.get(start.id)!, context);
  for (const change of changes) {
    if (replayed.dependsOnOthers(zones.get(start.id)!)) return null;
    zones.apply(start.id, change);
    replayed.follow(zones.get(start.id)!, change, context);
  }
  if (replayed.serial !== current.serial || replayed.dependsOnOthers(zones.get(start.id)!)) {
    return null;
  }
  const { removed, added } = compareRecords([...current.records()], [...replayed.records()]);
  return removed.length === 0 && added.length === 0 ? replayed : null;
}

/** Addresses of flattened names come from `answerAt()`, so that a secondary answers as Ledge does. */
function nodeRecords(zone: ServedZone, node: ServedNode, context: AnswerContext): ResourceRecord[] {
  const { sets, owner, flattened } = zone.view(node);
  const records = [...sets.values()]
    .filter(({ type }) => type !== typeCodes.SOA)
    .map((set) => (node.key === zone.apexKey ? withoutKeys(set, zone) : set))
    .flatMap(recordsOf);
  if (flattened === null) return records;
  let isKnown = true;
  for (const type of addressTypes.filter((each) => !sets.has(each))) {
    const result = answerAt(zone, node, type, context);
    if (isExternalNeeded(result) || result.rcode !== rcodes.NOERROR) isKnown = false;
    else records.push(...result.answers.flatMap(recordsOf));
  }
  if (records.length > 0) return records;
  // Without a record the name would not exist for a secondary: a wildcard could answer in its place.
  if (isKnown) return recordsOf(minimalSet(owner));
  // The addresses are unknown: clients of the secondary follow the CNAME.
  const { ttlSeconds, target } = flattened;
  return recordsOf({ owner, type: typeCodes.CNAME, ttlSeconds, data: [target] });
}

/** A DNSKEY record of the record API stays: it is the key of another server. */
function withoutKeys(set: RecordSet, { keySets }: ServedZone): RecordSet {
  const keys = keySets.find(({ type }) => type === set.type)?.data ?? [];
  const texts = new Set(keys.map(String));
  return keys.length === 0
    ? set
    : { ...set, data: set.data.filter((data) => !texts.has(String(data))) };
}

function withoutTtls(records: readonly ResourceRecord[]): string {
  return records
    .map(({ type, data }) => `${type} ${data.join(" ")}`)
    .toSorted()
    .join("\n");
}

function recordsOf({ owner, type, ttlSeconds, data }: RecordSet): ResourceRecord[] {
  const name = formatName(owner);
  return data.map((each) => ({ name, type, class: classCodes.IN, ttlSeconds, data: each }));
}

function soaOf(zone: ServedZone): ResourceRecord {
  return recordsOf(zone.soa)[0]!;
}

/** With the two SOAs, so that an empty delta counts too. */
function recordCount({ removed, added }: ZoneDelta): number {
  return removed.length + added.length + 2;
}

/** Compares lists in any order. A zone holds no record twice (RFC 2181 section 5). */
export function compareRecords(
  before: readonly ResourceRecord[],
  after: readonly ResourceRecord[],
): RecordDifference {
  const removed = new Map(before.map((record) => [recordKey(record), record]));
  const added = new Map<string, ResourceRecord>();
  for (const record of after) {
    const key = recordKey(record);
    if (!removed.delete(key)) added.set(key, record);
  }
  return { removed: [...removed.values()], added: [...added.values()] };
}

/** The key has the TTL: IXFR can change a TTL only by removing and adding the record. */
function recordKey({ name, type, class: recordClass, ttlSeconds, data }: ResourceRecord): string {
  return `${textKey(name)} ${type} ${recordClass} ${ttlSeconds} ${String.fromCharCode(...data)}`;
}
