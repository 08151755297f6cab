/**
 * The SQLite database of one zone, and the publication of its commits. Each commit is published in
 * the turn in which it is made, so that publications keep the order of serials. Two receivers serve
 * the zone from memory: the listeners in Node, and this isolate for DNS over HTTPS.
 */
import type { DnsConfig } from "../../src/dns/config/dns-config.ts";
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import { stateLines } from "../../src/dns/replication/listener-protocol.ts";
import {
  netChange,
  type Publication,
  type PublicationQueue,
} from "../../src/dns/replication/publication.ts";
import { httpVersions } from "../../src/dns/rules/zone-settings.ts";
import type { ZoneData, ZoneHead } from "../../src/dns/rules/zone.ts";
import { isLaterSerial, nextSerial } from "../../src/dns/wire/numbers.ts";
import { RequestOutcomes } from "../../src/state/outcomes.ts";
import { isolateZones, publicationQueue } from "../replication/replicas.ts";
import type { Env } from "./object-call.ts";
import { RecordTable } from "./record-table.ts";
import { zoneTables } from "./zone-sql.ts";
import { ChangeLog, ZoneState, type ZoneIdentity } from "./zone-state.ts";
import { ObjectJournal, zoneTestSession } from "./zone-test-session.ts";
import { ZoneTransaction, type TransactionContext } from "./zone-transaction.ts";
import { watchDatabase } from "./zones-disk.ts";

/** A zone whose creation was undone. */
export interface UndoneZone {
  readonly name: string;
  readonly serial: number;
}

export class ZoneDatabase {
  readonly records: RecordTable;
  readonly state: ZoneState;
  readonly changeLog: ChangeLog;
  readonly replies: RequestOutcomes;
  readonly #storage: DurableObjectStorage;
  readonly #config: DnsConfig;
  readonly #publications: PublicationQueue | null;
  readonly #journal: ObjectJournal;
  readonly #confirmDisk: () => Promise<void>;
  /** `null` before `open` and after `destroy`. */
  #identity: ZoneIdentity | null;
  #changedDelegations = new Set<string>();

  constructor(ctx: DurableObjectState, env: Env, config: DnsConfig) {
    const { id, storage } = ctx;
    const { sql } = storage;
    this.#confirmDisk = watchDatabase(ctx, env, "ZoneObject");
    this.#storage = storage;
    this.#config = config;
    this.#journal = new ObjectJournal(sql, id.name ?? null);
    this.records = new RecordTable(sql);
    this.state = new ZoneState(sql);
    this.changeLog = new ChangeLog(sql);
    this.replies = new RequestOutcomes(sql);
    this.#publications = publicationQueue(env);
    const identity = this.#readIdentity();
    this.#identity = identity;
    if (identity !== null) {
      isolateZones.check(identity.id, this.state.serial, () => this.#data(identity));
    }
  }

  #readIdentity(): ZoneIdentity | null {
    const [table] = this.#storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'facts'");
    return table === undefined ? null : this.state.identity;
  }

  /** `null` when the zone does not exist. */
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

  /** The whole zone as lines; `null` when the zone does not exist. */
  stateLines(): Generator<string, void> | null {
    if (this.#identity === null) return null;
    return stateLines({ ...this.#stateHead(this.#identity), records: this.records.served() });
  }

  #data(identity: ZoneIdentity): ZoneData {
    return { ...this.#stateHead(identity), records: [...this.records.served()] };
  }

  #stateHead(identity: ZoneIdentity): Omit<ZoneData, "records"> {
    return { ...identity, serial: this.state.serial, ...this.#head(identity) };
  }

  #head({ id, nameServers }: ZoneIdentity): ZoneHead {
    const { settings, paused, dnssec } = this.state;
    const signing =
      dnssec?.isOn === true
        ? { ...dnssec.keys, faults: zoneTestSession.signatureFaultsOf(id) }
        : undefined;
    const [http2, http3] = httpVersions.map((name) => this.state.getSetting(name).value === "on");
    return { nameServers, settings, paused, http2: http2!, http3: http3!, signing };
  }

  /** @param firstSerial from the index, which knows the serials of deleted zones */
  open(identity: ZoneIdentity, firstSerial: number): void {
    this.#storage.transactionSync(() => {
      for (const statement of zoneTables) this.#storage.sql.exec(statement);
      this.#journal.enter();
      this.state.initialise(identity, firstSerial);
    });
    this.#identity = identity;
    this.#publish({ kind: "state", data: this.#data(identity) });
  }

