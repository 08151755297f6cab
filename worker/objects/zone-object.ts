/**
 * One zone: a Durable Object with its own SQLite database. A call that writes is one synchronous
 * transaction, so that no call sees another call's unfinished work. Its reply leaves only once the
 * transaction is on disk and every process that serves the zone from memory has the change.
 */
import { DurableObject } from "cloudflare:workers";
import { atPlace, requireValid, ZoneError } from "../../src/dns/record/problem.ts";
import type { ZoneRecord } from "../../src/dns/record/zone-record.ts";
import type { LoggedChange } from "../../src/dns/replication/publication.ts";
import type { RecordRequest } from "../../src/dns/rules/accept-record.ts";
import type {
  DelegationSigner,
  DnssecPatch,
  RollRequest,
} from "../../src/dns/rules/dnssec-state.ts";
import { describePage, type RecordQuery } from "../../src/dns/rules/list-query.ts";
import type { TargetState } from "../../src/dns/rules/record-conflict.ts";
import { describeRecord } from "../../src/dns/rules/record-json.ts";
import {
  applySettingsPatch,
  describeSetting,
  settingNames,
  type SettingName,
} from "../../src/dns/rules/zone-settings.ts";
import type { Zone } from "../../src/dns/rules/zone.ts";
import { isolateZones } from "../replication/replicas.ts";
import {
  indexName,
  replyToError,
  replyWith,
  replyWithJson,
  type Env,
  type Message,
  type ObjectReply,
} from "./object-call.ts";
import { ZoneDatabase, type UndoneZone } from "./zone-database.ts";
import {
  changeDnssec,
  confirmDelegationSigner,
  findSigners,
  hasSignerOf,
  readDnssec,
  readRoll,
  removeDnssec,
  settleDelegationSigners,
  settleRoll,
  signersOf,
  startRoll,
} from "./zone-dnssec.ts";
import {
  declareRecords,
  exportZoneFile,
  ExternalTargetUnknown,
  importZoneFile,
  lookUpName,
  ZoneTransaction,
} from "./zone-transaction.ts";

export function zoneObject(env: Env, zoneId: string): DurableObjectStub<ZoneObject> {
  return env.ZONES.getByName(zoneId) as DurableObjectStub<ZoneObject>;
}

/**
 * The kinds of writes, in the order of a batch. The API has checked that a request has an id where
 * the kind needs an id.
 */
const recordWrites = {
  deletes: (transaction: ZoneTransaction, { id }: RecordRequest) =>
    transaction.remove(id as string),
  patches: (transaction: ZoneTransaction, request: RecordRequest) =>
    transaction.edit(request["id"] as string, request),
  puts: (transaction: ZoneTransaction, request: RecordRequest) =>
    transaction.overwrite(request["id"] as string, request),
  posts: (transaction: ZoneTransaction, request: RecordRequest) => transaction.create(request),
};
export type RecordWrite = keyof typeof recordWrites;
export const recordWriteKinds = Object.keys(recordWrites) as readonly RecordWrite[];

export interface SettingChange {
  readonly name: SettingName;
  readonly value: unknown;
}

