/**
 * From the octets of a query to those of a response: header checks, EDNS, cookies and sizes around
 * `answer()`. UDP, TCP and DoH call the same responder. It waits for nothing and never throws; what
 * needs time is handed back to the caller. Malformed queries get FORMERR, those too short to have
 * an identifier and all responses get silence.
 */
import { COOKIE_BYTES, isValidCookie, makeCookie } from "../wire/cookie.ts";
import { OPTION } from "../wire/edns.ts";
import { HEADER_BYTES, MESSAGE_BYTES_MAX, MessageWriter } from "../wire/message-writer.ts";
import { parseMessage, type Message } from "../wire/message.ts";
import { nameKey } from "../wire/name-key.ts";
import { CLASS, isMetaType, OPCODE, RCODE, TYPE } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/record-set.ts";
import {
  refuseSignature,
  signMessage,
  tsigBytes,
  verifyMessage,
  type Hmac,
  type TsigKey,
} from "../wire/tsig-mac.ts";
import { WireError } from "../wire/wire-error.ts";
import { answer, isOutsideNeeded, type Answer } from "./answer.ts";
import type { OutsideAnswers, OutsideQuestion } from "./outside.ts";
import { PreparedAnswers } from "./prepared-answers.ts";
import { Query } from "./query.ts";
import type { ServedZone } from "./served-zone.ts";
import type { ServedZones } from "./served-zones.ts";

/** RFC 1035 section 4.2.1: without EDNS. */
const UDP_BYTES_PLAIN = 512;
/** What passes everywhere in one piece: the smallest MTU of IPv6 less its headers (DNS flag day 2020). */
const UDP_BYTES_MAX = 1232;
const OPT_FIXED_BYTES = 11;
const OPTION_HEAD_BYTES = 4;

const FLAG = {
  response: 0x80,
  authoritative: 0x04,
  truncated: 0x02,
  recursionDesired: 0x01,
} as const;
/** CD goes back as it came (RFC 6840 section 5.9 leaves it to whoever validates). */
const CHECKING_DISABLED = 0x10;

export type Transport = "udp" | "tcp" | "https";

export interface ResponderOptions {
  readonly zones: ServedZones;
  readonly outside: OutsideAnswers;
  /** 16 octets; without it cookies are not spoken of. */
  readonly cookieSecret?: Uint8Array;
  /** RFC 5001; sent to those who ask. */
  readonly nsid?: Uint8Array;
  /** Hand AXFR and IXFR over TCP to the caller; without it they are refused. */
  readonly transfers?: boolean;
  readonly tsig?: { readonly findKey: (name: string) => TsigKey | undefined; readonly hmac: Hmac };
  /** Node may hand out octets of its pool. */
  readonly allocate?: (length: number) => Uint8Array;
  /** Told of a mistake of ours; who asked gets SERVFAIL. */
  readonly onError?: (error: unknown) => void;
}

export interface Asker {
  readonly transport: Transport;
  /** 4 or 16 octets. */
  readonly address: Uint8Array;
}

/** Who signed a query, and the MAC that the signature of the response builds on. */
export interface Signer {
  readonly key: TsigKey;
  readonly mac: Uint8Array;
}

/**
 * Octets: send them. `null`: say nothing. "outside": ask a resolver, `OutsideAnswers.put()` what it
 * said, and call again. "transfer": a stream of messages is wanted, which is not made here.
 */
export type Response =
  | Uint8Array
  | null
  | { readonly kind: "outside"; readonly questions: readonly OutsideQuestion[] }
  | {
      readonly kind: "transfer";
      readonly query: Message;
      readonly zone: ServedZone;
      readonly signer: Signer | null;
    };

function allocateOctets(length: number): Uint8Array {
  return new Uint8Array(length);
}

export class Responder {
  readonly #options: ResponderOptions;
  readonly #allocate: (length: number) => Uint8Array;
  readonly #prepared = new PreparedAnswers();
  readonly #writer = new MessageWriter();
  readonly #query = new Query();

  constructor(options: ResponderOptions) {
    this.#options = options;
    this.#allocate = options.allocate ?? allocateOctets;
  }