  /** The serial of the last change; `null` when the zone does not exist. */
  get lastSerial(): number | null {
    return this.#identity === null ? null : this.state.serial;
  }

  async destroy(): Promise<void> {
    const zoneId = this.#identity?.id;
    this.#identity = null;
    if (!this.#journal.empty()) await this.#storage.deleteAll();
    if (zoneId !== undefined) this.#publish({ kind: "removed", zoneId });
  }

  /** Returns the name and the last serial of a zone that the layer had created. */
  leaveLayer(layer: number): UndoneZone | null {
    const before = this.#identity;
    const serial = this.lastSerial;
    this.#journal.leave(layer);
    const identity = this.#readIdentity();
    this.#identity = identity;
    if (identity === null) {
      if (before === null || serial === null) return null;
      this.#publish({ kind: "removed", zoneId: before.id });
      return { name: before.name, serial };
    }
    // Replicas and secondaries have seen the serials that were undone.
    if (serial !== null && isLaterSerial(serial, this.state.serial)) {
      this.#journal.enter();
      this.state.serial = nextSerial(serial);
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
    work: (transaction: ZoneTransaction) => unknown,
    external: TransactionContext["external"],
    requestId: string | null,
  ): string {
    const identity = this.requireIdentity();
    const known = this.replies.find(requestId);
    if (known !== null) return known;
    const transaction = new ZoneTransaction({
      identity,
      rules: { ...this.#config, zoneName: identity.name },
      recordQuota: this.#config.recordQuota,
      records: this.records,
      state: this.state,
      changeLog: this.changeLog,
      now: new Date().toISOString(),
      external,
    });
    this.#journal.enter();
    const from = this.state.serial;
    const json = this.#storage.transactionSync(() => {
      const made = JSON.stringify(work(transaction));
      transaction.finish();
      this.replies.add(requestId, made);
      return made;
    });
    for (const { record } of transaction.changes) {
      const isCut = record.type === "NS" && record.name !== identity.name;
      if (isCut) this.#changedDelegations.add(record.name);
    }
    if (transaction.changes.length > 0) {
      const change = { serial: this.state.serial, ...netChange(transaction.changes) };
      this.#publish({ kind: "change", zoneId: identity.id, from, change });
    }
    return json;
  }

  /**
   * A change of the zone's state takes a serial, as a change of a record does.
   *
   * @param reply to the request with this id, which may be repeated
   */
  writeState(
    work: (state: ZoneState) => void,
    requestId: string | null = null,
    reply: () => string = () => "",
  ): void {
    const identity = this.requireIdentity();
    const from = this.state.serial;
    const headBefore = this.#head(identity);
    this.#journal.enter();
    this.#storage.transactionSync(() => {
      work(this.state);
      const serial = this.state.advanceSerial();
      this.changeLog.append([{ serial, action: "settings", headBefore }]);
      this.replies.add(requestId, reply());
    });
    const head = this.#head(identity);
    const change = { serial: this.state.serial, removed: [], added: [], head };
    this.#publish({ kind: "change", zoneId: identity.id, from, change });
  }

  /** The delegations whose NS records have changed since the last call. */
  takeChangedDelegations(): readonly string[] {
    if (this.#changedDelegations.size === 0) return [];
    const names = [...this.#changedDelegations];
    this.#changedDelegations.clear();
    return names;
  }

  /** Writes state that no answer depends on: the zone keeps its serial. */
  writeUnserved(work: (state: ZoneState) => void, requestId: string | null, reply: string): void {
    this.#journal.enter();
    this.#storage.transactionSync(() => {
      work(this.state);
      this.replies.add(requestId, reply);
    });
  }

  #publish(publication: Publication): void {
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
    if (this.#identity !== null) await this.#confirmDisk();
  }
}
