/**
 * What the operations of a bucket on an S3 service share. Each operation is a function over this context:
 * rules of `core/` decide, and conditional requests guard what they decided.
 */
import { StoreError } from "../core/errors.ts";
import { GenerationalCache } from "../core/generational-cache.ts";
import { utf8Length, validateKey } from "../core/key.ts";
import { keyBytesMax } from "../core/limits.ts";
import type { RemoteFeatures } from "./remote-options.ts";
import type { S3Connection } from "./s3-connection.ts";

export interface RemoteContext {
  readonly connection: S3Connection;
  /** Begins each key of the service's bucket. */
  readonly prefix: string;
  readonly features: RemoteFeatures;
  readonly spool: Spool;
  readonly now: () => number;
  /** A write that has lost a race waits before the next attempt. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** The lengths of parts of objects: a client that reads all parts asks for the parts before each again. */
  readonly partLengths: GenerationalCache<number>;
}

/**
 * Where large content waits until it is sent: a disk service of workerd, or a folder of Node. An
 * operation names its content by `blob` (`core/operations.ts`); each attempt opens the content again.
 */
export interface Spool {
  open(blob: string, size: number): Promise<ReadableStream<Uint8Array>>;
  /** Does nothing when there is no such file. */
  remove(blob: string): Promise<void>;
}

/** Characters of names in a generation of the cache: about 20,000 parts. */
const cachedCharactersMax = 2 * 1024 * 1024;

/** @param options the clock and the pauses are those of the runtime, unless a test gives others */
export function createContext(
  options: Pick<RemoteContext, "connection" | "features" | "spool"> & Partial<RemoteContext>,
): RemoteContext {
  return {
    now: () => Date.now(),
    pause: (milliseconds) =>
      new Promise((resolve) => setTimeout(resolve, Math.random() * milliseconds)),
    ...options,
    prefix: options.connection.place.prefix,
    partLengths: new GenerationalCache(cachedCharactersMax, (name) => name.length),
  };
}

/**
 * The key of the service's bucket.
 *
 * @throws StoreError 10020 for a key that no object can have, or that is too long with the prefix
 */
export function serviceKey({ prefix }: Pick<RemoteContext, "prefix">, key: string): string {
  validateKey(key);
  // A lone surrogate is U+FFFD in UTF-8, as in a local bucket.
  const whole = (prefix + key).toWellFormed();
  const bytes = utf8Length(whole);
  if (bytes > keyBytesMax) {
    throw new StoreError(
      10020,
      `The key is too long: with the prefix "${prefix}" of the remote bucket, the key has ${bytes} bytes, ` +
        `and ${keyBytesMax} are allowed. Use a shorter key or a shorter prefix.`,
    );
  }
  return whole;
}