  /** Never throws. */
  respond(bytes: Uint8Array, asker: Asker, nowSeconds: number): Response {
    if (bytes.length < HEADER_BYTES || (bytes[2]! & FLAG.response) !== 0) return null;
    try {
      const opcode = (bytes[2]! >>> 3) & 0xf;
      if (opcode === OPCODE.UPDATE) return this.#header(bytes, RCODE.REFUSED);
      if (opcode !== OPCODE.QUERY) return this.#header(bytes, RCODE.NOTIMP);
      this.#query.read(bytes);
      if (this.#query.message?.tsig) return this.#respondSigned(bytes, asker, nowSeconds);
      return this.#respond(bytes, asker, nowSeconds, null);
    } catch (error) {
      if (error instanceof WireError) return this.#header(bytes, RCODE.FORMERR);
      this.#options.onError?.(error);
      return this.#header(bytes, RCODE.SERVFAIL);
    }
  }

  /** Nothing but the header: the rest could not be read, or is not known here. */
  #header(bytes: Uint8Array, rcode: number): Uint8Array {
    const header = this.#allocate(HEADER_BYTES);
    header.fill(0);
    header[0] = bytes[0]!;
    header[1] = bytes[1]!;
    header[2] = FLAG.response | (bytes[2]! & (0x78 | FLAG.recursionDesired));
    header[3] = rcode;
    return header;
  }

