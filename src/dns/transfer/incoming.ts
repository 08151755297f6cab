/**
 * An incoming transfer of a zone (RFC 5936) or of its changes (RFC 1995): messages in, records out. With a
 * key, the first and the last message must be signed, and at most 99 unsigned messages
 * may stand between two signed ones (RFC 8945 section 5.3.1).
 */
import { rdataRequest } from "../record/presentation.ts";
import type { RdataRequest } from "../record/record-type.ts";
import { recordTypesByCode } from "../record/types.ts";
import { decodeMessage, type Message } from "../wire/message.ts";
import { textKey } from "../wire/name.ts";
import { badSignature, isLaterSerial, rcodeName, rcodes, typeCodes } from "../wire/numbers.ts";
import { Reader } from "../wire/octets.ts";
import type { ResourceRecord } from "../wire/resource-record.ts";
import { verifyMessage, type Hmac, type TsigKey } from "../wire/tsig.ts";

export class TransferError extends Error {
  override readonly name = "TransferError";
}

export interface IncomingOptions {
  readonly zoneName: string;
  readonly id: number;
  /** Of IXFR: the changes since this serial are asked for, and the server may send the zone instead. */
  readonly fromSerial?: number;
  /** The key and the MAC of the query; `null` for an unsigned query. */
  readonly signed: { readonly key: TsigKey; readonly mac: Uint8Array; readonly hmac: Hmac } | null;
}

const unsignedMax = 99;

export class IncomingZone {
  readonly #options: IncomingOptions;
  readonly #records: ResourceRecord[] = [];
  #priorMac: Uint8Array | undefined;
  #unsigned: Uint8Array[] = [];
  #messageCount = 0;
  #isComplete = false;
  /** Whether the last SOA of an incremental transfer begins the records that were added. */
  #isAdding = true;

  constructor(options: IncomingOptions) {
    this.#options = options;
    this.#priorMac = options.signed?.mac;
  }

  /**
   * Returns the records in their order when the transfer is complete, and `null` before: the SOA and
   * every other record, or the SOA and the changes, or the SOA alone when the server has nothing newer.
   * Throws TransferError, or WireError for octets that are not a message.
   */
  take(bytes: Uint8Array, nowSeconds: number): readonly ResourceRecord[] | null {
    const { zoneName, id } = this.#options;
    const message = this.#verify(bytes, nowSeconds);
    this.#messageCount += 1;
    if (message.id !== id || !message.response) {
      throw new TransferError("The server sent a message that does not answer the query");
    }
    if (message.rcode !== rcodes.NOERROR) {
      throw new TransferError(`The server answered ${rcodeName(message.rcode)}`);
    }
    for (const record of message.answers) {
      if (this.#isComplete) throw new TransferError("Records follow the end of the zone");
      const isSoa = record.type === typeCodes.SOA && textKey(record.name) === textKey(zoneName);
      if (this.#records.length === 0 && !isSoa) {
        throw new TransferError("The transfer does not begin with the SOA of the zone");
      }
      if (isSoa) this.#takeSoa(record);
      else this.#records.push(record);
    }
    if (!this.#isComplete) return null;
    if (this.#unsigned.length > 0) throw new TransferError("The last message is not signed");
    return this.#records;
  }

  /** The SOA that ends the transfer is left out. */
  #takeSoa(soa: ResourceRecord): void {
    const { fromSerial } = this.#options;
    const [first, second] = this.#records;
    const serial = soaSerial(soa);
    if (first === undefined) {
      this.#isComplete = fromSerial !== undefined && !isLaterSerial(serial, fromSerial);
    } else {
      const isIncremental = fromSerial !== undefined && (second ?? soa).type === typeCodes.SOA;
      const isLast = serial === soaSerial(first) && this.#isAdding;
      this.#isComplete = !isIncremental || isLast;
      this.#isAdding = !this.#isAdding;
    }
    if (!this.#isComplete || first === undefined) this.#records.push(soa);
  }

  #verify(bytes: Uint8Array, nowSeconds: number): Message {
    const { signed } = this.#options;
    const plain = decodeMessage(bytes);
    if (signed === null) return plain;
    // The refusal of a key is not signed.
    const refused = plain.tsig?.error ?? 0;
    if (refused !== 0) {
      throw new TransferError(`The server refused the key: ${tsigErrorName(refused)}`);
    }
    const verdict = verifyMessage(bytes, {
      findKey: (name) => (signed.key.name.toLowerCase() === name ? signed.key : undefined),
      hmac: signed.hmac,
      nowSeconds,
      timersOnly: this.#messageCount > 0,
      before: this.#unsigned,
      priorMac: this.#priorMac,
    });
    if (verdict.kind === "good") {
      this.#priorMac = verdict.mac;
      this.#unsigned = [];
      return verdict.message;
    }
    if (verdict.kind === "bad") {
      throw new TransferError(`The server's signature is invalid: ${tsigErrorName(verdict.error)}`);
    }
    this.#unsigned.push(bytes.slice());
    if (this.#messageCount === 0 || this.#unsigned.length > unsignedMax) {
      throw new TransferError("The server does not sign its messages");
    }
    return verdict.message;
  }
}

/** Throws WireError when the SOA is malformed. */
export function soaSerial({ data }: ResourceRecord): number {
  const reader = new Reader(data);
  reader.name();
  reader.name();
  return reader.uint32();
}

/** RFC 8945 section 3: in TSIG, 16 is BADSIG; in a header it is BADVERS. */
function tsigErrorName(error: number): string {
  return error === badSignature ? "BADSIG" : rcodeName(error);
}

/** A transferred record as a request of the record API; `null` for a type that the API does not support. */
export function toRecordRequest(
  record: ResourceRecord,
): (RdataRequest & { readonly type: string; readonly name: string; readonly ttl: number }) | null {
  const type = recordTypesByCode.get(record.type);
  if (type === undefined) return null;
  const rdata = rdataRequest(type, type.read(record.data));
  return { type: type.type, name: record.name, ttl: record.ttlSeconds, ...rdata };
}
