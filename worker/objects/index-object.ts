/** The index of zones: which exist, under which id. One object, so that names cannot clash. */
import { DurableObject } from "cloudflare:workers";
import { readDnsConfig, type DnsConfig } from "../../src/config/dns-config.ts";
import { encodeHex } from "../../src/base/hex.ts";
import { problem, ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import { describePage } from "../../src/dns/rules/list/page.ts";
import { composeZoneFilter, type ZoneQuery } from "../../src/dns/rules/list/zone-query.ts";
import { describeZone, applyZonePatch, type Zone } from "../../src/dns/rules/zone.ts";
import type { Account } from "../../src/dns/rules/account.ts";
import { zoneObject, type Env } from "./environment.ts";
import { ObjectJournal } from "./test-session.ts";
import { replyToError, replyWith, type Reply } from "./reply.ts";

type Row = { zone: string };

export class IndexObject extends DurableObject<Env> {
  readonly #config: DnsConfig;
  readonly #sql: SqlStorage;
  readonly #journal: ObjectJournal;
  #declared: Promise<readonly Problem[]> | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#config = readDnsConfig(env);
    this.#sql = ctx.storage.sql;
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS zones (
        id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, type TEXT NOT NULL, zone TEXT NOT NULL
      ) WITHOUT ROWID`,
    );
    this.#journal = new ObjectJournal(this.#sql, null);
  }

  /** Undoes what a test has written. */
  leaveLayer(layer: number): void {
    this.#journal.leave(layer);
  }

  /** Makes the zones and records of the configuration file, once for each start. */
  declareZones(): Promise<readonly Problem[]> {
    this.#declared ??= this.#declareAll().catch((error: unknown) => {
      this.#declared = null;
      throw error;
    });
    return this.#declared;
  }

  async #declareAll(): Promise<readonly Problem[]> {
    for (const { name, records } of this.#config.zones) {
      // The same name always gets the same id, so that scripts may hold on to it.
      const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`zone ${name}`));
      const id = encodeHex(new Uint8Array(hash, 0, 16));
      const zone = this.#byName(name) ?? this.#insert({ id, name, type: "full" });
      const object = zoneObject(this.env, zone.id);
      await object.open(zone);
      const reply = await object.declare(records);
      if (!reply.ok) return reply.problems;
    }
    return [];
  }

  #insert(zone: { readonly id: string; readonly name: string; readonly type: string }): Zone {
    const now = new Date().toISOString();
    const { nameServers } = this.#config;
    const made: Zone = {
      ...zone,
      paused: false,
      nameServers,
      vanityNameServers: [],
      createdOn: now,
      modifiedOn: now,
    };
    this.#journal.enter();
    this.#sql.exec(
      "INSERT INTO zones VALUES (?, ?, ?, ?)",
      made.id,
      made.name,
      made.type,
      JSON.stringify(made),
    );
    return made;
  }

  #byName(name: string): Zone | null {
    const [row] = this.#sql.exec<Row>("SELECT zone FROM zones WHERE name = ?", name);
    return row === undefined ? null : (JSON.parse(row.zone) as Zone);
  }

  get(id: string): Zone | null {
    const [row] = this.#sql.exec<Row>("SELECT zone FROM zones WHERE id = ?", id);
    return row === undefined ? null : (JSON.parse(row.zone) as Zone);
  }

  ids(): string[] {
    const rows = this.#sql.exec<{ id: string }>("SELECT id FROM zones ORDER BY id");
    return rows.toArray().map(({ id }) => id);
  }

  /** The zone that a name belongs to: the longest one that encloses it. */
  findFor(name: string): Zone | null {
    for (let suffix = name; ; suffix = suffix.slice(suffix.indexOf(".") + 1)) {
      const zone = this.#byName(suffix);
      if (zone !== null || !suffix.includes(".")) return zone;
    }
  }

  async create(
    request: { readonly name: string; readonly type: string },
    account: Account,
  ): Promise<Reply> {
    try {
      if (this.#byName(request.name) !== null) {
        throw new ZoneError([problem.zoneExists(request.name)]);
      }
      const zone = this.#insert({ ...request, id: crypto.randomUUID().replaceAll("-", "") });
      // Should this be cut short, the next call that uses the zone opens it.
      await zoneObject(this.env, zone.id).open(zone);
      return replyWith(describeZone(zone, account));
    } catch (error) {
      return replyToError(error);
    }
  }

  list(query: ZoneQuery, account: Account): Reply {
    const { sql, bindings } = composeZoneFilter(query);
    const where = sql === "" ? "" : ` WHERE ${sql}`;
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

  async edit(
    id: string,
    input: Readonly<Record<string, unknown>>,
    account: Account,
  ): Promise<Reply> {
    try {
      const zone = this.get(id);
      if (zone === null) throw new ZoneError([problem.noRoute("")]);
      const problems: Problem[] = [];
      const edited = applyZonePatch(zone, input, (found) => problems.push(found));
      if (problems.length > 0) throw new ZoneError(problems);
      if (JSON.stringify(edited) === JSON.stringify(zone))
        return replyWith(describeZone(zone, account));
      const made = { ...edited, modifiedOn: new Date().toISOString() };
      this.#journal.enter();
      this.#sql.exec(
        "UPDATE zones SET type = ?, zone = ? WHERE id = ?",
        made.type,
        JSON.stringify(made),
        id,
      );
      await zoneObject(this.env, id).pause(made.paused);
      return replyWith(describeZone(made, account));
    } catch (error) {
      return replyToError(error);
    }
  }

  /** Out of the index first: a zone that is half deleted is deleted. */
  async remove(id: string): Promise<Reply> {
    this.#journal.enter();
    this.#sql.exec("DELETE FROM zones WHERE id = ?", id);
    await zoneObject(this.env, id).destroy();
    return replyWith({ id });
  }
}
