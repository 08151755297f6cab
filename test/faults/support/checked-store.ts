/**
 * A bucket and what it must hold. Each write that is acknowledged must be there, with its bytes. A
 * write that fails leaves the old value; where the error leaves open whether the write was
 * committed, the old value or the new value.
 */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StoreBucket } from "../../../src/types/store.ts";
import { bytesOf, sameBytes } from "../../support/bytes.ts";

/** The seed and the size of a value; `null` for no object. */
type Value = { readonly seed: number; readonly size: number } | null;

export class CheckedBucket {
  readonly #bucket: StoreBucket;
  readonly #possible = new Map<string, readonly Value[]>();
  /** The messages of the writes that failed. */
  readonly failures: string[] = [];
  #seed = 0;

  constructor(bucket: StoreBucket) {
    this.#bucket = bucket;
  }

  put(key: string, size: number): Promise<void> {
    const value = { seed: ++this.#seed, size };
    return this.#write(key, value, () => this.#bucket.put(key, bytesOf(size, value.seed)));
  }

  delete(key: string): Promise<void> {
    return this.#write(key, null, () => this.#bucket.delete(key));
  }

  async #write(key: string, value: Value, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
      this.#possible.set(key, [value]);
    } catch (error) {
      this.failures.push((error as Error).message);
      this.#possible.set(key, [...(this.#possible.get(key) ?? [null]), value]);
    }
  }

  /** Reads everything. What is found is what must be found from then on. */
  async check(bucket = this.#bucket): Promise<void> {
    for (const [key, possible] of this.#possible) {
      const found = await (await bucket.get(key))?.bytes();
      const match = possible.find((value) =>
        value === null ? found === undefined : sameBytes(found, bytesOf(value.size, value.seed)),
      );
      assert.ok(match !== undefined, `${key} holds ${found?.length} bytes that were not put`);
      this.#possible.set(key, [match]);
    }
    const present = [...this.#possible].filter(([, [value]]) => value !== null);
    const { objects } = await bucket.list();
    assert.deepEqual(
      objects.map(({ key }) => key),
      present.map(([key]) => key).sort(),
    );
  }
}

/** Checks the databases of a store, and its rows against its files. No runtime may run. */
export function checkStoppedStore(folder: string): void {
  const databases = join(folder, "store/databases/ledge-store-bucket");
  const blobs = join(folder, "store/blobs/photos");
  const files = new Set<unknown>(readdirSync(blobs));
  for (const name of readdirSync(databases).filter((each) => each.endsWith(".sqlite"))) {
    const database = new DatabaseSync(join(databases, name));
    const check = database.prepare("PRAGMA integrity_check").all();
    assert.deepEqual(
      check.map((row) => ({ ...row })),
      [{ integrity_check: "ok" }],
    );
    if (name !== "metadata.sqlite") {
      // A file that no row names is garbage. A row without a file is damage.
      for (const row of database.prepare("SELECT name FROM blobs").all()) {
        assert.ok(files.has(row["name"]), `The file ${String(row["name"])} is missing`);
      }
    }
    database.close();
  }
}
