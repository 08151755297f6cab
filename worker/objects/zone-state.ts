import type { DnssecState } from "../../src/dns/rules/dnssec-state.ts";
import { nextSerial } from "../../src/dns/wire/numbers.ts";
import { defaultSettings, type DnsSettings } from "../../src/dns/rules/dns-settings.ts";
import {
  firstSetting,
  isServedSetting,
  type SettingName,
  type SettingState,
} from "../../src/dns/rules/zone-settings.ts";

/** What a zone is created with and keeps. */
export interface ZoneIdentity {
  readonly id: string;
  readonly name: string;
  readonly nameServers: readonly string[];
}

/** Existing databases have the HTTP versions under their own names. */
function settingRow(name: SettingName): string {
  return isServedSetting(name) ? name : `setting ${name}`;
}

/**
 * The state of a zone that is not in records: JSON values by name. The table `facts` and the row
 * `seed` keep the names that existing databases have.
 */
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
    return (this.#read("serial") ?? 0) as number;
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
    return (this.#read("settings") ??
      defaultSettings(this.identity?.nameServers ?? [])) as DnsSettings;
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

  /** The ids of the DS records that `delegation-signers.ts` has set, by the delegated name. */
  get delegationSigners(): Readonly<Record<string, string>> {
    return (this.#read("delegation_signers") ?? {}) as Record<string, string>;
  }

  set delegationSigners(ids: Readonly<Record<string, string>>) {
    this.#write("delegation_signers", ids);
  }

  getSetting(name: SettingName): SettingState {
    return (this.#read(settingRow(name)) ?? firstSetting(name)) as SettingState;
  }

  setSetting(name: SettingName, state: SettingState): void {
    this.#write(settingRow(name), state);
  }
}