  #respond(bytes: Uint8Array, asker: Asker, nowSeconds: number, signer: Signer | null): Response {
    const query = this.#query;
    if (query.hasEdns && query.version > 0) {
      return this.#short(bytes, asker, nowSeconds, RCODE.BADVERS);
    }
    if (query.questions === 0) return this.#respondToCookie(bytes, asker, nowSeconds);
    if (query.class === 0) throw new WireError("Class 0 is reserved");
    if (isMetaType(query.type) && query.type !== TYPE.ANY) {
      return this.#respondToMeta(bytes, asker, nowSeconds, signer);
    }
    const { zones, outside } = this.#options;
    const prepared = this.#prepared.get(query, zones.revision);
    if (prepared !== undefined && query.class === CLASS.IN) {
      return this.#finish(bytes, asker, nowSeconds, prepared.answer, prepared.message);
    }
    const { name, type, class: questionClass } = query;
    const made = answer({ name, type, class: questionClass }, { zones, outside, nowSeconds });
    if (isOutsideNeeded(made)) return { kind: "outside", questions: made.questions };
    const length = this.#write(made, MESSAGE_BYTES_MAX, 0);
    const message = this.#writer.bytes.subarray(0, length);
    if (!made.lasting) return this.#finish(bytes, asker, nowSeconds, made, message);
    const kept = message.slice();
    this.#prepared.put(query, made, kept);
    return this.#finish(bytes, asker, nowSeconds, made, kept);
  }

  /** RFC 7873 section 5.4: without a question, to learn or to prove a cookie. */
  #respondToCookie(bytes: Uint8Array, asker: Asker, nowSeconds: number): Uint8Array {
    const { cookie } = this.#query;
    const { cookieSecret: secret } = this.#options;
    if (cookie === null || secret === undefined) throw new WireError("There is no question");
    const isNew = cookie.length < COOKIE_BYTES / 2;
    const context = { address: asker.address, secret, nowSeconds };
    const good = isNew || isValidCookie(cookie, context);
    return this.#short(bytes, asker, nowSeconds, good ? RCODE.NOERROR : RCODE.BADCOOKIE);
  }

  /** Types that no zone holds. With nothing more configured they are answered as BIND does. */
  #respondToMeta(
    bytes: Uint8Array,
    asker: Asker,
    nowSeconds: number,
    signer: Signer | null,
  ): Response {
    const { type, name } = this.#query;
    const { transfers = false, zones } = this.#options;
    if (type === TYPE.AXFR || type === TYPE.IXFR) {
      // RFC 5936 section 4.2: a zone is transferred by TCP only.
      if (type === TYPE.AXFR && asker.transport === "udp") throw new WireError("AXFR by UDP");
      if (!transfers || asker.transport === "https") {
        return this.#short(bytes, asker, nowSeconds, RCODE.REFUSED);
      }
      const zone = zones.at(nameKey(name));
      if (zone === undefined) return this.#short(bytes, asker, nowSeconds, RCODE.NOTAUTH);
      if (asker.transport === "udp") return this.#latest(bytes, asker, nowSeconds, zone);
      const query = this.#query.message ?? parseMessage(bytes).message;
      return { kind: "transfer", query, zone, signer };
    }
    if (type === TYPE.MAILA || type === TYPE.MAILB || type === TYPE.TKEY) {
      return this.#short(bytes, asker, nowSeconds, RCODE.NOTIMP);
    }
    throw new WireError("The type cannot be asked for");
  }

  /** RFC 1995 section 2: IXFR by UDP gets the SOA alone, and whoever is behind comes by TCP. */
  #latest(bytes: Uint8Array, asker: Asker, nowSeconds: number, zone: ServedZone): Uint8Array {
    const made = { ...nothing(RCODE.NOERROR), authoritative: true, answers: [zone.soa] };
    const length = this.#write(made, MESSAGE_BYTES_MAX, 0);
    const message = this.#writer.bytes.subarray(0, length);
    return this.#finish(bytes, asker, nowSeconds, made, message);
  }

  /** A response without records. */
  #short(bytes: Uint8Array, asker: Asker, nowSeconds: number, rcode: number): Uint8Array {
    const made = nothing(rcode);
    const length = this.#write(made, MESSAGE_BYTES_MAX, 0);
    const message = this.#writer.bytes.subarray(0, length);
    return this.#finish(bytes, asker, nowSeconds, made, message);
  }

  #write(made: Answer, bytesMax: number, reserved: number): number {
    const writer = this.#writer;
    const query = this.#query;
    writer.begin(bytesMax, reserved);
    if (query.questions === 1) writer.question(query.name, query.type, query.class);
    const fits = (section: "answer" | "authority" | "additional", sets: readonly RecordSet[]) => {
      for (const set of sets) if (!writer.recordSet(section, set)) return false;
      return true;
    };
    // Whatever comes after the first set that has no room is left out with it (RFC 2181 section 9).
    const whole =
      fits("answer", made.answers) &&
      fits("authority", made.authorities) &&
      fits("additional", made.glue);
    if (whole) for (const set of made.additionals) writer.recordSet("additional", set);
    writer.bytes[2] = (made.authoritative ? FLAG.authoritative : 0) | (whole ? 0 : FLAG.truncated);
    writer.bytes[3] = made.rcode & 0xf;
    return writer.length;
  }

  #bytesMax({ transport }: Asker): number {
    if (transport !== "udp") return MESSAGE_BYTES_MAX - this.#signatureBytes;
    const { hasEdns, udpBytesMax } = this.#query;
    const bytesMax = hasEdns
      ? Math.max(UDP_BYTES_PLAIN, Math.min(udpBytesMax, UDP_BYTES_MAX))
      : UDP_BYTES_PLAIN;
    return bytesMax - this.#signatureBytes;
  }

  /** Kept free for the signature of the response at hand. */
  #signatureBytes = 0;

  /** Makes a message that is ready the response to the query at hand. */
  #finish(
    bytes: Uint8Array,
    asker: Asker,
    nowSeconds: number,
    made: Answer,
    whole: Uint8Array,
  ): Uint8Array {
    const query = this.#query;
    const optBytes = this.#optBytes();
    const bytesMax = this.#bytesMax(asker);
    let message = whole;
    if (whole.length + optBytes > bytesMax) {
      message = this.#writer.bytes.subarray(0, this.#write(made, bytesMax, optBytes));
    }
    const response = this.#allocate(message.length + optBytes);
    response.set(message);
    response[0] = bytes[0]!;
    response[1] = bytes[1]!;
    response[2]! |= FLAG.response | (bytes[2]! & FLAG.recursionDesired);
    response[3]! |= bytes[3]! & CHECKING_DISABLED;
    if (query.questions === 1) {
      const offset = HEADER_BYTES - query.start;
      for (let at = query.start; at < query.end; at++) response[at + offset] = query.source[at]!;
    }
    if (optBytes > 0) this.#writeOpt(response, message.length, made.rcode, asker, nowSeconds);
    return response;
  }

  #optBytes(): number {
    const { hasEdns, wantsNsid, cookie } = this.#query;
    if (!hasEdns) return 0;
    const { nsid, cookieSecret } = this.#options;
    let length = OPT_FIXED_BYTES;
    if (wantsNsid && nsid !== undefined) length += OPTION_HEAD_BYTES + nsid.length;
    if (cookie !== null && cookieSecret !== undefined) length += OPTION_HEAD_BYTES + COOKIE_BYTES;
    return length;
  }

  #writeOpt(
    response: Uint8Array,
    start: number,
    rcode: number,
    asker: Asker,
    nowSeconds: number,
  ): void {
    const { dnssecOk, wantsNsid, cookie } = this.#query;
    const { nsid, cookieSecret } = this.#options;
    const dataBytes = response.length - start - OPT_FIXED_BYTES;
    response[start] = 0;
    response[start + 1] = 0;
    response[start + 2] = TYPE.OPT;
    response[start + 3] = UDP_BYTES_MAX >>> 8;
    response[start + 4] = UDP_BYTES_MAX & 0xff;
    response[start + 5] = rcode >>> 4;
    response[start + 6] = 0;
    // RFC 3225 section 3: DO goes back as it came.
    response[start + 7] = dnssecOk ? 0x80 : 0;
    response[start + 8] = 0;
    response[start + 9] = dataBytes >>> 8;
    response[start + 10] = dataBytes & 0xff;
    let at = start + OPT_FIXED_BYTES;
    if (wantsNsid && nsid !== undefined) at = writeOption(response, at, OPTION.NSID, nsid);
    if (cookie !== null && cookieSecret !== undefined) {
      const context = { address: asker.address, secret: cookieSecret, nowSeconds };
      writeOption(response, at, OPTION.COOKIE, makeCookie(cookie, context));
    }
    const additionals = ((response[10]! << 8) | response[11]!) + 1;
    response[10] = additionals >>> 8;
    response[11] = additionals & 0xff;
  }

  #respondSigned(bytes: Uint8Array, asker: Asker, nowSeconds: number): Response {
    const asked = this.#query.message!.tsig!;
    const { tsig } = this.#options;
    const verdict = tsig === undefined ? undefined : verifyMessage(bytes, { ...tsig, nowSeconds });
    if (tsig === undefined || verdict?.kind !== "good") {
      const error = verdict?.kind === "bad" ? verdict.error : RCODE.BADKEY;
      const refusal = this.#short(bytes, asker, nowSeconds, RCODE.NOTAUTH);
      const key = verdict?.kind === "bad" ? verdict.key : null;
      if (key === null || tsig === undefined) return refuseSignature(refusal, asked, error);
      // RFC 8945 section 5.2.3: a clock that is off is told the time, with a signature.
      const other = new Uint8Array(6);
      new DataView(other.buffer).setUint16(0, Math.floor(nowSeconds / 2 ** 32));
      new DataView(other.buffer).setUint32(2, nowSeconds % 2 ** 32);
      const { hmac } = tsig;
      const priorMac = asked.mac;
      return signMessage(refusal, { key, hmac, nowSeconds, priorMac, error, other }).bytes;
    }
    const { key, mac } = verdict;
    this.#signatureBytes = tsigBytes(key);
    try {
      const response = this.#respond(bytes, asker, nowSeconds, { key, mac });
      if (!(response instanceof Uint8Array)) return response;
      return signMessage(response, { key, hmac: tsig.hmac, nowSeconds, priorMac: mac }).bytes;
    } finally {
      this.#signatureBytes = 0;
    }
  }
}

function nothing(rcode: number): Answer {
  const none: readonly RecordSet[] = [];
  return {
    rcode,
    authoritative: false,
    answers: none,
    authorities: none,
    glue: none,
    additionals: none,
    rules: [],
    lasting: false,
  };
}

function writeOption(response: Uint8Array, at: number, code: number, data: Uint8Array): number {
  response[at] = code >>> 8;
  response[at + 1] = code & 0xff;
  response[at + 2] = data.length >>> 8;
  response[at + 3] = data.length & 0xff;
  response.set(data, at + OPTION_HEAD_BYTES);
  return at + OPTION_HEAD_BYTES + data.length;
}
