/**
 * From the octets of a query to the octets of its response. UDP, TCP and DoH call the same
 * responder, and this is the path of a query:
 *
 *     octets ─▶ Query (query.ts) ─▶ signature, EDNS version, types that no zone holds (here)
 *       ─▶ a prepared message (prepared-answers.ts), or
 *          answer() (answer.ts): zone ─▶ location of the name ─▶ sets, referral or flattening
 *       ─▶ octets (response-writer.ts)
 *
 * The responder waits for nothing and never throws; the caller resolves and transfers. A malformed
 * query gets FORMERR. A response, or a packet shorter than a header, gets no response.
 */
import {
  signaturePeriod,
  type AnswerSigner,
  type SignaturesNeeded,
} from "../dnssec/answer-signer.ts";
import type { QueryCount } from "../rules/query-report.ts";
import { WireError } from "../wire/bytes.ts";
import { headerBytes } from "../wire/message-writer.ts";
import { parseMessage, type Message, type Tsig } from "../wire/message.ts";
import { nameKey } from "../wire/name.ts";
import { classCodes, isMetaType, opcodes, rcodes, typeCodes } from "../wire/numbers.ts";
import {
  refuseSignature,
  signMessage,
  verifyMessage,
  type Hmac,
  type TsigKey,
} from "../wire/tsig.ts";
import { answer, emptyAnswer } from "./answer.ts";
import type { ExternalAddressCache, ExternalNeeded } from "./external-addresses.ts";
import { PreparedAnswers, QueryCounts } from "./prepared-answers.ts";
import { Query, type QuerySignature, type QuerySource } from "./query.ts";
import { opcodeBits, responseFlag, ResponseWriter } from "./response-writer.ts";
import type { ServedZone, ServedZones } from "./served-zones.ts";

interface TsigSettings {
  /** By the key's name in lower case. */
  readonly findKey: (name: string) => TsigKey | undefined;
  readonly hmac: Hmac;
}

export interface ResponderOptions {
  readonly zones: ServedZones;
  readonly external: ExternalAddressCache;
  /** Without it the answers of signed zones have no proofs. */
  readonly signer?: AnswerSigner;
  /** Return AXFR and IXFR over TCP to the caller; without it they are refused. */
  readonly transfers?: boolean;
  /** Without it every signature has an unknown key. */
  readonly tsig?: TsigSettings;
  /** Node allocates from its pool of buffers. */
  readonly allocate?: (length: number) => Uint8Array;
  /** Called with an internal error; the client gets SERVFAIL. */
  readonly onError?: (error: unknown) => void;
}

/** A query for a zone transfer, which the caller serves as a stream of messages. */
export interface TransferRequest {
  readonly kind: "transfer";
  readonly query: Message;
  readonly zone: ServedZone;
  readonly signature: QuerySignature | null;
}

/**
 * Octets: the response. `null`: no response. "external": the caller resolves the question, puts the
 * result into the cache and calls again. "signatures": the caller makes the signatures, puts them
 * into the signer and calls again. "transfer": the caller serves the transfer.
 */
export type ResponderResult =
  | Uint8Array
  | null
  | ExternalNeeded
  | SignaturesNeeded
  | TransferRequest;

export class Responder {
  readonly #options: ResponderOptions;
  readonly #writer: ResponseWriter;
  readonly #counts = new QueryCounts();
  readonly #prepared = new PreparedAnswers(this.#counts);
  /** For queries with DO. Its signatures are those of `#signaturePeriod`. */
  #preparedSigned = new PreparedAnswers(this.#counts);
  #signaturePeriod = 0;
  /** The current query: `respond()` is synchronous, so there is one at a time. */
  readonly #query = new Query();

  constructor(options: ResponderOptions) {
    this.#options = options;
    this.#writer = new ResponseWriter(options.allocate);
  }

  respond(bytes: Uint8Array, source: QuerySource, nowSeconds: number): ResponderResult {
    if (bytes.length < headerBytes || (bytes[2]! & responseFlag) !== 0) return null;
    try {
      const opcode = (bytes[2]! & opcodeBits) >>> 3;
      const isUpdate = opcode === opcodes.UPDATE;
      if (opcode !== opcodes.QUERY && !isUpdate) {
        return this.#writer.headerOnly(bytes, rcodes.NOTIMP);
      }
      const query = this.#query;
      query.source = source;
      query.receivedSeconds = nowSeconds;
      query.signature = null;
      query.read(bytes);
      if (isUpdate) return this.#respondEmpty(rcodes.REFUSED);
      const tsig = query.message?.tsig ?? null;
      return tsig === null ? this.#respond() : this.#respondSigned(tsig);
    } catch (error) {
      if (error instanceof WireError) return this.#writer.headerOnly(bytes, rcodes.FORMERR);
      this.#options.onError?.(error);
      return this.#writer.headerOnly(bytes, rcodes.SERVFAIL);
    }
  }

