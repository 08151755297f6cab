/**
 * Follows the lifecycle rules of the bucket that concern objects (`core/lifecycle.ts`).
 *
 * One sweep over all keys after each midnight of the store's clock, in steps: calls are executed between
 * the steps. A step reads objects, and deletes or moves them, in one transaction. So an object that is put
 * meanwhile is either seen as it is now, or not at all, and no condition is needed.
 *
 * What has been swept is known in memory only. A bucket is swept after its first call in a runtime, after a
 * change of its rules, and after the tables or the clock went back.
 */
import { dayMilliseconds, dueAction, lastMidnight } from "../core/lifecycle.ts";
import { allChecksums, decodeObject, joinEncoded } from "../core/object.ts";
import type { BucketPlatform, Objects } from "./objects.ts";
import type { SettingsTable } from "./schema.ts";

/** The rows that a step reads: a step takes some milliseconds. */
const stepRowsMax = 500;

export class ObjectLifecycle {
  readonly #platform: BucketPlatform;
  readonly #objects: Objects;
  readonly #settings: SettingsTable;
  /** The midnight of the last sweep that was completed. */
  #sweptMidnight: number | undefined;
  /** The midnight of the sweep in progress, and the last key that it has read. */
  #sweep: { readonly midnight: number; readonly after: string } | undefined;

  constructor(platform: BucketPlatform, objects: Objects, settings: SettingsTable) {
    this.#platform = platform;
    this.#objects = objects;
    this.#settings = settings;
  }

  /** The time, by the store's clock, at which a step is due; `null` without a rule. */
  nextDeadline(): number | null {
    if (this.#settings.objectRules.length === 0) return null;
    const midnight = lastMidnight(this.#platform.now());
    return this.#sweptMidnight === midnight ? midnight + dayMilliseconds : midnight;
  }

  /** One step. The next deadline tells whether another step is due. */
  step(): void {
    const midnight = lastMidnight(this.#platform.now());
    const isBegun = this.#sweep?.midnight === midnight;
    const after = isBegun ? (this.#sweep?.after ?? "") : "";
    const rows = this.#platform.storage.sql
      .exec(
        "SELECT key AS k, fields AS f FROM objects WHERE key > ? ORDER BY key LIMIT ?",
        after,
        stepRowsMax,
      )
      .raw<[key: string, fields: string]>();
    const expired: string[] = [];
    let last: string | undefined;
    let count = 0;
    for (const [key, fields] of Array.from(rows)) {
      last = key;
      count++;
      const object = decodeObject(key, joinEncoded(fields, null));
      const action = dueAction(object, this.#settings.objectRules, midnight);
      if (action === "delete") expired.push(key);
      if (action !== "InfrequentAccess") continue;
      this.#objects.replaceFields({
        ...object,
        storageClass: action,
        checksums: allChecksums(object),
      });
    }
    if (expired.length > 0) this.#objects.remove(expired);
    const isLast = last === undefined || count < stepRowsMax;
    if (isLast) this.#sweptMidnight = midnight;
    this.#sweep = isLast ? undefined : { midnight, after: last as string };
  }

  /** The rules or the tables have changed: the next sweep begins at the first key. */
  forget(): void {
    this.#sweptMidnight = undefined;
    this.#sweep = undefined;
  }
}
