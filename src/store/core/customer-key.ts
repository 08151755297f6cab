/**
 * Keys of customers (SSE-C): an object or an upload that was made with a key is used with the same
 * key only. The store keeps the MD5 of the key, which identifies the key, and not the key.
 *
 * Deviation: content is stored as it is. Local files are encrypted by no secret.
 *
 * The client compares the keys when it decodes the object: a bucket does not parse what it returns.
 */
import { StoreError } from "./errors.ts";

/** What a key is remembered with. Without a key the field is absent. */
export interface KeyHolder {
  /** The MD5 of the key, in hexadecimal. */
  readonly ssecKeyMd5?: string;
}

/** AES-256. */
export const customerKeyBytes = 32;

/** @throws StoreError 200004 when an object has another key than the request, or one of them has none */
export function requireSameKey(holder: KeyHolder, given: string | undefined): void {
  if (holder.ssecKeyMd5 === given) return;
  throw new StoreError(200004, keyDifference(holder, given));
}

/** Says why a key is not that of an object. The texts are those of S3. */
export function keyDifference(
  { ssecKeyMd5: expected }: KeyHolder,
  given: string | undefined,
): string {
  if (expected === undefined) {
    return "The encryption parameters are not applicable to this object.";
  }
  return given === undefined
    ? "The object was stored using a form of Server Side Encryption. The correct parameters must " +
        "be provided to retrieve the object."
    : "The provided encryption parameters did not match the ones used originally.";
}