  /** The queries for names of the zones so far, signed and unsigned, without transfers. */
  countQueries(): QueryCount[] {
    this.#prepared.count();
    this.#preparedSigned.count();
    return this.#counts.list();
  }

  /** A response without records. */
  #respondEmpty(rcode: number): Uint8Array {
    return this.#writer.write(this.#query, emptyAnswer(rcode));
  }

  #respond(): ResponderResult {
    const query = this.#query;
    // RFC 6891 section 6.1.3: OPT of the response tells the highest version of this server.
    if (query.hasEdns && query.version > 0) return this.#respondEmpty(rcodes.BADVERS);
    if (query.questions === 0) throw new WireError("The query has no question");
    if (query.class === 0 || query.class === classCodes.ANY)
      return this.#respondEmpty(rcodes.FORMERR);
    if (isMetaType(query.type) && query.type !== typeCodes.ANY) return this.#respondToMetaType();
    const { zones, external, signer } = this.#options;
    const nowSeconds = query.receivedSeconds;
    const isSigned = query.dnssecOk && zones.hasSigned && signer !== undefined;
    const store = isSigned ? this.#preparedAt(nowSeconds) : this.#prepared;
    const prepared = store.get(query, zones.revision);
    if (prepared !== undefined && query.class === classCodes.IN) {
      prepared.queries += 1;
      return this.#writer.finish(query, prepared.answer, prepared.message);
    }
    const signing = isSigned ? { signer, compactOk: query.compactOk } : undefined;
    const result = answer(query, { zones, external, nowSeconds, signing });
    if ("kind" in result) return result;
    if (!result.reusable) {
      if (result.rcode !== rcodes.REFUSED) {
        this.#counts.add(query.name, query.type, result.rcode, 1);
      }
      return this.#writer.write(query, result);
    }
    const message = this.#writer.compose(query, result).slice();
    store.put(query, result, message);
    return this.#writer.finish(query, result, message);
  }

  /** The prepared answers with the signatures of the current period. */
  #preparedAt(nowSeconds: number): PreparedAnswers {
    const period = signaturePeriod(nowSeconds);
    if (period !== this.#signaturePeriod) {
      this.#preparedSigned.count();
      this.#preparedSigned = new PreparedAnswers(this.#counts);
      this.#signaturePeriod = period;
    }
    return this.#preparedSigned;
  }

  /** Types that no zone holds. Without transfers the responses are those of BIND. */
  #respondToMetaType(): ResponderResult {
    const query = this.#query;
    const { type, signature } = query;
    const { transport } = query.source;
    if (type === typeCodes.MAILA || type === typeCodes.MAILB)
      return this.#respondEmpty(rcodes.NOTIMP);
    if (type !== typeCodes.AXFR && type !== typeCodes.IXFR)
      return this.#respondEmpty(rcodes.FORMERR);
    const { transfers = false, zones } = this.#options;
    if (!transfers || transport === "https") return this.#respondEmpty(rcodes.REFUSED);
    // RFC 5936 section 4.2: AXFR needs TCP.
    if (type === typeCodes.AXFR && transport === "udp") return this.#respondEmpty(rcodes.FORMERR);
    const zone = zones.at(nameKey(query.name));
    if (zone === undefined) return this.#respondEmpty(rcodes.NOTAUTH);
    if (transport === "tcp") {
      const message = query.message ?? parseMessage(query.bytes).message;
      return { kind: "transfer", query: message, zone, signature };
    }
    // RFC 1995 section 2: IXFR over UDP gets the SOA; a client that is behind continues over TCP.
    const soa = { ...emptyAnswer(rcodes.NOERROR), authoritative: true, answers: [zone.soa] };
    return this.#writer.write(query, soa);
  }

  #respondSigned(asked: Tsig): ResponderResult {
    const query = this.#query;
    const { tsig } = this.#options;
    const nowSeconds = query.receivedSeconds;
    if (tsig === undefined) {
      return refuseSignature(this.#respondEmpty(rcodes.NOTAUTH), asked, rcodes.BADKEY);
    }
    const { hmac } = tsig;
    const verdict = verifyMessage(query.bytes, { ...tsig, nowSeconds });
    if (verdict.kind === "unsigned") return this.#respond();
    if (verdict.kind === "bad") {
      const { error, key } = verdict;
      const refusal = this.#respondEmpty(rcodes.NOTAUTH);
      if (key === null) return refuseSignature(refusal, asked, error);
      // RFC 8945 section 5.2.3: a client with a wrong clock gets the time, signed.
      const options = { key, hmac, nowSeconds, priorMac: asked.mac, error, tellTime: true };
      return signMessage(refusal, options).bytes;
    }
    const { key, mac } = verdict;
    query.signature = { key, mac };
    const response = this.#respond();
    if (!(response instanceof Uint8Array)) return response;
    return signMessage(response, { key, hmac, nowSeconds, priorMac: mac }).bytes;
  }
}
