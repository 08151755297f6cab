import { encodeHex } from "./hex.ts";

/** Random bytes that no call has used yet, from `used` on. */
const pool = new Uint8Array(4096);
let used = pool.length;

/**
 * Random bytes in hexadecimal. A call into the runtime for each put would take longer than the rest
 * of its id.
 */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  return encodeHex(pool.subarray(used, (used += bytes)));
}
