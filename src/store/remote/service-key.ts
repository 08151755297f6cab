/** Keys of the service's bucket: a prefix, and the key of the object. */
import { StoreError } from "../core/errors.ts";
import { utf8Length, validateKey } from "../core/key.ts";
import { keyBytesMax } from "../core/limits.ts";

/** @throws StoreError 10020 for a key that no object can have, or that is too long with the prefix */
export function serviceKey(prefix: string, key: string): string {
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
