/** Objects that a test writes to a bucket and reads from it directly, without the script. */
import type { ObjectDescription } from "./operations.ts";

/** An object that a test writes. */
export interface SeedObject extends Partial<ObjectDescription> {
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** An object that a test reads. */
export type FixtureObject = Required<Omit<SeedObject, "storageClass" | "ssecKeyMd5">>;
