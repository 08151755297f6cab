/** The OPT record of a response: the UDP size of this server, DO and CO of the query, NSID and cookie. */
import { cookieBytes, isValidCookie, makeCookie, type CookieContext } from "../wire/cookie.ts";
import { optionCodes } from "../wire/edns.ts";
import { typeCodes } from "../wire/numbers.ts";
import { optFixedBytes, type Query } from "./query.ts";

/** The largest UDP payload that is never fragmented: the IPv6 minimum MTU less headers (DNS flag day 2020). */
export const udpPayloadBytesMax = 1232;

const optionHeadBytes = 4;
const dnssecOkFlag = 0x80;
const compactOkFlag = 0x40;

export interface OptSettings {
  /** 16 octets; without it the server ignores cookies. */
  readonly cookieSecret?: Uint8Array;
  /** RFC 5001: sent when the query asks for it. */
  readonly nsid?: Uint8Array;
}

export class OptRecord {
  readonly #nsid: Uint8Array | null;
  readonly #secret: Uint8Array | null;

  constructor({ nsid, cookieSecret }: OptSettings) {
    this.#nsid = nsid ?? null;
    this.#secret = cookieSecret ?? null;
  }

  /** The length of OPT; 0 for a query without EDNS, which gets no OPT (RFC 6891 section 7). */
  length({ hasEdns, wantsNsid, cookie }: Query): number {
    if (!hasEdns) return 0;
    let length = optFixedBytes;
    if (wantsNsid && this.#nsid !== null) length += optionHeadBytes + this.#nsid.length;
    if (cookie !== null && this.#secret !== null) length += optionHeadBytes + cookieBytes;
    return length;
  }

  /** A cookie without the server's part is good. "none": no cookie, or the server ignores cookies. */
  checkCookie(query: Query): "none" | "good" | "bad" {
    const { cookie } = query;
    if (cookie === null || this.#secret === null) return "none";
    const isNew = cookie.length < cookieBytes / 2;
    return isNew || isValidCookie(cookie, this.#cookieContext(query)) ? "good" : "bad";
  }

  #cookieContext({ source, receivedSeconds }: Query): CookieContext {
    return { address: source.address, nowSeconds: receivedSeconds, secret: this.#secret! };
  }

  /** Fills a response from `start` to its end, and counts the record. */
  write(response: Uint8Array, start: number, query: Query, rcode: number): void {
    const dataBytes = response.length - start - optFixedBytes;
    response[start] = 0;
    writeUint16(response, start + 1, typeCodes.OPT);
    writeUint16(response, start + 3, udpPayloadBytesMax);
    response[start + 5] = rcode >>> 4;
    response[start + 6] = 0;
    response[start + 7] =
      (query.dnssecOk ? dnssecOkFlag : 0) | (query.compactOk ? compactOkFlag : 0);
    response[start + 8] = 0;
    writeUint16(response, start + 9, dataBytes);
    let at = start + optFixedBytes;
    if (query.wantsNsid && this.#nsid !== null) {
      at = writeOption(response, at, optionCodes.NSID, this.#nsid);
    }
    if (query.cookie !== null && this.#secret !== null) {
      const cookie = makeCookie(query.cookie, this.#cookieContext(query));
      writeOption(response, at, optionCodes.COOKIE, cookie);
    }
    writeUint16(response, 10, ((response[10]! << 8) | response[11]!) + 1);
  }
}

function writeOption(response: Uint8Array, at: number, code: number, data: Uint8Array): number {
  writeUint16(response, at, code);
  writeUint16(response, at + 2, data.length);
  response.set(data, at + optionHeadBytes);
  return at + optionHeadBytes + data.length;
}

function writeUint16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value & 0xff;
}
