/**
 * The record writes of one transaction, which take one serial. Each write is checked against the zone
 * as the earlier writes left it. `checkTargets` then checks the rules that only the final zone can
 * satisfy. A ZoneError thrown anywhere rolls back the whole transaction. The import of a zone file is
 * one transaction.
 */
import {
  atLine,
  atPlace,
  problem,
  requireValid,
  ZoneError,
  type Problem,
} from "../../src/dns/record/problem.ts";
import { isInZone } from "../../src/dns/record/record-name.ts";
import { recordType } from "../../src/dns/record/types.ts";
import {
  annotationDates,
  isSameDraft,
  type RecordDraft,
  type ZoneRecord,
} from "../../src/dns/record/zone-record.ts";
import { acceptRecord, type RecordRequest } from "../../src/dns/rules/accept-record.ts";
import {
  findBrokenTarget,
  findConflict,
  isConflict,
  namesBelowApex,
  wildcardsFor,
  type TargetState,
} from "../../src/dns/rules/record-conflict.ts";
import { applyRecordPatch } from "../../src/dns/rules/record-json.ts";
import { composeZoneFile } from "../../src/dns/zone-file/compose.ts";
import { readZoneFile } from "../../src/dns/zone-file/parse.ts";
import type { Message } from "./object-call.ts";
import type { RecordTable } from "./record-table.ts";
import type { RecordStep, ZoneDatabase, ZoneIdentity } from "./zone-database.ts";

/** A CNAME chain reached a name that `external` lacks: look it up, then repeat the transaction. */
export class ExternalTargetUnknown extends Error {
  override name = "ExternalTargetUnknown";
  readonly target: string;
  constructor(target: string) {
    super(`${target} is not known yet`);
    this.target = target;
  }
}

/** What a CNAME chain needs to know of a name, wildcards and delegations included. */
export function lookUpName(records: RecordTable, name: string, zoneName: string): TargetState {
  const owned = [name, ...wildcardsFor(name, zoneName)]
    .values()
    .map((owner) => records.neighbours(owner))
    .find(({ length }) => length > 0);
  if (owned === undefined) {
    const delegated = (owner: string) =>
      records.neighbours(owner).some(({ type }) => type === "NS");
    return namesBelowApex(name, zoneName).some(delegated) ? "external" : null;
  }
  return {
    hasAddress: owned.some(({ type }) => type === "A" || type === "AAAA"),
    cname: owned.find(({ type }) => type === "CNAME")?.content ?? null,
  };
}

export class ZoneTransaction {
  readonly database: ZoneDatabase;
  readonly identity: ZoneIdentity;
  /** What is known of names that this zone does not have. */
  readonly external: ReadonlyMap<string, TargetState>;
  readonly changes: RecordStep[] = [];
  readonly #records: RecordTable;
  readonly #rules;
  readonly #now = new Date().toISOString();
  readonly #proxiedCnames = new Map<string, { readonly target: string; readonly place: string }>();
  /** Of the write, where there are several; empty otherwise. */
  place = "";

  constructor(database: ZoneDatabase, external: ZoneTransaction["external"]) {
    this.database = database;
    this.identity = database.requireIdentity();
    this.external = external;
    this.#records = database.records;
    const { name: zoneName, nameServers } = this.identity;
    this.#rules = { ...database.config, zoneName, nameServers };
  }

  #accept(request: RecordRequest, id: string): RecordDraft {
    const draft = requireValid((report) => acceptRecord(request, this.#rules, report));
    const neighbours = this.#records.neighbours(draft.name, id);
    const conflict = findConflict(draft, neighbours, this.#rules);
    if (conflict !== null) throw new ZoneError([conflict]);
    return draft;
  }

  /** `checkTargets` follows the chains, because a batch may create a target after its CNAME. */
  #addChain(draft: RecordDraft, id: string): void {
    if (draft.type === "CNAME" && draft.proxied) {
      this.#proxiedCnames.set(id, { target: draft.content, place: this.place });
    } else this.#proxiedCnames.delete(id);
  }

  create(request: RecordRequest): ZoneRecord {
    const [record] = this.#insert([this.#accept(request, "")]);
    return record!;
  }

  #insert(drafts: readonly RecordDraft[]): readonly ZoneRecord[] {
    if (this.#records.count() + drafts.length > this.database.config.recordQuota) {
      throw new ZoneError([problem.recordQuota()]);
    }
    const now = this.#now;
    const records = drafts.map((draft) => {
      const id = crypto.randomUUID().replaceAll("-", "");
      const dates = { createdOn: now, modifiedOn: now, ...annotationDates(draft, null, now) };
      return { ...draft, id, ...dates };
    });
    this.#records.insert(records);
    for (const record of records) {
      this.#addChain(record, record.id);
      this.changes.push({ action: "add", record });
    }
    return records;
  }

