/** Objects that a test writes to a bucket and reads from it directly, without the script. */
import type { ObjectRecord } from "./operations.ts";

type Described = Pick<ObjectRecord, "key" | "http" | "custom">;

/** An object that a test writes. */
export interface SeedObject extends Described, Partial<Pick<ObjectRecord, "storageClass">> {
  readonly bytes: Uint8Array;
}

/** An object that a test reads. */
export interface FixtureObject extends Required<Described> {
  readonly bytes: Uint8Array;
}
