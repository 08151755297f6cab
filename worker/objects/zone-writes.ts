/**
 * The writes of one transaction. Each write is checked against the zone as the writes before it
 * left it; `finish` then checks what only the whole can satisfy and takes one serial for all. A
 * ZoneError thrown anywhere rolls everything back.
 */
import {
  findBrokenTarget,
  namesBelowApex,
  wildcardsFor,
  type TargetState,
} from "../../src/dns/rules/proxied-target.ts";
import { findConflict } from "../../src/dns/rules/conflict.ts";
import {
  acceptRecord,
  type RecordRequest,
  type RecordRules,
} from "../../src/dns/rules/accept-record.ts";
import { applyRecordPatch } from "../../src/dns/rules/edit-record.ts";
import { problem, ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import { isInZone } from "../../src/dns/record/record-name.ts";
import {
  isSameDraft,
  type RecordDraft,
  type ZoneRecord,
} from "../../src/dns/record/zone-record.ts";
import type { ChangeLog } from "./change-log.ts";
import type { RecordTable } from "./record-table.ts";
import type { ZoneState, ZoneSeed } from "./zone-state.ts";

export interface WriteContext {
  readonly seed: ZoneSeed;
  readonly rules: RecordRules;
  readonly recordQuota: number;
  readonly records: RecordTable;
  readonly facts: ZoneState;
  readonly log: ChangeLog;
  readonly now: string;
  readonly newId: () => string;
  /** What is known of names in other zones. */
  readonly outside: ReadonlyMap<string, TargetState>;
}

/** A chain left the zone for a name that nobody has asked about yet: ask, then start over. */
export class ExternalTargetUnknown extends Error {
  override name = "ExternalTargetUnknown";
  readonly target: string;
  constructor(target: string) {
    super(`${target} is not known yet`);
    this.target = target;
  }
}

/** What a walk along CNAMEs has to know of a name, wildcards and delegations included. */
export function lookUpName(records: RecordTable, name: string, zoneName: string): TargetState {
  const owned = records.firstOwned([name, ...wildcardsFor(name, zoneName)]);
  const delegated = (owner: string) =>
    records.neighbours(owner, "").some(({ type }) => type === "NS");
  if (owned.length === 0) {
    return namesBelowApex(name, zoneName).some(delegated) ? "external" : null;
  }
  return {
    hasAddress: owned.some(({ type }) => type === "A" || type === "AAAA"),
    cname: owned.find(({ type }) => type === "CNAME")?.content ?? null,
  };
}

export class ZoneWrites {
  readonly #context: WriteContext;
  readonly changes: { readonly action: "remove" | "add"; readonly record: ZoneRecord }[] = [];
  readonly #proxiedCnames = new Map<string, string>();

  constructor(context: WriteContext) {
    this.#context = context;
  }

  #accept(request: RecordRequest): RecordDraft {
    const problems: Problem[] = [];
    const draft = acceptRecord(request, this.#context.rules, (found) => problems.push(found));
    if (problems.length > 0 || draft === undefined) throw new ZoneError(problems);
    return draft;
  }

  #checkPlace(draft: RecordDraft, id: string): void {
    const { records, seed } = this.#context;
    const apex = { zoneName: seed.name, nameServers: seed.nameServers };
    const conflict = findConflict(draft, records.neighbours(draft.name, id), apex);
    if (conflict !== null) throw new ZoneError([conflict]);
  }

  /** Chains are walked at the end: a batch may make the target after what points to it. */
  #noteChain(draft: RecordDraft, id: string): void {
    if (draft.type === "CNAME" && draft.proxied) this.#proxiedCnames.set(id, draft.content);
    else this.#proxiedCnames.delete(id);
  }

  get(id: string): ZoneRecord {
    const record = this.#context.records.get(id);
    if (record === null) throw new ZoneError([problem.recordMissing()]);
    return record;
  }

  create(request: RecordRequest): ZoneRecord {
    const { records, recordQuota, now, newId } = this.#context;
    const draft = this.#accept(request);
    const id = newId();
    this.#checkPlace(draft, id);
    if (records.count() >= recordQuota) throw new ZoneError([problem.recordQuota()]);
    const record = { ...draft, id, createdOn: now, modifiedOn: now };
    records.insert(record);
    this.#noteChain(draft, id);
    this.changes.push({ action: "add", record });
    return record;
  }

  overwrite(id: string, request: RecordRequest): ZoneRecord {
    return this.#replace(this.get(id), request);
  }

  edit(id: string, patch: RecordRequest): ZoneRecord {
    const current = this.get(id);
    return this.#replace(current, applyRecordPatch(current, patch));
  }

  #replace(current: ZoneRecord, request: RecordRequest): ZoneRecord {
    const draft = this.#accept(request);
    this.#checkPlace(draft, current.id);
    if (isSameDraft(current, draft)) return current;
    const record = { ...current, ...draft, modifiedOn: this.#context.now };
    this.#context.records.update(record);
    // A chain that broke since must not stand in the way of a new comment.
    if (draft.content !== current.content || draft.proxied !== current.proxied) {
      this.#noteChain(draft, current.id);
    }
    this.changes.push({ action: "remove", record: current }, { action: "add", record });
    return record;
  }

  remove(id: string): ZoneRecord {
    const record = this.get(id);
    this.#context.records.remove(id);
    this.#proxiedCnames.delete(id);
    this.changes.push({ action: "remove", record });
    return record;
  }

  #lookUp = (name: string): TargetState => {
    const { records, seed, outside } = this.#context;
    const own = isInZone(name, seed.name) ? lookUpName(records, name, seed.name) : null;
    if (own !== null) return own;
    // Also a name below the apex may be another zone's: that of a subdomain.
    const known = outside.get(name);
    if (known === undefined) throw new ExternalTargetUnknown(name);
    return known;
  };

  finish(): void {
    const { facts, log } = this.#context;
    for (const target of this.#proxiedCnames.values()) {
      const broken = findBrokenTarget(target, this.#lookUp);
      if (broken !== null) throw new ZoneError([problem.targetNotAllowed(broken)]);
    }
    if (this.changes.length === 0) return;
    const serial = facts.advanceSerial();
    log.append(this.changes.map((change) => ({ ...change, serial })));
  }
}
