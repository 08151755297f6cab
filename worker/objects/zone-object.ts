/**
 * One zone: a Durable Object with its own SQLite database. A call that changes something is one
 * synchronous transaction, so that two calls can never see each other half done, and its answer
 * leaves only once the transaction is on disk and whoever serves the zone from memory has it.
 */
import { DurableObject } from "cloudflare:workers";
import { readDnsConfig, type DnsConfig } from "../../src/config/dns-config.ts";
import type { TargetState } from "../../src/dns/rules/proxied-target.ts";
import type { RecordRequest } from "../../src/dns/rules/accept-record.ts";
import { problem, ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import { describePage } from "../../src/dns/rules/list/page.ts";
import type { RecordQuery } from "../../src/dns/rules/list/record-query.ts";
import type { ZoneRecord } from "../../src/dns/record/zone-record.ts";
import { recordType } from "../../src/dns/record/registry.ts";
import { describeRecord } from "../../src/dns/rules/record-json.ts";
import type { ZoneData, ZoneHead } from "../../src/dns/answer/served-zone.ts";
import { applySettingsPatch, type DnsSettings } from "../../src/dns/rules/dns-settings.ts";
import { isolateZones } from "../replication/isolate-zones.ts";
import {
  netChange,
  servedRecord,
  type Publication,
} from "../../src/dns/replication/publication.ts";
import { Publisher } from "../replication/publisher.ts";
import { stateStream } from "../replication/state-stream.ts";
import { composeZoneFile } from "../../src/dns/zone-file/compose.ts";
import { idOf, type BatchRequest } from "./batch-request.ts";
import { ChangeLog, type Change } from "./change-log.ts";
import { indexObject, zoneObject, type Env } from "./environment.ts";
import { RecordTable } from "./record-table.ts";
import { ObjectJournal } from "./test-session.ts";
import { replyToError, replyWith, type Reply } from "./reply.ts";
import { createZoneTables } from "./schema.ts";
import { SharedTurn } from "./shared-turn.ts";
import { switchNames, ZoneState, type SwitchName, type ZoneSeed } from "./zone-state.ts";
import { importZoneFile } from "./zone-import.ts";
import { lookUpName, ExternalTargetUnknown, ZoneWrites, type WriteContext } from "./zone-writes.ts";

export class ZoneObject extends DurableObject<Env> {
  readonly #config: DnsConfig;
  readonly #records: RecordTable;
  readonly #facts: ZoneState;
  readonly #log: ChangeLog;
  readonly #turn = new SharedTurn();
  readonly #publisher: Publisher;
  readonly #journal: ObjectJournal;
  /** `null` until `open`, and again after `destroy`. */
  #seed: ZoneSeed | null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#config = readDnsConfig(env);
    const { sql } = ctx.storage;
    this.#journal = new ObjectJournal(sql, ctx.id.name ?? null);
    this.#records = new RecordTable(sql);
    this.#facts = new ZoneState(sql);
    this.#log = new ChangeLog(sql);
    this.#publisher = new Publisher(env);
    const seed = this.#readSeed();
    this.#seed = seed;
    if (seed !== null) isolateZones.check(seed.id, this.#facts.serial, () => this.#data(seed));
  }

  #readSeed(): ZoneSeed | null {
    const { sql } = this.ctx.storage;
    const [table] = sql.exec("SELECT name FROM sqlite_master WHERE name = 'facts'");
    return table === undefined ? null : this.#facts.seed;
  }

  /** Undoes what a test has written; whoever answers for the zone from memory is told. */
  async leaveLayer(layer: number): Promise<void> {
    const zoneId = this.#seed?.id;
    this.#journal.leave(layer);
    const seed = this.#readSeed();
    this.#seed = seed;
    if (seed !== null) this.#publish({ kind: "state", data: this.#data(seed) });
    else if (zoneId !== undefined) this.#publish({ kind: "removed", zoneId });
    await this.#publisher.told();
  }

  /** Makes the zone if it is not there. The index decides which zones exist, so this never fails. */
  async open({ id, name, nameServers }: ZoneSeed): Promise<void> {
    if (this.#seed !== null) return;
    const seed = { id, name, nameServers };
    this.ctx.storage.transactionSync(() => {
      createZoneTables(this.ctx.storage.sql);
      this.#journal.enter();
      // Seconds as the first serial: a zone that is made again goes on where it may have been.
      this.#facts.plant(seed, Math.floor(Date.now() / 1000));
    });
    this.#seed = seed;
    this.#publish({ kind: "state", data: this.#data(seed) });
    await this.#publisher.told();
  }

  async destroy(): Promise<void> {
    const zoneId = this.#seed?.id;
    this.#seed = null;
    if (!this.#journal.empty()) await this.ctx.storage.deleteAll();
    if (zoneId !== undefined) this.#publish({ kind: "removed", zoneId });
    await this.#publisher.told();
  }

  #zone(): ZoneSeed {
    if (this.#seed === null) throw new ZoneError([problem.noRoute("")]);
    return this.#seed;
  }

  #describe(record: ZoneRecord): Record<string, unknown> {
    return describeRecord(record, this.#zone());
  }

  async #write(work: (writes: ZoneWrites) => unknown): Promise<Reply> {
    const outside = new Map<string, TargetState>();
    for (;;) {
      try {
        const result = await this.#turn.run(() => this.#transact(work, outside));
        // Also when nothing changed: what this call found may be on its way to the listeners.
        await this.#publisher.told();
        return replyWith(result);
      } catch (error) {
        if (!(error instanceof ExternalTargetUnknown)) return replyToError(error);
        outside.set(error.target, await this.#askOutside(error.target));
      }
    }
  }

  #transact(work: (writes: ZoneWrites) => unknown, outside: WriteContext["outside"]): unknown {
    const seed = this.#zone();
    const context: WriteContext = {
      seed,
      rules: { ...this.#config, zoneName: seed.name },
      recordQuota: this.#config.recordQuota,
      records: this.#records,
      facts: this.#facts,
      log: this.#log,
      now: new Date().toISOString(),
      newId: () => crypto.randomUUID().replaceAll("-", ""),
      outside,
    };
    this.#journal.enter();
    const from = this.#facts.serial;
    const writes = new ZoneWrites(context);
    const result = this.ctx.storage.transactionSync(() => {
      const made = work(writes);
      writes.finish();
      return made;
    });
    if (writes.changes.length > 0) {
      const change = { serial: this.#facts.serial, ...netChange(writes.changes) };
      this.#publish({ kind: "change", zoneId: seed.id, from, change });
    }
    return result;
  }

  #head({ nameServers }: ZoneSeed): ZoneHead {
    const { settings, paused } = this.#facts;
    const [http2, http3] = switchNames.map((name) => this.#facts.getSwitch(name).value === "on");
    return { nameServers, settings, paused, http2: http2!, http3: http3! };
  }

  #publish(publication: Publication): void {
    this.#publisher.note(publication);
    isolateZones.take(publication, () => this.#data(this.#zone()));
  }

  /** Puts the zone into the isolate's memory, for DNS over HTTPS. */
  remember(): void {
    if (this.#seed === null) return;
    const data = this.#data(this.#seed);
    isolateZones.take({ kind: "state", data }, () => data);
  }

  #data(seed: ZoneSeed): ZoneData {
    const records = this.#records.all().map(servedRecord);
    return { ...seed, serial: this.#facts.serial, ...this.#head(seed), records };
  }

  /** The zone as it is at this moment, for those that serve it from memory; `null` without one. */
  state(): ReadableStream<Uint8Array> | null {
    return this.#seed === null ? null : stateStream(this.#data(this.#seed));
  }

  async #askOutside(name: string): Promise<TargetState> {
    const zone = await indexObject(this.env).findFor(name);
    if (zone === null) return "external";
    return zone.id === this.#seed?.id ? null : zoneObject(this.env, zone.id).lookUp(name);
  }

  lookUp(name: string): TargetState {
    return this.#seed === null ? null : lookUpName(this.#records, name, this.#seed.name);
  }

  create(request: RecordRequest): Promise<Reply> {
    return this.#write((writes) => this.#describe(writes.create(request)));
  }

  overwrite(id: string, request: RecordRequest): Promise<Reply> {
    return this.#write((writes) => this.#describe(writes.overwrite(id, request)));
  }

  edit(id: string, patch: RecordRequest): Promise<Reply> {
    return this.#write((writes) => this.#describe(writes.edit(id, patch)));
  }

  remove(id: string): Promise<Reply> {
    return this.#write((writes) => ({ id: writes.remove(id).id }));
  }

  /** Deletes, patches, puts, posts, in that order; the first failure undoes all of it. */
  batch({ deletes, patches, puts, posts }: BatchRequest): Promise<Reply> {
    return this.#write((writes) => ({
      deletes: deletes.map((request) => this.#describe(writes.remove(idOf(request)))),
      patches: patches.map((request) => this.#describe(writes.edit(idOf(request), request))),
      puts: puts.map((request) => this.#describe(writes.overwrite(idOf(request), request))),
      posts: posts.map((request) => this.#describe(writes.create(request))),
    }));
  }

  /** Records of the configuration file: those that are there already are left alone. */
  declare(requests: readonly RecordRequest[]): Promise<Reply> {
    return this.#write((writes) => {
      for (const [index, request] of requests.entries()) {
        try {
          writes.create(request);
        } catch (error) {
          if (!(error instanceof ZoneError)) throw error;
          const { problems } = error;
          if (problems.some(({ code }) => code === problem.identicalRecord().code)) continue;
          const text = problems.map(({ message }) => message).join(" ");
          throw new ZoneError([
            problem.configuration(`records[${index}] of ${this.#zone().name}: ${text}`),
          ]);
        }
      }
      return null;
    });
  }

  async importFile(text: string, proxied: boolean): Promise<Reply> {
    const start = Date.now();
    const reply = await this.#write((writes) => {
      const { recordQuota } = this.#config;
      return importZoneFile(text, { writes, seed: this.#zone(), proxied, recordQuota });
    });
    const end = Date.now();
    const timing = {
      start_time: new Date(start).toISOString(),
      end_time: new Date(end).toISOString(),
      process_time: (end - start) / 1000,
    };
    return reply.ok ? { ...reply, timing } : reply;
  }

  #read(work: () => Reply): Reply {
    try {
      this.#zone();
      return work();
    } catch (error) {
      return replyToError(error);
    }
  }

  get(id: string): Reply {
    return this.#read(() => {
      const record = this.#records.get(id);
      if (record === null) throw new ZoneError([problem.recordMissing()]);
      return replyWith(this.#describe(record));
    });
  }

  list(query: RecordQuery): Reply {
    return this.#read(() => {
      const { records, totalCount } = this.#records.list(query);
      const info = describePage(query, records.length, totalCount);
      return replyWith(
        records.map((record) => this.#describe(record)),
        info,
      );
    });
  }

  usage(): Reply {
    return this.#read(() =>
      replyWith({ record_quota: this.#config.recordQuota, record_usage: this.#records.count() }),
    );
  }

  /** The reply's JSON is the file as a string. */
  exportFile(): Reply {
    return this.#read(() => {
      const seed = this.#zone();
      const { settings } = this.#facts;
      const head = {
        zoneName: seed.name,
        nameServers: seed.nameServers,
        nsTtlSeconds: settings.ns_ttl,
        soaTtlSeconds: settings.soa.ttl,
        soa: recordType("SOA").compose(this.#soa(settings)),
        exportedOn: new Date().toISOString(),
      };
      return replyWith(composeZoneFile(head, this.#records.all()));
    });
  }

  #soa({ soa }: DnsSettings): Record<string, unknown> {
    return { ...soa, serial: this.#facts.serial, minimum: soa.min_ttl };
  }

  readSettings(): Reply {
    return this.#read(() => replyWith(this.#facts.settings));
  }

  async changeSettings(input: unknown): Promise<Reply> {
    const reply = this.#read(() => {
      const problems: Problem[] = [];
      const current = this.#facts.settings;
      const settings = applySettingsPatch(current, input, (found) => problems.push(found));
      if (problems.length > 0) throw new ZoneError(problems);
      if (JSON.stringify(settings) !== JSON.stringify(current)) {
        this.#changeZone(() => {
          this.#facts.settings = settings;
        });
      }
      return replyWith(settings);
    });
    await this.#publisher.told();
    return reply;
  }

  readSwitches(): Reply {
    return this.#read(() => replyWith(switchNames.map((name) => this.#describeSwitch(name))));
  }

  readSwitch(name: SwitchName): Reply {
    return this.#read(() => replyWith(this.#describeSwitch(name)));
  }

  async changeSwitch(name: SwitchName, value: "on" | "off"): Promise<Reply> {
    const reply = this.#read(() => {
      if (this.#facts.getSwitch(name).value !== value) {
        const modifiedOn = new Date().toISOString();
        this.#changeZone(() => this.#facts.setSwitch(name, { value, modifiedOn }));
      }
      return replyWith(this.#describeSwitch(name));
    });
    await this.#publisher.told();
    return reply;
  }

  #describeSwitch(name: SwitchName): Record<string, unknown> {
    const { value, modifiedOn } = this.#facts.getSwitch(name);
    return { id: name, value, editable: true, modified_on: modifiedOn };
  }

  /** A change of the zone that is none of a record takes a serial too. */
  #changeZone(work: () => void): void {
    const from = this.#facts.serial;
    this.#journal.enter();
    this.ctx.storage.transactionSync(() => {
      work();
      const serial = this.#facts.advanceSerial();
      this.#log.append([{ serial, action: "settings", record: null }]);
    });
    const seed = this.#zone();
    const change = {
      serial: this.#facts.serial,
      removed: [],
      added: [],
      head: this.#head(seed),
    };
    this.#publish({ kind: "change", zoneId: seed.id, from, change });
  }

  /** The index keeps whether a zone is paused; its answers depend on it. */
  async pause(paused: boolean): Promise<void> {
    if (this.#seed !== null && this.#facts.paused !== paused) {
      this.#changeZone(() => {
        this.#facts.paused = paused;
      });
    }
    await this.#publisher.told();
  }

  serial(): number {
    return this.#facts.serial;
  }

  changesSince(serial: number): Change[] | null {
    return this.#log.since(serial, this.#facts.serial);
  }
}
