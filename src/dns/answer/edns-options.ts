/** OPT of a response: our size, DO as it came, and the options that were asked for. */
import { cookieBytes, isValidCookie, makeCookie, type CookieContext } from "../wire/cookie.ts";
import { optionCodes } from "../wire/edns.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { Query } from "./query.ts";

/** What passes everywhere in one piece: the smallest MTU of IPv6 less its headers (DNS flag day 2020). */
export const udpPayloadBytesMax = 1232;

const optFixedBytes = 11;
const optionHeadBytes = 4;
const dnssecOkFlag = 0x80;

export interface OptionSettings {
  /** 16 octets; without it cookies are not spoken of. */
  readonly cookieSecret?: Uint8Array;
  /** RFC 5001; sent to those who ask. */
  readonly nsid?: Uint8Array;
}

/** Who asks, and when: a cookie is made of both. */
export interface Moment {
  /** Its address is for cookies only: a listener may make the octets when they are read. */
  readonly asker: { readonly address: Uint8Array };
  readonly nowSeconds: number;
}

export class ResponseOptions {
  readonly #nsid: Uint8Array | null;
  readonly #secret: Uint8Array | null;

  constructor({ nsid, cookieSecret }: OptionSettings) {
    this.#nsid = nsid ?? null;
    this.#secret = cookieSecret ?? null;
  }

  /** How long OPT will be; 0 for a query without EDNS, which gets none (RFC 6891 section 7). */
  length({ hasEdns, wantsNsid, cookie }: Query): number {
    if (!hasEdns) return 0;
    let length = optFixedBytes;
    if (wantsNsid && this.#nsid !== null) length += optionHeadBytes + this.#nsid.length;
    if (cookie !== null && this.#secret !== null) length += optionHeadBytes + cookieBytes;
    return length;
  }

  /** Whether a cookie is spoken of at all, and if so, is new or good. */
  judge({ cookie }: Query, moment: Moment): "none" | "good" | "bad" {
    if (cookie === null || this.#secret === null) return "none";
    const isNew = cookie.length < cookieBytes / 2;
    return isNew || isValidCookie(cookie, this.#cookieContext(moment)) ? "good" : "bad";
  }

  #cookieContext({ asker, nowSeconds }: Moment): CookieContext {
    return { address: asker.address, nowSeconds, secret: this.#secret! };
  }

  /** Fills the end of a response from `start` on, and counts the record. */
  write(response: Uint8Array, start: number, query: Query, rcode: number, moment: Moment): void {
    const dataBytes = response.length - start - optFixedBytes;
    response[start] = 0;
    response[start + 1] = 0;
    response[start + 2] = typeCodes.OPT;
    response[start + 3] = udpPayloadBytesMax >>> 8;
    response[start + 4] = udpPayloadBytesMax & 0xff;
    response[start + 5] = rcode >>> 4;
    response[start + 6] = 0;
    response[start + 7] = query.dnssecOk ? dnssecOkFlag : 0;
    response[start + 8] = 0;
    response[start + 9] = dataBytes >>> 8;
    response[start + 10] = dataBytes & 0xff;
    let at = start + optFixedBytes;
    if (query.wantsNsid && this.#nsid !== null) {
      at = writeOption(response, at, optionCodes.NSID, this.#nsid);
    }
    if (query.cookie !== null && this.#secret !== null) {
      writeOption(
        response,
        at,
        optionCodes.COOKIE,
        makeCookie(query.cookie, this.#cookieContext(moment)),
      );
    }
    const additionals = ((response[10]! << 8) | response[11]!) + 1;
    response[10] = additionals >>> 8;
    response[11] = additionals & 0xff;
  }
}

function writeOption(response: Uint8Array, at: number, code: number, data: Uint8Array): number {
  response[at] = code >>> 8;
  response[at + 1] = code & 0xff;
  response[at + 2] = data.length >>> 8;
  response[at + 3] = data.length & 0xff;
  response.set(data, at + optionHeadBytes);
  return at + optionHeadBytes + data.length;
}
