/** What the database of a zone has besides records: the state, and the log of changes. */
import type { ZoneRecord } from "../../src/dns/record/zone-record.ts";
import {
  groupSteps,
  type ChangeStep,
  type LoggedChange,
} from "../../src/dns/replication/publication.ts";
import type { DnssecState } from "../../src/dns/rules/dnssec-state.ts";
import {
  defaultSettings,
  firstSetting,
  isServedSetting,
  type DnsSettings,
  type SettingName,
  type SettingState,
} from "../../src/dns/rules/zone-settings.ts";
import type { ZoneHead } from "../../src/dns/rules/zone.ts";
import { nextSerial } from "../../src/dns/wire/numbers.ts";

/** What a zone is created with and keeps. */
export interface ZoneIdentity {
  readonly id: string;
  readonly name: string;
  readonly nameServers: readonly string[];
}

/** The state of a zone that is not in records: JSON values by name, in the table `facts`. */
export class ZoneState {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  #read(name: string): unknown {
    const [row] = this.#sql.exec<{ value: string }>("SELECT value FROM facts WHERE name = ?", name);
    return row === undefined ? null : JSON.parse(row.value);
  }

  #write(name: string, value: unknown): void {
    const text = JSON.stringify(value);
    this.#sql.exec("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", name, text);
  }

  get identity(): ZoneIdentity | null {
    return this.#read("seed") as ZoneIdentity | null;
  }

  initialise(identity: ZoneIdentity, serial: number): void {
    this.#write("seed", identity);
    this.serial = serial;
    this.settings = defaultSettings(identity.nameServers);
  }

  get serial(): number {
    return this.#read("serial") as number;
  }

  /** The next change takes a serial after this one. */
  set serial(serial: number) {
    this.#write("serial", serial);
  }

  /** Every change of the zone takes the next serial. */
  advanceSerial(): number {
    this.serial = nextSerial(this.serial);
    return this.serial;
  }

  get settings(): DnsSettings {
    return this.#read("settings") as DnsSettings;
  }

  set settings(settings: DnsSettings) {
    this.#write("settings", settings);
  }

  get paused(): boolean {
    return this.#read("paused") === true;
  }

  set paused(paused: boolean) {
    this.#write("paused", paused);
  }

  /** `null` when the zone has no keys. */
  get dnssec(): DnssecState | null {
    return this.#read("dnssec") as DnssecState | null;
  }

  set dnssec(dnssec: DnssecState | null) {
    this.#write("dnssec", dnssec);
  }

  /** The ids of the DS records that `zone-dnssec.ts` has set, by the delegated name. */
  get delegationSigners(): Readonly<Record<string, string>> {
    return (this.#read("delegation_signers") ?? {}) as Record<string, string>;
  }

  set delegationSigners(ids: Readonly<Record<string, string>>) {
    this.#write("delegation_signers", ids);
  }

  /** The HTTP versions have rows of their own names. */
  #settingRow(name: SettingName): string {
    return isServedSetting(name) ? name : `setting ${name}`;
  }

  getSetting(name: SettingName): SettingState {
    return (this.#read(this.#settingRow(name)) ?? firstSetting(name)) as SettingState;
  }

  setSetting(name: SettingName, state: SettingState): void {
    this.#write(this.#settingRow(name), state);
  }
}

/** Enough for a replica that was away for a while. One that was away longer needs the whole zone. */
const changesKeptMax = 10_000;

/**
 * The records that each serial removed and added, in order. After a restart, the listeners make the
 * differences for incremental transfers (RFC 1995) from this log.
 */
export class ChangeLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  append(steps: readonly ChangeStep[]): void {
    for (const step of steps) {
      this.#sql.exec(
        "INSERT INTO changes (serial, action, record) VALUES (?, ?, ?)",
        step.serial,
        step.action,
        JSON.stringify(step.action === "settings" ? step.headBefore : step.record),
      );
    }
    this.#sql.exec(
      "DELETE FROM changes WHERE position <= (SELECT max(position) FROM changes) - ?",
      changesKeptMax,
    );
  }

  /** The changes after a serial; `null` when the log does not reach back to that serial. */
  since(serial: number, current: number): LoggedChange[] | null {
    if (serial === current) return [];
    const [first] = this.#sql.exec<{ position: number }>(
      "SELECT min(position) AS position FROM changes WHERE serial = ?",
      nextSerial(serial),
    );
    const position = first?.position ?? null;
    const [oldest] = this.#sql.exec<{ position: number }>(
      "SELECT min(position) AS position FROM changes",
    );
    // The oldest row may be the rest of a change whose first rows were deleted.
    if (position === null || (position === oldest?.position && position > 1)) return null;
    const rows = this.#sql
      .exec<{ serial: number; action: ChangeStep["action"]; record: string }>(
        "SELECT serial, action, record FROM changes WHERE position >= ? ORDER BY position",
        position,
      )
      .toArray();
    return groupSteps(rows.map(toStep), { from: serial, to: current });
  }
}

function toStep(row: { serial: number; action: ChangeStep["action"]; record: string }): ChangeStep {
  const { serial, action } = row;
  const value = JSON.parse(row.record) as unknown;
  return action === "settings"
    ? { serial, action, headBefore: value as ZoneHead }
    : { serial, action, record: value as ZoneRecord };
}
