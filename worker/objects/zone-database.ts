/**
 * The SQLite database of one zone, and the publication of its commits. Each commit is published in
 * the turn in which it is made, so that publications keep the order of serials. Two receivers serve
 * the zone from memory: the listeners in Node, and this isolate for DNS over HTTPS.
 */
import { readDnsConfig, type DnsConfig } from "../../src/dns/config/dns-config.ts";
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import type { ZoneRecord } from "../../src/dns/record/zone-record.ts";
import { stateLines } from "../../src/dns/replication/listener-protocol.ts";
import {
  groupSteps,
  netChange,
  servedRecord,
  type ChangeStep,
  type LoggedChange,
  type Publication,
  type PublicationQueue,
} from "../../src/dns/replication/publication.ts";
import type { DnssecState } from "../../src/dns/rules/dnssec-state.ts";
import {
  defaultSettings,
  firstSetting,
  httpVersions,
  isServedSetting,
  type DnsSettings,
  type SettingName,
  type SettingState,
} from "../../src/dns/rules/zone-settings.ts";
import type {
  ServedRecord,
  Zone,
  ZoneChange,
  ZoneData,
  ZoneHead,
} from "../../src/dns/rules/zone.ts";
import { isLaterSerial, nextSerial } from "../../src/dns/wire/numbers.ts";
import { changeHistory, isolateZones, publicationQueue } from "../replication/replicas.ts";
import type { Env } from "./object-call.ts";
import { ObjectDatabase } from "./object-database.ts";
import { RecordTable } from "./record-table.ts";
import { boundRows, zoneTables } from "./zone-sql.ts";
import { zoneTestSession } from "./zone-test-session.ts";

/** What a zone is created with and keeps. */
export type ZoneIdentity = Pick<Zone, "id" | "name" | "nameServers">;

/** The state of a zone that is not in records: JSON values by name, in the table `facts`. */
interface Facts {
  seed: ZoneIdentity;
  serial: number;
  settings: DnsSettings;
  paused: boolean;
  /** `null` when the zone has no keys. */
  dnssec: DnssecState | null;
  /** The ids of the DS records that `zone-dnssec.ts` has set, by the delegated name. */
  delegation_signers: Readonly<Record<string, string | readonly string[]>>;
}

const firstFacts = { paused: false, dnssec: null, delegation_signers: {} };

/** The HTTP versions have rows of their own names. */
function settingFact(name: SettingName): string {
  return isServedSetting(name) ? name : `setting ${name}`;
}

export interface UndoneZone {
  readonly name: string;
  readonly serial: number;
}

/** A write of a transaction. */
export interface RecordStep {
  readonly action: "remove" | "add";
  readonly record: ZoneRecord;
}

/** Enough for a replica that was away for a while. One that was away longer needs the whole zone. */
const changesKeptMax = 10_000;

export class ZoneDatabase extends ObjectDatabase {
  readonly config: DnsConfig;
  readonly records: RecordTable;
  readonly #publications: PublicationQueue | null;
  /** `null` before `open` and after `destroy`. */
  #identity: ZoneIdentity | null;
  #changedDelegations = new Set<string>();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, "ZoneObject");
    this.config = readDnsConfig(env);
    this.records = new RecordTable(this.sql);
    this.#publications = publicationQueue(env);
    const identity = this.#readIdentity();
    this.#identity = identity;
    if (identity !== null) {
      isolateZones.check(identity.id, this.get("serial"), () => this.#data(identity));
    }
  }

