/**
 * From the octets of a query to those of a response: header checks, EDNS, signatures and sizes
 * around `answer()`. UDP, TCP and DoH call the same responder. It waits for nothing and never
 * throws; what needs time is handed back to the caller. Malformed queries get FORMERR; those too
 * short for a header and all responses get silence.
 */
import { headerBytes, messageBytesMax, MessageWriter } from "../wire/message-writer.ts";
import { parseMessage, type Message } from "../wire/message.ts";
import { nameKey } from "../wire/name-key.ts";
import { classCodes, isMetaType, opcodes, rcodes, typeCodes } from "../wire/numbers.ts";
import {
  refuseSignature,
  signMessage,
  tsigBytes,
  verifyMessage,
  type Hmac,
  type TsigKey,
} from "../wire/tsig-mac.ts";
import type { Tsig } from "../wire/tsig.ts";
import { WireError } from "../wire/bytes.ts";
import { answer, emptyAnswer, isExternalNeeded, type Answer } from "./answer.ts";
import type { ExternalAddressCache, ExternalQuestion } from "./external-addresses.ts";
import { PreparedAnswers } from "./prepared-answers.ts";
import { Query } from "./query.ts";
import { ResponseOptions, udpPayloadBytesMax, type OptionSettings } from "./edns-options.ts";
import type { ServedZone } from "./served-zone.ts";
import type { ServedZones } from "./served-zones.ts";
import { writeAnswer } from "./write-answer.ts";

/** RFC 1035 section 4.2.1: without EDNS. */
const udpBytesPlain = 512;

/** In the third octet of a header. */
const responseFlag = 0x80;
const opcodeBits = 0x78;
const recursionDesired = 0x01;
/** In the fourth; it goes back as it came, as RD does. */
const checkingDisabled = 0x10;

type Transport = "udp" | "tcp" | "https";

interface TsigSettings {
  /** By the key's name in lower case. */
  readonly findKey: (name: string) => TsigKey | undefined;
  readonly hmac: Hmac;
}

export interface ResponderOptions extends OptionSettings {
  readonly zones: ServedZones;
  readonly outside: ExternalAddressCache;
  /** Hand AXFR and IXFR over TCP to the caller; without it they are refused. */
  readonly transfers?: boolean;
  /** Without it every signature is by an unknown key. */
  readonly tsig?: TsigSettings;
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

export interface TransferWanted {
  readonly kind: "transfer";
  readonly query: Message;
  readonly zone: ServedZone;
  readonly signer: Signer | null;
}

/**
 * Octets: send them. `null`: say nothing. "outside": ask a resolver, `ExternalAddressCache.put()` what it
 * said, and call again. "transfer": a stream of messages is wanted, which is not made here.
 */
export type Response =
  | Uint8Array
  | null
  | { readonly kind: "outside"; readonly questions: readonly ExternalQuestion[] }
  | TransferWanted;

function allocateOctets(length: number): Uint8Array {
  return new Uint8Array(length);
}

export class Responder {
  readonly #settings: ResponderOptions;
  readonly #options: ResponseOptions;
  readonly #allocate: (length: number) => Uint8Array;
  readonly #prepared = new PreparedAnswers();
  readonly #writer = new MessageWriter();
  // The query at hand: nothing here waits, so there is one at a time.
  readonly #query = new Query();
  #transport: Transport = "udp";
  readonly #moment: { asker: Pick<Asker, "address">; nowSeconds: number } = {
    asker: { address: new Uint8Array() },
    nowSeconds: 0,
  };
  #signer: Signer | null = null;

  constructor(settings: ResponderOptions) {
    this.#settings = settings;
    this.#options = new ResponseOptions(settings);
    this.#allocate = settings.allocate ?? allocateOctets;
  }

  /** Never throws. */
  respond(bytes: Uint8Array, asker: Asker, nowSeconds: number): Response {
    if (bytes.length < headerBytes || (bytes[2]! & responseFlag) !== 0) return null;
    try {
      const opcode = (bytes[2]! & opcodeBits) >>> 3;
      const isUpdate = opcode === opcodes.UPDATE;
      if (opcode !== opcodes.QUERY && !isUpdate) return this.#header(bytes, rcodes.NOTIMP);
      this.#transport = asker.transport;
      this.#moment.asker = asker;
      this.#moment.nowSeconds = nowSeconds;
      this.#signer = null;
      this.#query.read(bytes);
      if (isUpdate) return this.#send(emptyAnswer(rcodes.REFUSED));
      const tsig = this.#query.message?.tsig ?? null;
      return tsig === null ? this.#respond() : this.#respondSigned(tsig);
    } catch (error) {
      if (error instanceof WireError) return this.#header(bytes, rcodes.FORMERR);
      this.#settings.onError?.(error);
      return this.#header(bytes, rcodes.SERVFAIL);
    }
  }

