/** Lets a request read an object with a key of a customer (SSE-C) only with the same key. */
import { requireSameKey, type KeyHolder } from "../../store/core/metadata.ts";
import type { OpenedObject } from "../s3-bucket.ts";

/**
 * Closes the object when it throws.
 *
 * @throws StoreError 200004
 */
export function requireKeyOf(opened: OpenedObject, customerKey: KeyHolder): void {
  try {
    requireSameKey(opened.object, customerKey.ssecKeyMd5);
  } catch (error) {
    const content = opened.status === "found" ? opened.content : null;
    if (content !== null && !(content instanceof Uint8Array)) content.close();
    throw error;
  }
}
