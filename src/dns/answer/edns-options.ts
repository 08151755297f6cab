/** OPT of a response: our size, DO as it came, and the options that were asked for. */
import { COOKIE_BYTES, isValidCookie, makeCookie, type CookieContext } from "../wire/cookie.ts";
import { OPTION } from "../wire/edns.ts";
import { TYPE } from "../wire/numbers.ts";
import type { Query } from "./query.ts";

/** What passes everywhere in one piece: the smallest MTU of IPv6 less its headers (DNS flag day 2020). */
export const UDP_BYTES_MAX = 1232;

const OPT_FIXED_BYTES = 11;
const OPTION_HEAD_BYTES = 4;
const DNSSEC_OK = 0x80;

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
    let length = OPT_FIXED_BYTES;
    if (wantsNsid && this.#nsid !== null) length += OPTION_HEAD_BYTES + this.#nsid.length;
    if (cookie !== null && this.#secret !== null) length += OPTION_HEAD_BYTES + COOKIE_BYTES;
    return length;
  }

  /** Whether a cookie is spoken of at all, and if so, is new or good. */
  judge({ cookie }: Query, moment: Moment): "none" | "good" | "bad" {
    if (cookie === null || this.#secret === null) return "none";
    const isNew = cookie.length < COOKIE_BYTES / 2;
    return isNew || isValidCookie(cookie, this.#cookieContext(moment)) ? "good" : "bad";
  }

  #cookieContext({ asker, nowSeconds }: Moment): CookieContext {
    return { address: asker.address, nowSeconds, secret: this.#secret! };
  }

  /** Fills the end of a response from `start` on, and counts the record. */
  write(response: Uint8Array, start: number, query: Query, rcode: number, moment: Moment): void {
    const dataBytes = response.length - start - OPT_FIXED_BYTES;
    response[start] = 0;
    response[start + 1] = 0;
    response[start + 2] = TYPE.OPT;
    response[start + 3] = UDP_BYTES_MAX >>> 8;
    response[start + 4] = UDP_BYTES_MAX & 0xff;
    response[start + 5] = rcode >>> 4;
    response[start + 6] = 0;
    response[start + 7] = query.dnssecOk ? DNSSEC_OK : 0;
    response[start + 8] = 0;
    response[start + 9] = dataBytes >>> 8;
    response[start + 10] = dataBytes & 0xff;
    let at = start + OPT_FIXED_BYTES;
    if (query.wantsNsid && this.#nsid !== null) {
      at = writeOption(response, at, OPTION.NSID, this.#nsid);
    }
    if (query.cookie !== null && this.#secret !== null) {
      writeOption(
        response,
        at,
        OPTION.COOKIE,
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
  response.set(data, at + OPTION_HEAD_BYTES);
  return at + OPTION_HEAD_BYTES + data.length;
}