  /** Nothing but the header: the rest could not be read, or is not known here. */
  #header(bytes: Uint8Array, rcode: number): Uint8Array {
    const header = this.#allocate(headerBytes);
    header.fill(0);
    header[0] = bytes[0]!;
    header[1] = bytes[1]!;
    header[2] = responseFlag | (bytes[2]! & (opcodeBits | recursionDesired));
    header[3] = rcode;
    return header;
  }

  #respond(): Response {
    const query = this.#query;
    // RFC 6891 section 6.1.3: the lowest version that is known here is told by OPT.
    if (query.hasEdns && query.version > 0) return this.#send(emptyAnswer(rcodes.BADVERS));
    if (query.hasBadCookie) return this.#send(emptyAnswer(rcodes.FORMERR));
    if (query.questions === 0) return this.#respondToCookie();
    if (query.class === 0 || query.class === classCodes.ANY) {
      return this.#send(emptyAnswer(rcodes.FORMERR));
    }
    if (isMetaType(query.type) && query.type !== typeCodes.ANY) return this.#respondToMeta();
    const { zones, outside } = this.#settings;
    const prepared = this.#prepared.get(query, zones.revision);
    if (prepared !== undefined && query.class === classCodes.IN) {
      return this.#finish(prepared.answer, prepared.message);
    }
    const { nowSeconds } = this.#moment;
    const made = answer(query, { zones, outside, nowSeconds });
    if (isExternalNeeded(made)) return { kind: "outside", questions: made.questions };
    if (!made.lasting) return this.#send(made);
    const message = this.#write(made, messageBytesMax, 0).slice();
    this.#prepared.put(query, made, message);
    return this.#finish(made, message);
  }

  /** RFC 7873 section 5.4: without a question, to learn or to prove a cookie. */
  #respondToCookie(): Uint8Array {
    const verdict = this.#options.judge(this.#query, this.#moment);
    if (verdict === "none") throw new WireError("There is no question");
    return this.#send(emptyAnswer(verdict === "good" ? rcodes.NOERROR : rcodes.BADCOOKIE));
  }

  /** Types that no zone holds. With nothing more configured they are answered as BIND does. */
  #respondToMeta(): Response {
    const { type, bytes, message } = this.#query;
    if (type === typeCodes.MAILA || type === typeCodes.MAILB)
      return this.#send(emptyAnswer(rcodes.NOTIMP));
    if (type !== typeCodes.AXFR && type !== typeCodes.IXFR)
      return this.#send(emptyAnswer(rcodes.FORMERR));
    const { transfers = false, zones } = this.#settings;
    if (!transfers || this.#transport === "https") return this.#send(emptyAnswer(rcodes.REFUSED));
    // RFC 5936 section 4.2: a zone is transferred by TCP only.
    if (type === typeCodes.AXFR && this.#transport === "udp") {
      return this.#send(emptyAnswer(rcodes.FORMERR));
    }
    const zone = zones.at(nameKey(this.#query.name));
    if (zone === undefined) return this.#send(emptyAnswer(rcodes.NOTAUTH));
    if (this.#transport === "tcp") {
      const query = message ?? parseMessage(bytes).message;
      return { kind: "transfer", query, zone, signer: this.#signer };
    }
    // RFC 1995 section 2: IXFR by UDP gets the SOA alone, and whoever is behind comes by TCP.
    const latest = { ...emptyAnswer(rcodes.NOERROR), authoritative: true, answers: [zone.soa] };
    return this.#send(latest);
  }

  #respondSigned(asked: Tsig): Response {
    const { tsig } = this.#settings;
    const { nowSeconds } = this.#moment;
    const refusal = () => this.#send(emptyAnswer(rcodes.NOTAUTH));
    if (tsig === undefined) return refuseSignature(refusal(), asked, rcodes.BADKEY);
    const { hmac } = tsig;
    const verdict = verifyMessage(this.#query.bytes, { ...tsig, nowSeconds });
    if (verdict.kind === "unsigned") return this.#respond();
    if (verdict.kind === "bad") {
      const { error, key } = verdict;
      if (key === null) return refuseSignature(refusal(), asked, error);
      // RFC 8945 section 5.2.3: a clock that is off is told the time, with a signature.
      const options = { key, hmac, nowSeconds, priorMac: asked.mac, error, tellTime: true };
      return signMessage(refusal(), options).bytes;
    }
    const { key, mac } = verdict;
    this.#signer = { key, mac };
    const response = this.#respond();
    if (!(response instanceof Uint8Array)) return response;
    return signMessage(response, { key, hmac, nowSeconds, priorMac: mac }).bytes;
  }

  #write(made: Answer, bytesMax: number, reserved: number): Uint8Array {
    this.#writer.begin(bytesMax, reserved);
    return writeAnswer(this.#writer, this.#query, made);
  }

  #send(made: Answer): Uint8Array {
    return this.#finish(made, this.#write(made, messageBytesMax, 0));
  }

  /** What the response may have, without a signature that will be added. */
  #bytesMax(): number {
    const signature = this.#signer === null ? 0 : tsigBytes(this.#signer.key);
    if (this.#transport !== "udp") return messageBytesMax - signature;
    const { hasEdns, udpBytesMax } = this.#query;
    if (!hasEdns) return udpBytesPlain - signature;
    return Math.max(udpBytesPlain, Math.min(udpBytesMax, udpPayloadBytesMax)) - signature;
  }

  /** Makes a message that is ready the response to the query at hand. */
  #finish(made: Answer, whole: Uint8Array): Uint8Array {
    const query = this.#query;
    const { bytes } = query;
    const optBytes = this.#options.length(query);
    const bytesMax = this.#bytesMax();
    const fits = whole.length + optBytes <= bytesMax;
    const message = fits ? whole : this.#write(made, bytesMax, optBytes);
    const response = this.#allocate(message.length + optBytes);
    response.set(message);
    response[0] = bytes[0]!;
    response[1] = bytes[1]!;
    response[2]! |= responseFlag | (bytes[2]! & (opcodeBits | recursionDesired));
    response[3]! |= bytes[3]! & checkingDisabled;
    // The case in which it was asked for (RFC 4343 section 4.1): what points to it has it too.
    for (let at = headerBytes; at < query.end; at++) response[at] = bytes[at]!;
    if (optBytes > 0) {
      this.#options.write(response, message.length, query, made.rcode, this.#moment);
    }
    return response;
  }
}
