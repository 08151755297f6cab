/** The parts of the runtime that a bucket uses: its database, the clock, and randomness. */
import type { ObjectRecord } from "../core/operations.ts";
import type { Clock } from "./clock.ts";

export interface BucketPlatform {
  readonly storage: Pick<DurableObjectStorage, "sql" | "transactionSync">;
  readonly clock: Clock;
  /** Random bytes in hexadecimal. */
  readonly randomHex: (bytes: number) => string;
}

/** The fields of an object that is stored now. */
export function newVersion(
  { clock, randomHex }: BucketPlatform,
  key: string,
): Pick<ObjectRecord, "key" | "version" | "uploaded"> {
  return { key, version: randomHex(16), uploaded: clock.now() };
}
