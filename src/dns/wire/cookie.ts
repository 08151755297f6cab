/**
 * DNS cookies (RFC 7873) in the interoperable form of RFC 9018. The server appends a hash to the
 * client's eight octets, so that it can verify a cookie without storing it.
 *
 *     client cookie (8) | version (1) | reserved (3) | time (4) | hash (8)
 */
import { isSameSecret } from "./bytes.ts";
import { sipHash } from "./siphash.ts";

const clientCookieBytes = 8;
const serverCookieBytesMin = 8;
const serverCookieBytesMax = 32;
export const cookieBytes = 24;
const timeOffset = 12;
const hashOffset = 16;
const version = 1;

/** RFC 9018 section 4.3. */
const ageSecondsMax = 3600;
const futureSecondsMax = 300;

/** RFC 7873 section 5.2.2: any other length is a format error. */
export function isCookieLength(length: number): boolean {
  const server = length - clientCookieBytes;
  return server === 0 || (server >= serverCookieBytesMin && server <= serverCookieBytesMax);
}

function hash(cookie: Uint8Array, address: Uint8Array, secret: Uint8Array): Uint8Array {
  const input = new Uint8Array(hashOffset + address.length);
  input.set(cookie.subarray(0, hashOffset));
  input.set(address, hashOffset);
  return sipHash(secret, input);
}

export interface CookieContext {
  /** 4 or 16 octets. */
  readonly address: Uint8Array;
  /** 16 octets. */
  readonly secret: Uint8Array;
  readonly nowSeconds: number;
}

/** The data of the COOKIE option in the response to a request with this cookie. */
export function makeCookie(requestCookie: Uint8Array, context: CookieContext): Uint8Array {
  const { address, secret, nowSeconds } = context;
  const cookie = new Uint8Array(cookieBytes);
  cookie.set(requestCookie.subarray(0, clientCookieBytes));
  cookie[clientCookieBytes] = version;
  for (let index = 0; index < 4; index++)
    cookie[timeOffset + index] = nowSeconds >>> (24 - 8 * index);
  cookie.set(hash(cookie, address, secret), hashOffset);
  return cookie;
}

/** Whether this server issued the cookie to this address and the cookie has not expired. */
export function isValidCookie(cookie: Uint8Array, context: CookieContext): boolean {
  if (cookie.length !== cookieBytes || cookie[clientCookieBytes] !== version) return false;
  const { address, secret, nowSeconds } = context;
  let time = 0;
  for (let index = 0; index < 4; index++) time = time * 256 + cookie[timeOffset + index]!;
  // Serial number arithmetic (RFC 1982): both times have 32 bits.
  const age = (nowSeconds - time) | 0;
  if (age > ageSecondsMax || age < -futureSecondsMax) return false;
  return isSameSecret(hash(cookie, address, secret), cookie.subarray(hashOffset));
}
