/**
 * Keys, and their order.
 *
 * Keys are ordered by their UTF-8 bytes, which is the order of their code points. JavaScript
 * compares UTF-16 code units, and the orders differ above the surrogates: U+FF5E is before U+1F600
 * in UTF-8 and after it in UTF-16. So the store never compares keys with `<`.
 *
 * Deviation: keys that are equal after normalisation (NFC) are different keys.
 */
import { StoreError } from "./errors.ts";
import { keyBytesMax } from "./limits.ts";

/** @throws StoreError 10020 when no object can have this key */
export function validateKey(key: string): void {
  // Deviation: an empty key is refused.
  if (key.length === 0 || utf8Length(key) > keyBytesMax) throw new StoreError(10020);
}

/** The length of a text in UTF-8, in bytes. A lone surrogate counts as U+FFFD, 3 bytes. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const point = text.codePointAt(index) as number;
    if (point < 0x80) continue;
    bytes += point < 0x800 ? 1 : 2;
    // A point above U+FFFF is two units of the text, and four bytes.
    if (point > 0xffff) index++;
  }
  return bytes;
}

/** Negative, zero or positive: `left` is before, equal to or after `right` in UTF-8 order. */
export function compareKeys(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return codePointRank(a) - codePointRank(b);
  }
  return left.length - right.length;
}

/**
 * The smallest key after all keys that begin with `prefix`. `null` when no such key exists: for the
 * empty prefix, and for a prefix that consists of U+10FFFF.
 */
export function prefixEnd(prefix: string): string | null {
  const points = Array.from(prefix);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) as number;
    if (point === 0x10ffff) continue;
    // No key contains U+D800 to U+DFFF, the surrogates.
    const next = point === 0xd7ff ? 0xe000 : point + 1;
    return points.join("") + String.fromCodePoint(next);
  }
  return null;
}

/** Orders UTF-16 code units by code point: surrogates encode the points above U+FFFF. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Names of buckets that requests create: the rules of the deployed service. */

/** 3 to 63 lower-case letters, digits and hyphens, with a letter or a digit at both ends. */
const namePattern = /^[a-z0-9](?:[a-z0-9-]{1,61})[a-z0-9]$/;

/** @throws StoreError 10005 */
export function validateBucketName(name: string): void {
  if (!namePattern.test(name)) throw new StoreError(10005);
}
