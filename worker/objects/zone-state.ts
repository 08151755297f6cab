import { nextSerial } from "../../src/dns/record/soa.ts";
import { defaultSettings, type DnsSettings } from "../../src/dns/rules/dns-settings.ts";

/** What a zone is created with and keeps. */
export interface ZoneIdentity {
  readonly id: string;
  readonly name: string;
  readonly nameServers: readonly string[];
}

/** HTTP versions that a zone has on or off. The HTTPS records of proxied names depend on them. */
export const switchNames = ["http2", "http3"] as const;
export type SwitchName = (typeof switchNames)[number];
export interface SwitchState {
  readonly value: "on" | "off";
  readonly modifiedOn: string | null;
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

  getSwitch(name: SwitchName): SwitchState {
    return (this.#read(name) ?? { value: "on", modifiedOn: null }) as SwitchState;
  }

  setSwitch(name: SwitchName, state: SwitchState): void {
    this.#write(name, state);
  }
}
