/** The parts of the runtime that a bucket uses: its database, the clock, and randomness. */
import type { ObjectRecord } from "../core/operations.ts";

export interface BucketPlatform {
  readonly storage: Pick<DurableObjectStorage, "sql" | "transactionSync">;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly now: () => number;
  /** Random bytes in hexadecimal. */
  readonly randomHex: (bytes: number) => string;
  /** Of this runtime. */
  readonly runId: string;
  /** For messages. */
  readonly bucketName: string;
  readonly databasePath: string;
}

/** The fields of an object that is stored now. */
export function newVersion(
  { now, randomHex }: BucketPlatform,
  key: string,
): Pick<ObjectRecord, "key" | "version" | "uploaded"> {
  return { key, version: randomHex(16), uploaded: now() };
}
