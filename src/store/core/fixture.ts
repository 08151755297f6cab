/** Objects on their way into a bucket and out of it, past the script. */
import type { CustomMetadata, HttpMetadata } from "./http-metadata.ts";
import type { StorageClass } from "./operations.ts";

/** An object to put there. */
export interface SeedObject {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly http?: HttpMetadata;
  readonly custom?: CustomMetadata;
  readonly storageClass?: StorageClass;
}

/** An object that is there. */
export interface FixtureObject {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly http: HttpMetadata;
  readonly custom: CustomMetadata;
}