export class ZoneObject extends DurableObject<Env> {
  readonly #database: ZoneDatabase;
  /** For calls that write in the next turn together (`#group`). */
  #nextTurn: Promise<void> | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#database = new ZoneDatabase(ctx, env);
  }

  /** Creates the zone if it does not exist. The index decides which zones exist: no failure. */
  async open(zone: Zone): Promise<void> {
    if (this.#database.identity !== null) return;
    this.#database.open(zone);
    await this.#database.published();
  }

  lastSerial(): number | null {
    return this.#database.lastSerial;
  }

  /** Resolves to the last serial of the zone; `null` when the zone does not exist. */
  async destroy(): Promise<number | null> {
    const { lastSerial } = this.#database;
    await this.#database.destroy();
    await this.#database.published();
    return lastSerial;
  }

  /** Undoes the writes of a test layer and of the layers above it, and publishes the result. */
  async leaveLayer(layer: number): Promise<UndoneZone | null> {
    const undone = this.#database.leaveLayer(layer);
    await this.#database.published();
    return undone;
  }

  remember(): void {
    const { data } = this.#database;
    if (data !== null) isolateZones.take({ kind: "state", data }, () => data);
  }

  /**
   * The whole zone at this moment, for a replica. Completes a zone whose creation was interrupted after
   * its entry in the index: the catalog has the zone already. The replica has this state when it takes
   * the publication, so this call does not wait for the publication.
   */
  state(zone: Zone): ReadableStream<Uint8Array> | null {
    if (this.#database.identity === null) this.#database.open(zone);
    const lines = this.#database.stateLines();
    return lines === null ? null : streamLines(lines);
  }

  /** @param requestId of a request that may be repeated (`state/outcomes.ts`) */
  async #write(
    work: (transaction: ZoneTransaction) => unknown,
    requestId: string | null = null,
  ): Promise<ObjectReply> {
    const external = new Map<string, TargetState>();
    for (;;) {
      try {
        await this.#group();
        const transaction = new ZoneTransaction(this.#database, external);
        const json = this.#database.writeRecords(transaction, () => work(transaction), requestId);
        // A delegation to a signed zone of this server gets its DS record with its first NS record.
        for (const name of this.#database.takeChangedDelegations()) {
          await this.setDelegationSigners(name, await findSigners(this.env, name));
        }
        // Also when nothing changed: the listeners may not have the commits that this call saw.
        await this.#database.published();
        return replyWithJson(json);
      } catch (error) {
        if (!(error instanceof ExternalTargetUnknown)) return replyToError(error);
        external.set(error.target, await this.#lookUpExternal(error.target));
      }
    }
  }

  /**
   * Group commit: several calls write in one turn of the event loop. An object commits everything
   * that it writes in one turn together, and a commit costs one fsync regardless of its size. Calls
   * that arrive while the disk is busy therefore wait for one fsync in total. Each call is still a
   * separate transaction, and its reply still leaves only after the commit.
   */
  #group(): Promise<void> {
    this.#nextTurn ??= scheduler.wait(0).then(() => {
      this.#nextTurn = null;
    });
    return this.#nextTurn;
  }

  setDelegationSigners(child: string, signers: readonly DelegationSigner[]): Promise<ObjectReply> {
    return this.#write((transaction) => {
      settleDelegationSigners(transaction, child, signers);
      return null;
    });
  }

  hasDelegationSigner(child: string, digest: string): boolean {
    return hasSignerOf(this.#database, child, digest);
  }

  delegationSigners(): readonly DelegationSigner[] {
    return signersOf(this.#database);
  }

  async #lookUpExternal(name: string): Promise<TargetState> {
    const zone = await this.env.ZONE_INDEX.getByName(indexName).findFor(name);
    if (zone === null) return "external";
    const isOwn = zone.id === this.#database.identity?.id;
    return isOwn ? null : zoneObject(this.env, zone.id).lookUp(name);
  }

  /** What the zone knows of a name, for the CNAME chains of other zones. */
  lookUp(name: string): TargetState {
    const { identity, records } = this.#database;
    return identity === null ? null : lookUpName(records, name, identity.name);
  }

  #describe(record: ZoneRecord): Record<string, unknown> {
    return describeRecord(record, this.#database.requireIdentity());
  }

  /** @param modifiedOn what the caller knows of the record that it writes; `null`: nothing */
  writeRecord(
    kind: RecordWrite,
    request: RecordRequest,
    requestId: string | null,
    modifiedOn: string | null = null,
  ): Promise<ObjectReply> {
    return this.#write((transaction) => {
      if (modifiedOn !== null) transaction.requireUnmodified(request["id"] as string, modifiedOn);
      const record = recordWrites[kind](transaction, request);
      return kind === "deletes" ? { id: record.id } : this.#describe(record);
    }, requestId);
  }

  /** Runs the kinds in their order; the first failure undoes the whole batch. */
  batch(
    batch: Readonly<Record<RecordWrite, readonly RecordRequest[]>>,
    requestId: string | null,
  ): Promise<ObjectReply> {
    const run = (kind: RecordWrite, transaction: ZoneTransaction, index: number) => {
      const place = `${kind}[${index}]`;
      transaction.place = place;
      try {
        return this.#describe(recordWrites[kind](transaction, batch[kind][index]!));
      } catch (error) {
        if (!(error instanceof ZoneError)) throw error;
        throw new ZoneError(error.problems.map((found) => atPlace(found, place)));
      }
    };
    const runAll = (kind: RecordWrite, transaction: ZoneTransaction) =>
      batch[kind].map((_, index) => run(kind, transaction, index));
    return this.#write(
      (transaction) =>
        Object.fromEntries(recordWriteKinds.map((kind) => [kind, runAll(kind, transaction)])),
      requestId,
    );
  }

  /** Creates the records of the configuration file, and says which ones it leaves out. */
  async declare(requests: readonly RecordRequest[]): Promise<ObjectReply> {
    let left: readonly string[] = [];
    const reply = await this.#write((transaction) => {
      left = declareRecords(requests, transaction);
      return null;
    });
    if (reply.ok) for (const text of left) console.warn(text);
    return reply;
  }

  async importFile(text: string, proxied: boolean, requestId: string | null): Promise<ObjectReply> {
    const start = Date.now();
    let messages: Message[] = [];
    const reply = await this.#write((transaction) => {
      messages = [];
      return importZoneFile(text, proxied, transaction, messages);
    }, requestId);
    const end = Date.now();
    const timing = {
      start_time: new Date(start).toISOString(),
      end_time: new Date(end).toISOString(),
      process_time: (end - start) / 1000,
    };
    return reply.ok ? { ...reply, messages, timing } : reply;
  }

  async #reply(
    work: (database: ZoneDatabase) => ObjectReply | Promise<ObjectReply>,
  ): Promise<ObjectReply> {
    try {
      this.#database.requireIdentity();
      return await work(this.#database);
    } catch (error) {
      return replyToError(error);
    }
  }

  get(id: string): Promise<ObjectReply> {
    return this.#reply(({ records }) => replyWith(this.#describe(records.get(id))));
  }

  list(query: RecordQuery): Promise<ObjectReply> {
    return this.#reply((database) => {
      const { records, totalCount } = database.records.list(query);
      return replyWith(
        records.map((record) => this.#describe(record)),
        describePage(query, records.length, totalCount),
      );
    });
  }

  usage(): Promise<ObjectReply> {
    return this.#reply(({ config, records }) =>
      replyWith({ record_quota: config.recordQuota, record_usage: records.count() }),
    );
  }

  /** The JSON of the reply is the zone file as a string. */
  exportFile(): Promise<ObjectReply> {
    return this.#reply((database) => replyWith(exportZoneFile(database)));
  }

  readDnssec(): Promise<ObjectReply> {
    return this.#reply(async (database) => replyWith(await readDnssec(database, this.env)));
  }

  changeDnssec(patch: DnssecPatch): Promise<ObjectReply> {
    return this.#reply(async (database) => {
      await changeDnssec(database, this.env, patch);
      return replyWith(await readDnssec(database, this.env));
    });
  }

  readRoll(): Promise<ObjectReply> {
    return this.#roll(async () => {});
  }

  startRoll(request: RollRequest): Promise<ObjectReply> {
    return this.#roll((database) => startRoll(database, this.env, request));
  }

  confirmDelegationSigner(): Promise<ObjectReply> {
    return this.#roll(confirmDelegationSigner);
  }

  #roll(work: (database: ZoneDatabase) => Promise<void>): Promise<ObjectReply> {
    return this.#reply(async (database) => {
      await work(database);
      await this.alarm();
      return replyWith(readRoll(database));
    });
  }

  /** When a roll ends. */
  override async alarm(): Promise<void> {
    const time = await settleRoll(this.#database, this.env);
    if (time !== null) await this.ctx.storage.setAlarm(time);
  }

  /** The deployed service answers with an empty text. */
  removeDnssec(): Promise<ObjectReply> {
    return this.#reply(async (database) => {
      await removeDnssec(database, this.env);
      return replyWith("");
    });
  }

  readSettings(): Promise<ObjectReply> {
    return this.#reply((database) => replyWith(database.get("settings")));
  }

  /** @param work returns the JSON of the reply */
  #change(
    requestId: string | null,
    work: (database: ZoneDatabase) => string,
  ): Promise<ObjectReply> {
    return this.#reply(async (database) => {
      const json = database.replies.find(requestId) ?? work(database);
      await database.published();
      return replyWithJson(json);
    });
  }

  changeSettings(input: unknown, requestId: string | null): Promise<ObjectReply> {
    return this.#change(requestId, (database) => {
      const current = database.get("settings");
      const settings = requireValid((report) => applySettingsPatch(current, input, report));
      const json = JSON.stringify(settings);
      if (json !== JSON.stringify(current)) database.writeFacts({ settings }, requestId, json);
      return json;
    });
  }

  readZoneSettings(): Promise<ObjectReply> {
    return this.#reply((database) =>
      replyWith(settingNames.map((name) => describeSetting(name, database.getSetting(name)))),
    );
  }

  readZoneSetting(name: SettingName): Promise<ObjectReply> {
    return this.#reply((database) => replyWith(describeSetting(name, database.getSetting(name))));
  }

  /** The reply has the settings in the given order; of one setting, it is no list. */
  changeZoneSettings(
    changes: readonly SettingChange[],
    isList: boolean,
    requestId: string | null,
  ): Promise<ObjectReply> {
    return this.#change(requestId, (database) => {
      const modifiedOn = new Date().toISOString();
      const changed = changes
        .filter(
          ({ name, value }) =>
            JSON.stringify(database.getSetting(name).value) !== JSON.stringify(value),
        )
        .map(({ name, value }) => [name, { value, modifiedOn }] as const);
      const written = new Map(changed);
      const after = changes.map(({ name }) =>
        describeSetting(name, written.get(name) ?? database.getSetting(name)),
      );
      const json = JSON.stringify(isList ? after : after[0]);
      if (written.size > 0) database.writeSettings(written, requestId, json);
      return json;
    });
  }

  /** The index stores whether a zone is paused; the zone's answers depend on it. */
  async pause(paused: boolean): Promise<void> {
    const { identity } = this.#database;
    if (identity !== null && this.#database.get("paused") !== paused) {
      this.#database.writeFacts({ paused });
    }
    await this.#database.published();
  }

  /** A new serial without another change: secondaries ask for the zone again, and faults change. */
  async advanceSerial(): Promise<void> {
    if (this.#database.identity !== null) this.#database.writeFacts({});
    await this.#database.published();
  }

  /** For incremental transfers; `null` when the log does not reach back to the serial. */
  changesSince(serial: number): LoggedChange[] | null {
    return this.#database.changesSince(serial);
  }
}

/**
 * Lines as a stream of bytes: RPC passes byte streams only. All lines are made now, because the zone
 * may change while the stream is read. As bytes they take a fraction of the memory of the records.
 */
function streamLines(lines: Iterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const pieces = Array.from(lines, (line) => encoder.encode(line)).values();
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const { value, done } = pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}
