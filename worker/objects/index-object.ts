/**
 * The index of zones: their names and ids. One object holds it, so that names are unique. It publishes
 * the catalog of the zones to the listeners (`src/dns/rules/catalog.ts`).
 */
import { DurableObject } from "cloudflare:workers";
import { encodeHex } from "../../src/base/hex.ts";
import { readDnsConfig, type DnsConfig } from "../../src/dns/config/dns-config.ts";
import { problem, requireValid, ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import { parentName } from "../../src/dns/record/record-name.ts";
import type { PublicationQueue } from "../../src/dns/replication/publication.ts";
import { catalogId, catalogZone, memberRecord } from "../../src/dns/rules/catalog.ts";
import { describePage, type ZoneQuery } from "../../src/dns/rules/list-query.ts";
import {
  applyZonePatch,
  describeZone,
  type Account,
  type Zone,
  type ZoneData,
} from "../../src/dns/rules/zone.ts";
import { firstSerial, isLaterSerial, nextSerial } from "../../src/dns/wire/numbers.ts";
import { outcomeTable } from "../../src/state/outcomes.ts";
import { publicationQueue } from "../replication/replicas.ts";
import {
  indexName,
  replyToError,
  replyWith,
  replyWithJson,
  type Env,
  type ObjectReply,
  type ZoneFinder,
} from "./object-call.ts";
import { ObjectDatabase } from "./object-database.ts";
import type { UndoneZone } from "./zone-database.ts";
import { announceSigners } from "./zone-dnssec.ts";
import { zoneObject } from "./zone-object.ts";
import { composeZoneWhere } from "./zone-sql.ts";

type Row = { zone: string };

/**
 * The problems of the zones of the configuration file; `null` before they are created. In the memory of the isolate,
 * which lasts until the server ends: workerd ends an object that is idle.
 */
let declared: readonly Problem[] | null = null;

export function indexObject(env: Env): DurableObjectStub<IndexObject> {
  return env.ZONE_INDEX.getByName(indexName) as DurableObjectStub<IndexObject>;
}

export class IndexObject extends DurableObject<Env> implements ZoneFinder {
  readonly #config: DnsConfig;
  readonly #database: ObjectDatabase;
  readonly #sql: SqlStorage;
  /** `null` without a catalog, and without listeners. */
  readonly #publications: PublicationQueue | null;
  #declaring: Promise<readonly Problem[]> | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#config = readDnsConfig(env);
    this.#sql = ctx.storage.sql;
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS zones (
        id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, type TEXT NOT NULL, zone TEXT NOT NULL
      ) WITHOUT ROWID`,
    );
    // The last serials of names whose zone was deleted: serials of a name never go back. Of the catalog,
    // the serial stands here too, under its id: a zone has at least two labels.
    this.#sql.exec(
      "CREATE TABLE IF NOT EXISTS serials (name TEXT PRIMARY KEY, serial INTEGER NOT NULL) WITHOUT ROWID",
    );
    this.#sql.exec(outcomeTable);
    this.#database = new ObjectDatabase(ctx, env, "IndexObject");
    this.#publications = this.#config.catalog === null ? null : publicationQueue(env);
  }

  async leaveLayer(layer: number): Promise<void> {
    const serial = this.#lastSerial(catalogId);
    this.#database.undoLayer(layer);
    if (serial === null || this.#lastSerial(catalogId) === serial) return;
    // Listeners and secondaries have seen the serials that were undone.
    this.#rememberSerial(catalogId, nextSerial(serial));
    const data = this.catalog();
    if (data !== null) this.#publications?.enqueue({ kind: "state", data });
    await this.#publications?.flushed();
  }

  /**
   * Creates the zones and records of the configuration file, once for each start. Resolves to the
   * problems of the first zone that cannot be created.
   */
  async declareZones(): Promise<readonly Problem[]> {
    if (declared !== null) return declared;
    this.#declaring ??= this.#declareAll().finally(() => {
      this.#declaring = null;
    });
    return (declared = await this.#declaring);
  }

  async #declareAll(): Promise<readonly Problem[]> {
    for (const { name, records } of this.#config.zones) {
      // The same name always gets the same id, so that scripts can store the id.
      const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`zone ${name}`));
      const id = encodeHex(new Uint8Array(hash, 0, 16));
      const zone = this.#find("name", name) ?? this.#insert({ id, name, type: "full" });
      const object = zoneObject(this.env, zone.id);
      await object.open(zone);
      await this.#publications?.flushed();
      const reply = await object.declare(records);
      if (!reply.ok) return reply.problems;
    }
    return [];
  }

  /** The catalog at this moment; `null` without a catalog. */
  catalog(): ZoneData | null {
    const { catalog: name } = this.#config;
    if (name === null) return null;
    const rows = this.#sql.exec<Row>("SELECT zone FROM zones ORDER BY id").toArray();
    const members = rows.map(({ zone }) => JSON.parse(zone) as Zone);
    return catalogZone(name, this.#catalogSerial(), members);
  }

  /** Stored before it is served: a database of an earlier version has none. */
  #catalogSerial(): number {
    const known = this.#lastSerial(catalogId);
    if (known !== null) return known;
    const serial = firstSerial(Math.floor(Date.now() / 1000), null);
    this.#rememberSerial(catalogId, serial);
    return serial;
  }

  /**
   * To be called in the transaction that adds or removes a zone, also without a catalog: when the
   * configuration has one again, secondaries must see that the zones have changed.
   */
  #changeCatalog(zone: Zone, isAdded: boolean): void {
    const from = this.#catalogSerial();
    const serial = nextSerial(from);
    this.#rememberSerial(catalogId, serial);
    const { catalog: name } = this.#config;
    if (name === null) return;
    const records = [memberRecord(name, zone)];
    const change = { serial, removed: isAdded ? [] : records, added: isAdded ? records : [] };
    this.#publications?.enqueue({ kind: "change", zoneId: catalogId, from, change });
  }

  #insert(zone: Pick<Zone, "id" | "name" | "type">): Zone {
    const now = new Date().toISOString();
    const made: Zone = {
      ...zone,
      paused: false,
      nameServers: this.#config.nameServers,
      vanityNameServers: [],
      createdOn: now,
      modifiedOn: now,
      firstSerial: firstSerial(Math.floor(Date.parse(now) / 1000), this.#lastSerial(zone.name)),
    };
    this.#database.enter();
    const values = [made.id, made.name, made.type, JSON.stringify(made)];
    this.#sql.exec("INSERT INTO zones VALUES (?, ?, ?, ?)", ...values);
    this.#changeCatalog(made, true);
    return made;
  }

  #lastSerial(name: string): number | null {
    const select = "SELECT serial FROM serials WHERE name = ?";
    const [row] = this.#sql.exec<{ serial: number }>(select, name);
    return row?.serial ?? null;
  }

  #rememberSerial(name: string, serial: number | null): void {
    const last = this.#lastSerial(name);
    if (serial === null || (last !== null && !isLaterSerial(serial, last))) return;
    this.#database.enter();
    this.#sql.exec("INSERT OR REPLACE INTO serials VALUES (?, ?)", name, serial);
  }

  /** Keeps the serials of zones whose creation was undone after `leaveLayer()`. */
  rememberSerials(zones: readonly UndoneZone[]): void {
    for (const { name, serial } of zones) this.#rememberSerial(name, serial);
  }

  #find(column: "id" | "name", value: string): Zone | null {
    const [row] = this.#sql.exec<Row>(`SELECT zone FROM zones WHERE ${column} = ?`, value);
    return row === undefined ? null : (JSON.parse(row.zone) as Zone);
  }

  get(id: string): Zone | null {
    return this.#find("id", id);
  }

  ids(): string[] {
    const rows = this.#sql.exec<{ id: string }>("SELECT id FROM zones ORDER BY id");
    return rows.toArray().map(({ id }) => id);
  }

  findFor(name: string): Zone | null {
    for (let suffix = name; suffix !== ""; suffix = parentName(suffix)) {
      const zone = this.#find("name", suffix);
      if (zone !== null) return zone;
    }
    return null;
  }

  async #reply(work: () => Promise<string>): Promise<ObjectReply> {
    try {
      const json = await work();
      await this.#database.confirm();
      return replyWithJson(json);
    } catch (error) {
      return replyToError(error);
    }
  }

  create(
    request: Pick<Zone, "name" | "type">,
    account: Account,
    requestId: string | null,
  ): Promise<ObjectReply> {
    return this.#reply(async () => {
      const known = this.#database.replies.find(requestId);
      if (request.name === this.#config.catalog) {
        throw new ZoneError([problem.catalogTaken(request.name)]);
      }
      if (known === null && this.#find("name", request.name) !== null) {
        throw new ZoneError([problem.zoneExists(request.name)]);
      }
      const id = crypto.randomUUID().replaceAll("-", "");
      const insert = () => JSON.stringify(describeZone(this.#insert({ ...request, id }), account));
      const json = known ?? this.#database.write(requestId, insert);
      const zone = this.get((JSON.parse(json) as Pick<Zone, "id">).id);
      // If the process ends here, the next call that uses the zone opens it.
      if (zone !== null) await zoneObject(this.env, zone.id).open(zone);
      // After the zone: a secondary that learns of the zone asks for the zone at once.
      await this.#publications?.flushed();
      return json;
    });
  }

  list(query: ZoneQuery, account: Account): ObjectReply {
    const condition = composeZoneWhere(query);
    const where = condition === null ? "" : ` WHERE ${condition.sql}`;
    const bindings = condition?.bindings ?? [];
    const total = this.#sql
      .exec<{ n: number }>(`SELECT count(*) AS n FROM zones${where}`, ...bindings)
      .one().n;
    const zones = this.#sql
      .exec<Row>(
        `SELECT zone FROM zones${where} ORDER BY name ${query.direction} LIMIT ? OFFSET ?`,
        ...bindings,
        query.perPage,
        (query.page - 1) * query.perPage,
      )
      .toArray()
      .map((row) => describeZone(JSON.parse(row.zone) as Zone, account));
    return replyWith(zones, describePage(query, zones.length, total));
  }

  edit(
    id: string,
    input: Parameters<typeof applyZonePatch>[1],
    account: Account,
    requestId: string | null,
  ): Promise<ObjectReply> {
    return this.#reply(async () => {
      const zone = this.get(id);
      if (zone === null) throw new ZoneError([problem.noRoute("")]);
      const known = this.#database.replies.find(requestId);
      const edited = known === null ? this.#edit(zone, input, requestId, account) : zone;
      await zoneObject(this.env, id).pause(edited.paused);
      return known ?? JSON.stringify(describeZone(edited, account));
    });
  }

  #edit(
    zone: Zone,
    input: Parameters<typeof applyZonePatch>[1],
    requestId: string | null,
    account: Account,
  ): Zone {
    const edited = requireValid((report) => applyZonePatch(zone, input, report));
    if (JSON.stringify(edited) === JSON.stringify(zone)) return zone;
    const made = { ...edited, modifiedOn: new Date().toISOString() };
    this.#database.write(requestId, () => {
      const values = [made.type, JSON.stringify(made), zone.id];
      this.#sql.exec("UPDATE zones SET type = ?, zone = ? WHERE id = ?", ...values);
      return JSON.stringify(describeZone(made, account));
    });
    return made;
  }

  /** The index forgets the zone first: a deletion that is interrupted counts as done. */
  remove(id: string, requestId: string | null): Promise<ObjectReply> {
    return this.#reply(async () => {
      const object = zoneObject(this.env, id);
      const zone = this.get(id);
      const name = zone?.name ?? null;
      if (this.#database.replies.find(requestId) === null) {
        // A zone whose database is damaged can be deleted too.
        const serial = await object.lastSerial().catch(() => null);
        this.#database.write(requestId, () => {
          this.#sql.exec("DELETE FROM zones WHERE id = ?", id);
          if (name !== null) this.#rememberSerial(name, serial);
          if (zone !== null) this.#changeCatalog(zone, false);
          return JSON.stringify({ id });
        });
        await this.#publications?.flushed();
      }
      // A configured zone has the same id when it is created again.
      if (this.get(id) === null) {
        const serial = await object.destroy();
        if (name !== null) this.#rememberSerial(name, serial);
      }
      if (name !== null) await announceSigners(this.env, name, []);
      return JSON.stringify({ id });
    });
  }

  /** The reply to a removal that is repeated; `null` for a request that is new. */
  async repeatRemoval(id: string, requestId: string): Promise<ObjectReply | null> {
    return this.#database.replies.find(requestId) === null ? null : this.remove(id, requestId);
  }
}
