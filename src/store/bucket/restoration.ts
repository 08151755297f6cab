/**
 * A backup replaces the whole bucket (`node/backup.ts`). Its rows arrive in chunks and are collected in
 * tables beside the bucket's own; then one transaction puts these tables in the place of the bucket's. So a
 * bucket is either as before or restored, and scripts use the bucket as it was until then.
 *
 * A sender repeats a chunk whose answer was lost, and rows with the same primary key replace each other. If
 * the process of the sender is killed, the tables are dropped after a minute; if the runtime is, by the next.
 * A restoration that this runtime does not know, because another has begun it, has to begin again.
 */
import { restoredTables, type RestorationStep } from "../core/operations.ts";
import type { Bucket } from "./bucket.ts";
import {
  columnsOf,
  createStagedTables,
  dropStagedTables,
  replaceByStagedTables,
} from "./schema.ts";

const abandonedMilliseconds = 60_000;

export class Restoration {
  readonly #storage: Pick<DurableObjectStorage, "sql" | "transactionSync">;
  #id: string | null = null;
  #usedAt = 0;

  constructor(storage: Pick<DurableObjectStorage, "sql" | "transactionSync">) {
    this.#storage = storage;
  }

  get isActive(): boolean {
    return this.#id !== null;
  }

  /** Drops the tables of a restoration that does not go on. */
  dropAbandoned(): void {
    if (this.#id !== null && Date.now() - this.#usedAt < abandonedMilliseconds) return;
    this.#id = null;
    this.#storage.transactionSync(() => dropStagedTables(this.#storage.sql));
  }

  /** @returns whether the step belongs to the restoration that is in progress, or begins one */
  collect(step: Exclude<RestorationStep, { readonly step: "commit" }>): boolean {
    const { sql } = this.#storage;
    this.#usedAt = Date.now();
    if (step.step === "begin") {
      this.#id = step.id;
      this.#storage.transactionSync(() => {
        dropStagedTables(sql);
        createStagedTables(sql);
      });
      return true;
    }
    if (this.#id !== step.id) return false;
    const [first] = step.rows;
    if (first === undefined || !restoredTables.includes(step.table)) return true;
    const places = first.map(() => "?").join(", ");
    // The rows of an earlier version lack the last columns.
    const columns = columnsOf(sql, `staged_${step.table}`).slice(0, first.length).join(", ");
    const statement = `INSERT OR REPLACE INTO staged_${step.table} (${columns}) VALUES (${places})`;
    this.#storage.transactionSync(() => {
      for (const row of step.rows) sql.exec(statement, ...row);
    });
    return true;
  }

  /**
   * Replaces the tables. The caller opens the bucket anew.
   *
   * @returns the files of the objects that are replaced; `null` if the step does not belong to the
   *   restoration that is in progress
   */
  commit(id: string, bucket: Bucket): string[] | null {
    if (bucket.requests.find(id) !== null) return [];
    if (this.#id !== id) return null;
    const replaced = this.#storage.transactionSync(() => {
      const files = bucket.contents.fileNames();
      bucket.releasedFiles.add(files);
      replaceByStagedTables(this.#storage.sql);
      bucket.requests.add(id, "restored");
      return files;
    });
    this.#id = null;
    return replaced;
  }
}
