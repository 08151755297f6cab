/** Names of buckets that requests create: the rules of the deployed service. */
import { StoreError } from "./errors.ts";

const namePattern = /^[a-z0-9](?:[a-z0-9-]{1,61})[a-z0-9]$/;

/** 3 to 63 lower-case letters, digits and hyphens, with a letter or a digit at both ends. */
export function isBucketName(name: string): boolean {
  return namePattern.test(name);
}

/** @throws StoreError 10005 */
export function validateBucketName(name: string): void {
  if (!isBucketName(name)) throw new StoreError(10005);
}