  get<Name extends keyof Facts>(name: Name): Facts[Name] {
    return (this.#read(name) ?? firstFacts[name as keyof typeof firstFacts]) as Facts[Name];
  }

  getSetting(name: SettingName): SettingState {
    return (this.#read(settingFact(name)) as SettingState | null) ?? firstSetting(name);
  }

  #read(name: string): unknown {
    const [row] = this.sql.exec<{ value: string }>("SELECT value FROM facts WHERE name = ?", name);
    return row === undefined ? null : JSON.parse(row.value);
  }

  set(facts: Partial<Facts>): void {
    for (const [name, value] of Object.entries(facts)) {
      const text = JSON.stringify(value);
      this.sql.exec("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", name, text);
    }
  }

  #readIdentity(): ZoneIdentity | null {
    const [table] = this.sql.exec("SELECT name FROM sqlite_master WHERE name = 'facts'");
    return table === undefined ? null : (this.#read("seed") as ZoneIdentity | null);
  }

  get identity(): ZoneIdentity | null {
    return this.#identity;
  }

  requireIdentity(): ZoneIdentity {
    if (this.#identity === null) throw new ZoneError([problem.noRoute("")]);
    return this.#identity;
  }

  /** The whole zone, as replicas serve it; `null` when the zone does not exist. */
  get data(): ZoneData | null {
    return this.#identity === null ? null : this.#data(this.#identity);
  }

  stateLines(): Generator<string, void> | null {
    if (this.#identity === null) return null;
    return stateLines({ ...this.#stateHead(this.#identity), records: this.records.served() });
  }

  #data(identity: ZoneIdentity): ZoneData {
    return { ...this.#stateHead(identity), records: [...this.records.served()] };
  }

  #stateHead(identity: ZoneIdentity): Omit<ZoneData, "records"> {
    return { ...identity, serial: this.get("serial"), ...this.#head(identity) };
  }

  #head({ id, nameServers }: ZoneIdentity): ZoneHead {
    const dnssec = this.get("dnssec");
    const signing =
      dnssec?.isOn === true
        ? { ...dnssec.keys, faults: zoneTestSession.signatureFaultsOf(id) }
        : undefined;
    const [http2, http3] = httpVersions.map((name) => this.getSetting(name).value === "on");
    const [settings, paused] = [this.get("settings"), this.get("paused")];
    return { nameServers, settings, paused, http2: http2!, http3: http3!, signing };
  }

  /** The first serial is from the index, which knows the serials of deleted zones. */
  open({ id, name, nameServers, firstSerial: serial }: Zone): void {
    const seed = { id, name, nameServers };
    for (const statement of zoneTables) this.sql.exec(statement);
    this.write(null, () => {
      this.set({ seed, serial, settings: defaultSettings(nameServers) });
      return "";
    });
    this.#identity = seed;
    this.#publish({ kind: "state", data: this.#data(seed) });
  }

  get lastSerial(): number | null {
    return this.#identity === null ? null : this.get("serial");
  }

  async destroy(): Promise<void> {
    const zoneId = this.#identity?.id;
    this.#identity = null;
    await this.clear();
    if (zoneId !== undefined) this.#publish({ kind: "removed", zoneId });
  }

  /** Returns the name and the last serial of a zone that the layer had created. */
  leaveLayer(layer: number): UndoneZone | null {
    const before = this.#identity;
    const serial = this.lastSerial;
    this.undoLayer(layer);
    const identity = this.#readIdentity();
    this.#identity = identity;
    if (identity === null) {
      if (before === null || serial === null) return null;
      this.#publish({ kind: "removed", zoneId: before.id });
      return { name: before.name, serial };
    }
    // Replicas and secondaries have seen the serials that were undone.
    if (serial !== null && isLaterSerial(serial, this.get("serial"))) {
      this.enter();
      this.set({ serial: nextSerial(serial) });
    }
    this.#publish({ kind: "state", data: this.#data(identity) });
    return null;
  }

  /**
   * Writes records in one transaction.
   *
   * @param requestId of a request that may be repeated; the second time nothing is written
   * @returns the JSON of what `work` has returned, the first time
   */
  writeRecords(
    transaction: { readonly changes: readonly RecordStep[]; checkTargets(): void },
    work: () => unknown,
    requestId: string | null,
  ): string {
    const { name } = this.requireIdentity();
    const known = this.replies.find(requestId);
    if (known !== null) return known;
    const { changes } = transaction;
    const from = this.get("serial");
    const json = this.write(requestId, () => {
      const made = JSON.stringify(work());
      transaction.checkTargets();
      if (changes.length > 0) this.#log(changes);
      return made;
    });
    for (const { record } of changes) {
      if (record.type === "NS" && record.name !== name) this.#changedDelegations.add(record.name);
    }
    if (changes.length > 0) this.#publishChange(from, netChange(changes));
    return json;
  }

  /**
   * A change of a fact takes a serial, as a change of a record does.
   *
   * @param json the reply to the request with this id, which may be repeated
   */
  writeFacts(facts: Partial<Facts>, requestId: string | null = null, json = ""): void {
    const identity = this.requireIdentity();
    const from = this.get("serial");
    const headBefore = this.#head(identity);
    this.write(requestId, () => {
      this.set(facts);
      this.#log([{ action: "settings", headBefore }]);
      return json;
    });
    this.#publishChange(from, { removed: [], added: [], head: this.#head(identity) });
  }

  /** No answer depends on some settings: if only these change, the zone keeps its serial. */
  writeSettings(
    settings: ReadonlyMap<SettingName, SettingState>,
    requestId: string | null,
    json: string,
  ): void {
    const rows = [...settings].map(([name, state]) => [settingFact(name), state] as const);
    const facts: Partial<Facts> = Object.fromEntries(rows);
    if (settings.keys().some(isServedSetting)) return this.writeFacts(facts, requestId, json);
    this.write(requestId, () => {
      this.set(facts);
      return json;
    });
  }

  /** The delegations whose NS records have changed since the last call. */
  takeChangedDelegations(): readonly string[] {
    if (this.#changedDelegations.size === 0) return [];
    const names = [...this.#changedDelegations];
    this.#changedDelegations.clear();
    return names;
  }

  /**
   * Gives a change the next serial, and adds it to the log. After a restart, the listeners make the
   * differences for incremental transfers (RFC 1995) from this log.
   */
  #log(steps: readonly (RecordStep | { action: "settings"; headBefore: ZoneHead })[]): void {
    const serial = nextSerial(this.get("serial"));
    this.set({ serial });
    const rows = steps
      .values()
      .map((step) => [
        step.action,
        step.action === "settings" ? step.headBefore : servedRecord(step.record),
      ]);
    const insert = `INSERT INTO changes (serial, action, record)
      SELECT ?, value ->> 0, value -> 1 FROM json_each(?)`;
    for (const bound of boundRows(rows)) this.sql.exec(insert, serial, bound);
    this.sql.exec(
      "DELETE FROM changes WHERE position <= (SELECT max(position) FROM changes) - ?",
      changesKeptMax,
    );
  }

  /** The changes after a serial; `null` when the log does not reach back to that serial. */
  changesSince(serial: number): LoggedChange[] | null {
    const current = this.get("serial");
    if (serial === current) return [];
    const { first, oldest } = this.sql
      .exec<{ first: number | null; oldest: number | null }>(
        `SELECT (SELECT min(position) FROM changes WHERE serial = ?) AS first,
          (SELECT min(position) FROM changes) AS oldest`,
        nextSerial(serial),
      )
      .one();
    // The oldest row may be the rest of a change whose first rows were deleted.
    if (first === null || (first === oldest && first > 1)) return null;
    const rows = this.sql
      .exec<{ serial: number; action: ChangeStep["action"]; record: string }>(
        "SELECT serial, action, record FROM changes WHERE position >= ? ORDER BY position",
        first,
      )
      .toArray();
    return groupSteps(rows.map(toStep), { from: serial, to: current });
  }

  #publishChange(from: number, changed: Omit<ZoneChange, "serial">): void {
    const change = { serial: this.get("serial"), ...changed };
    this.#publish({ kind: "change", zoneId: this.requireIdentity().id, from, change });
  }

  #publish(publication: Publication): void {
    changeHistory.note(publication, Date.now());
    this.#publications?.enqueue(publication);
    isolateZones.take(publication, () => this.#data(this.requireIdentity()));
  }

  /**
   * Resolves once every commit so far is in the memory of every listener.
   *
   * @throws ZoneError when the commits are in a database that was removed
   */
  async published(): Promise<void> {
    await this.#publications?.flushed();
    // A zone that is deleted has no database.
    if (this.#identity !== null) await this.confirm();
  }
}

function toStep(row: { serial: number; action: ChangeStep["action"]; record: string }) {
  const { serial, action } = row;
  const value = JSON.parse(row.record) as unknown;
  return action === "settings"
    ? { serial, action, headBefore: value as ZoneHead }
    : { serial, action, record: value as ServedRecord };
}
