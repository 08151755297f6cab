/**
 * The settings of a bucket: rules that the S3-compatible interface has stored, and whether a request
 * has deleted the bucket. A checksum covers each row (`core/row-seal.ts`).
 *
 * The settings are read once, because every upload that is created needs them.
 */
import { StoreError } from "../core/errors.ts";
import type { AbortRule } from "../core/multipart.ts";
import type { Request, StoredSettings } from "../core/operations.ts";
import { seals } from "./rows.ts";

/** `deleted` marks a bucket that a request has deleted. */
type SettingName = keyof StoredSettings | "deleted";

type Lifecycle = Required<StoredSettings>["lifecycle"];

export class SettingsTable {
  readonly #sql: SqlStorage;
  /** By name, as JSON; `null` for a damaged row. */
  #values: ReadonlyMap<string, string | null> | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** @throws StoreError 10001 for a damaged setting */
  settings(): StoredSettings {
    const cors = this.#value<string>("cors");
    const lifecycle = this.#value<Lifecycle>("lifecycle");
    return { ...(cors !== null && { cors }), ...(lifecycle !== null && { lifecycle }) };
  }

  put({ cors, lifecycle }: Omit<Request<"putSettings">, "method">): void {
    if (cors !== undefined) this.#set("cors", cors);
    if (lifecycle !== undefined) this.#set("lifecycle", lifecycle);
  }

  /** None for a damaged setting: uploads then live as long as without a rule. */
  get abortRules(): readonly AbortRule[] {
    const json = this.#read().get("lifecycle" satisfies SettingName);
    return json == null ? [] : (JSON.parse(json) as Lifecycle).abortRules;
  }

  get isDeleted(): boolean {
    return this.#read().has("deleted" satisfies SettingName);
  }

  markDeleted(): void {
    this.#sql.exec("DELETE FROM settings");
    this.#set("deleted", true);
  }

  unmarkDeleted(): void {
    if (this.isDeleted) this.#set("deleted", null);
  }

  /** The table may have changed: it is read again. */
  forget(): void {
    this.#values = undefined;
  }

  #set(name: SettingName, value: unknown): void {
    this.forget();
    if (value === null) {
      this.#sql.exec("DELETE FROM settings WHERE name = ?", name);
      return;
    }
    const columns = [name, JSON.stringify(value)];
    this.#sql.exec(
      "INSERT OR REPLACE INTO settings (name, value, checksum) VALUES (?, ?, ?)",
      ...columns,
      seals.sealColumns(columns),
    );
  }

  /** `null` for a setting that does not exist. */
  #value<Value>(name: keyof StoredSettings): Value | null {
    const json = this.#read().get(name);
    if (json === undefined) return null;
    if (json !== null) return JSON.parse(json) as Value;
    throw new StoreError(
      10001,
      `Cannot read the ${name} rules of the bucket: their row in the database does not match the ` +
        "row's checksum. Put the rules again, or delete them.",
    );
  }

  #read(): ReadonlyMap<string, string | null> {
    if (this.#values !== undefined) return this.#values;
    const rows = this.#sql.exec("SELECT name, value, checksum FROM settings");
    return (this.#values = new Map(
      Array.from(rows.raw<[string, string, number]>(), ([name, value, checksum]) => {
        const isIntact = seals.sealColumns([name, value]) === checksum;
        if (!isIntact) console.warn(`The setting "${name}" of a bucket is damaged: put it again.`);
        return [name, isIntact ? value : null];
      }),
    ));
  }
}