  /**
   * Creates the records that do not exist yet. All of them are read and written together, which takes
   * a fraction of the time of as many `create()`.
   *
   * @returns the number of new records, and the problems of the requests by their index; if there is
   *   a problem, nothing is written
   */
  createAbsent(requests: readonly RecordRequest[]): {
    readonly added: number;
    readonly refused: readonly (readonly [index: number, found: Problem])[];
  } {
    const refused: [number, Problem][] = [];
    const drafts = requests.map((request, index) => {
      const before = refused.length;
      const report = (found: Problem): unknown => refused.push([index, found]);
      const draft = acceptRecord(request, this.#rules, report);
      return refused.length === before ? draft : undefined;
    });
    const names = drafts.flatMap((draft) => draft?.name ?? []);
    const taken = this.#records.neighboursOf(names);
    const { code: identical } = problem.identicalRecord();
    const absent: RecordDraft[] = [];
    for (const [index, draft] of drafts.entries()) {
      if (draft === undefined) continue;
      const neighbours = taken.get(draft.name) ?? [];
      const conflict = findConflict(draft, neighbours, this.#rules);
      if (conflict?.code === identical) continue;
      if (conflict !== null) refused.push([index, conflict]);
      absent.push(draft);
      neighbours.push(draft);
      taken.set(draft.name, neighbours);
    }
    if (refused.length > 0) return { added: 0, refused };
    if (absent.length > 0) this.#insert(absent);
    return { added: absent.length, refused };
  }

  requireUnmodified(id: string, modifiedOn: string): void {
    if (this.#records.get(id).modifiedOn !== modifiedOn) {
      throw new ZoneError([problem.recordChanged()]);
    }
  }

  overwrite(id: string, request: RecordRequest): ZoneRecord {
    return this.#replace(this.#records.get(id), request);
  }

  edit(id: string, patch: RecordRequest): ZoneRecord {
    const current = this.#records.get(id);
    return this.#replace(current, applyRecordPatch(current, patch));
  }

  #replace(current: ZoneRecord, request: RecordRequest): ZoneRecord {
    const draft = this.#accept(request, current.id);
    if (isSameDraft(current, draft)) return current;
    const dates = { modifiedOn: this.#now, ...annotationDates(draft, current, this.#now) };
    const record = { ...current, ...draft, ...dates };
    this.#records.update(record);
    // A chain that broke since then must not prevent a new comment.
    if (draft.content !== current.content || draft.proxied !== current.proxied) {
      this.#addChain(draft, current.id);
    }
    this.changes.push({ action: "remove", record: current }, { action: "add", record });
    return record;
  }

  remove(id: string): ZoneRecord {
    const record = this.#records.get(id);
    this.#records.remove(id);
    this.#proxiedCnames.delete(id);
    this.changes.push({ action: "remove", record });
    return record;
  }

  #lookUp = (name: string): TargetState => {
    const { name: zoneName } = this.identity;
    const own = isInZone(name, zoneName) ? lookUpName(this.#records, name, zoneName) : null;
    if (own !== null) return own;
    // A name below the apex may belong to another zone: the zone of a subdomain.
    const known = this.external.get(name);
    if (known === undefined) throw new ExternalTargetUnknown(name);
    return known;
  };

  checkTargets(): void {
    for (const { target, place } of this.#proxiedCnames.values()) {
      const broken = findBrokenTarget(target, this.#lookUp);
      if (broken === null) continue;
      const found = problem.targetNotAllowed(broken);
      throw new ZoneError([place === "" ? found : atPlace(found, place)]);
    }
  }
}

/**
 * Creates the records of the configuration file that do not exist yet, except those that cannot stand beside records
 * of the zone: what was made since then counts.
 *
 * @returns a sentence for each record that is left out
 * @throws ZoneError for a record that no zone could have
 */
export function declareRecords(
  requests: readonly RecordRequest[],
  transaction: ZoneTransaction,
): string[] {
  const { name } = transaction.identity;
  const { refused } = transaction.createAbsent(requests);
  for (const [index, found] of refused) {
    if (isConflict(found)) continue;
    throw new ZoneError([problem.configuration(`records[${index}] of ${name}: ${found.message}`)]);
  }
  const left = new Map(refused);
  if (left.size > 0) transaction.createAbsent(requests.filter((_, index) => !left.has(index)));
  return refused.map(([index, { message }]) => {
    const { type, name: owner } = requests[index] as Record<"type" | "name", string>;
    return (
      `[dns]: records[${index}] of ${name} (${type} ${owner}) is not created: ${message} Delete the other record ` +
      `(ledge dns delete) and start again, or remove records[${index}] from the configuration.`
    );
  });
}

/** More problems than a person reads. */
const problemsShownMax = 100;
const messagesShownMax = 100;
/** The deployed service has no such message; the codes of `problem.ts` have the same range. */
const ttlMovedCode = 9453;

/** More than five times what a file of the allowed size can hold without $GENERATE. */
const importRecordsMax = 100_000;

/** A file names the servers of its zone. The servers that every zone has here are not records. */
function isAssignedNameServer({ type, name, content }: RecordRequest, zone: ZoneIdentity): boolean {
  const target = String(content).toLowerCase().replace(/\.$/, "");
  return type === "NS" && name === `${zone.name}.` && zone.nameServers.includes(target);
}

/**
 * Counts records that already exist as parsed, and leaves them unchanged.
 *
 * @param messages receives what was changed
 * @throws ZoneError with the problems of all lines
 */
export function importZoneFile(
  text: string,
  proxied: boolean,
  transaction: ZoneTransaction,
  messages: Message[],
): { readonly recs_added: number; readonly total_records_parsed: number } {
  const { identity, database } = transaction;
  const recordsMax = Math.min(database.config.recordQuota, importRecordsMax);
  const options = { zoneName: identity.name, proxied, recordsMax };
  const { records, problems: malformed } = readZoneFile(text, options);
  const own = records.filter(({ request }) => !isAssignedNameServer(request, identity));
  for (const { request, line, ttlMovedFrom } of own) {
    if (ttlMovedFrom === null) continue;
    if (messages.length === messagesShownMax) break;
    const moved = `TTL ${ttlMovedFrom} was changed to ${String(request["ttl"])}`;
    const message = `Line ${line}: ${moved}, the nearest that a record can have.`;
    messages.push({ code: ttlMovedCode, message });
  }
  const { added, refused } = transaction.createAbsent(own.map(({ request }) => request));
  const problems = [
    ...malformed,
    ...refused.map(([index, found]) => atLine(found, own[index]!.line)),
  ];
  if (problems.length > 0) {
    const byLine = problems.toSorted((one, other) => lineOf(one) - lineOf(other));
    throw new ZoneError(byLine.slice(0, problemsShownMax));
  }
  return { recs_added: added, total_records_parsed: records.length };
}

export function exportZoneFile(database: ZoneDatabase): string {
  const { name: zoneName, nameServers } = database.requireIdentity();
  const { soa, ns_ttl } = database.get("settings");
  const serial = database.get("serial");
  const head = {
    zoneName,
    nameServers,
    nsTtlSeconds: ns_ttl,
    soaTtlSeconds: soa.ttl,
    soa: recordType("SOA").compose({ ...soa, serial, minimum: soa.min_ttl }),
    exportedOn: new Date().toISOString(),
  };
  return composeZoneFile(head, database.records.all());
}

/** 0 for a problem of the whole file. */
function lineOf({ message }: Problem): number {
  return Number(/^Line (\d+)/.exec(message)?.[1] ?? 0);
}
