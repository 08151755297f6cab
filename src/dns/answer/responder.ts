/**
 * From the octets of a query to the octets of its response. UDP, TCP and DoH call the same
 * responder, and this is the path of a query:
 *
 *     octets ─▶ Query (query.ts) ─▶ signature, EDNS version, types that no zone holds (here)
 *       ─▶ a prepared message, or
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
import { typeName } from "../record/presentation.ts";
import type { QueryCount } from "../rules/query-report.ts";
import { WireError } from "../wire/bytes.ts";
import { headerBytes } from "../wire/message-writer.ts";
import { parseMessage, type Message, type Tsig } from "../wire/message.ts";
import { formatName, keyOctets, lowerCase, nameKey, type NameKey } from "../wire/name.ts";
import { classCodes, isMetaType, opcodes, rcodeName, rcodes, typeCodes } from "../wire/numbers.ts";
import {
  refuseSignature,
  signMessage,
  verifyMessage,
  type Hmac,
  type TsigKey,
} from "../wire/tsig.ts";
import { answer, emptyAnswer, type Answer } from "./answer.ts";
import type { ExternalAddressCache, ExternalNeeded } from "./external-addresses.ts";
import { Query, type QuerySender, type QuerySignature, type QuerySource } from "./query.ts";
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
  /** Whether the client may transfer zones, and so may query the catalog; without it, no client. */
  readonly mayTransfer?: (query: QuerySender) => boolean;
  /** Called with each query for an SOA or a transfer. The query is valid during the call. */
  readonly onZoneQuery?: (query: Query) => void;
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

  #respondEmpty(rcode: number): Uint8Array {
    return this.#writer.write(this.#query, emptyAnswer(rcode));
  }

  #respond(): ResponderResult {
    const query = this.#query;
    // RFC 6891 section 6.1.3: OPT of the response tells the highest version of this server.
    if (query.hasEdns && query.version > 0) return this.#respondEmpty(rcodes.BADVERS);
    if (query.questions === 0) throw new WireError("The query has no question");
    if (query.class !== classCodes.IN) return this.#respondEmpty(rcodes.REFUSED);
    const catalog = this.#options.zones.catalogFor(query.name);
    // RFC 9432 section 7: the names of all zones are not for everyone.
    if (catalog !== undefined && this.#options.mayTransfer?.(query) !== true) {
      return this.#respondEmpty(rcodes.REFUSED);
    }
    if (query.type === typeCodes.SOA) this.#options.onZoneQuery?.(query);
    if (isMetaType(query.type) && query.type !== typeCodes.ANY) return this.#respondToMetaType();
    const { zones, external, signer } = this.#options;
    const nowSeconds = query.receivedSeconds;
    if (catalog !== undefined) {
      const result = answer(query, { zones: { findFor: () => catalog }, external, nowSeconds });
      return "kind" in result ? result : this.#writer.write(query, result);
    }
    zones.advance(nowSeconds);
    const isSigned = query.dnssecOk && zones.hasSigned && signer !== undefined;
    const store = isSigned ? this.#preparedAt(nowSeconds) : this.#prepared;
    const prepared = store.get(query, zones.revision);
    if (prepared !== undefined) {
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
    this.#options.onZoneQuery?.(query);
    if (transport !== "udp") {
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

const answersMax = 50_000;
const bytesMax = 64 * 1024 * 1024;

interface PreparedAnswer {
  readonly answer: Answer;
  /** The whole message without OPT, with the question in the case of some earlier query. */
  readonly message: Uint8Array;
  readonly type: number;
  /** The queries that this message has answered and that are not counted elsewhere. */
  queries: number;
}

/**
 * Messages that are complete except for the identifier, the case of the question and OPT. They are
 * valid until the zones change. Only answers for names that exist are kept, so queries for other
 * names cannot displace them; the limits bound the number of types that clients query. A question
 * displaces another with the same hash.
 */
class PreparedAnswers {
  readonly #byHash = new Map<number, PreparedAnswer>();
  readonly #counts: QueryCounts;
  #revision = 0;
  #bytes = 0;

  constructor(counts: QueryCounts) {
    this.#counts = counts;
  }

  get(query: Query, revision: number): PreparedAnswer | undefined {
    if (revision !== this.#revision) {
      this.#clear();
      this.#revision = revision;
      return undefined;
    }
    const entry = this.#byHash.get(query.hash);
    return entry !== undefined && isFor(entry, query) ? entry : undefined;
  }

  put(query: Query, made: Answer, message: Uint8Array): void {
    const isFull = this.#byHash.size >= answersMax || this.#bytes + message.length > bytesMax;
    if (isFull) this.#clear();
    const displaced = this.#byHash.get(query.hash);
    if (displaced !== undefined) this.#countEntry(displaced);
    this.#byHash.set(query.hash, { answer: made, message, type: query.type, queries: 1 });
    this.#bytes += message.length - (displaced?.message.length ?? 0);
  }

  /** Moves the numbers of queries to the counts. */
  count(): void {
    for (const entry of this.#byHash.values()) this.#countEntry(entry);
  }

  #countEntry(entry: PreparedAnswer): void {
    const { message, type, answer: made, queries } = entry;
    if (queries > 0) this.#counts.add(questionName(message), type, made.rcode, queries);
    entry.queries = 0;
  }

  #clear(): void {
    this.count();
    this.#byHash.clear();
    this.#bytes = 0;
  }
}

function isFor({ message, type }: PreparedAnswer, query: Query): boolean {
  if (type !== query.type) return false;
  const { bytes, end } = query;
  for (let at = headerBytes; at < end; at++) {
    if (lowerCase[message[at]!] !== lowerCase[bytes[at]!]) return false;
  }
  return true;
}

/** The name of the question, which starts after the header and is not compressed. */
function questionName(message: Uint8Array): Uint8Array {
  let end = headerBytes;
  while (message[end] !== 0) end += message[end]! + 1;
  return message.subarray(headerBytes, end + 1);
}

const countsMax = 20_000;

/**
 * The numbers of queries by name, type and RCODE. The number of different names is bounded: a client
 * can ask for any number of names that do not exist.
 */
class QueryCounts {
  readonly #counts = new Map<string, number>();

  add(name: Uint8Array, type: number, rcode: number, count: number): void {
    const key = `${type} ${rcode} ${nameKey(name)}`;
    const known = this.#counts.get(key);
    if (known === undefined && this.#counts.size >= countsMax) return;
    this.#counts.set(key, (known ?? 0) + count);
  }

  list(): QueryCount[] {
    return Array.from(this.#counts, ([key, count]) => {
      const [type = "", rcode = ""] = key.split(" ", 2);
      const name: NameKey = key.slice(type.length + rcode.length + 2);
      return {
        name: formatName(keyOctets(name)),
        type: typeName(Number(type)),
        rcode: rcodeName(Number(rcode)),
        count,
      };
    });
  }
}
