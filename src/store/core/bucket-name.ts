/** Names of buckets that requests create: the rules of the deployed service. */
import { StoreError } from "./errors.ts";

/** 3 to 63 lower-case letters, digits and hyphens, with a letter or a digit at both ends. */
const namePattern = /^[a-z0-9](?:[a-z0-9-]{1,61})[a-z0-9]$/;

/** @throws StoreError 10005 */
export function validateBucketName(name: string): void {
  if (!namePattern.test(name)) throw new StoreError(10005);
}
