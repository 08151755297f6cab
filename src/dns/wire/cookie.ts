/**
 * DNS cookies (RFC 7873) in the form that servers of different makes agree on (RFC 9018): what the
 * server adds to the client's eight octets can be checked without having been remembered.
 *
 *     client cookie (8) | version (1) | reserved (3) | time (4) | hash (8)
 */
import { sipHash } from "./siphash.ts";

const CLIENT_COOKIE_BYTES = 8;
const SERVER_COOKIE_BYTES_MIN = 8;
const SERVER_COOKIE_BYTES_MAX = 32;
export const COOKIE_BYTES = 24;
const TIME_OFFSET = 12;
const HASH_OFFSET = 16;
const VERSION = 1;

/** RFC 9018 section 4.3. */
const AGE_SECONDS_MAX = 3600;
const FUTURE_SECONDS_MAX = 300;

/** RFC 7873 section 5.2.2: any other length is a format error. */
export function isCookieLength(length: number): boolean {
  const server = length - CLIENT_COOKIE_BYTES;
  return server === 0 || (server >= SERVER_COOKIE_BYTES_MIN && server <= SERVER_COOKIE_BYTES_MAX);
}

function hash(cookie: Uint8Array, address: Uint8Array, secret: Uint8Array): Uint8Array {
  const input = new Uint8Array(HASH_OFFSET + address.length);
  input.set(cookie.subarray(0, HASH_OFFSET));
  input.set(address, HASH_OFFSET);
  return sipHash(secret, input);
}

export interface CookieContext {
  /** 4 or 16 octets. */
  readonly address: Uint8Array;
  /** 16 octets. */
  readonly secret: Uint8Array;
  readonly nowSeconds: number;
}

/** The option's data for a response to someone who sent this cookie. */
export function makeCookie(asked: Uint8Array, context: CookieContext): Uint8Array {
  const { address, secret, nowSeconds } = context;
  const cookie = new Uint8Array(COOKIE_BYTES);
  cookie.set(asked.subarray(0, CLIENT_COOKIE_BYTES));
  cookie[CLIENT_COOKIE_BYTES] = VERSION;
  for (let index = 0; index < 4; index++)
    cookie[TIME_OFFSET + index] = nowSeconds >>> (24 - 8 * index);
  cookie.set(hash(cookie, address, secret), HASH_OFFSET);
  return cookie;
}

/** Whether the server's part was made here, for this client, and lately. */
export function isValidCookie(cookie: Uint8Array, context: CookieContext): boolean {
  if (cookie.length !== COOKIE_BYTES || cookie[CLIENT_COOKIE_BYTES] !== VERSION) return false;
  const { address, secret, nowSeconds } = context;
  let time = 0;
  for (let index = 0; index < 4; index++) time = time * 256 + cookie[TIME_OFFSET + index]!;
  // RFC 1982: the difference of two times of 32 bits.
  const age = (nowSeconds - time) | 0;
  if (age > AGE_SECONDS_MAX || age < -FUTURE_SECONDS_MAX) return false;
  const expected = hash(cookie, address, secret);
  let difference = 0;
  for (let index = 0; index < expected.length; index++) {
    difference |= expected[index]! ^ cookie[HASH_OFFSET + index]!;
  }
  return difference === 0;
}
