/**
 * A zone that another server hands over (RFC 5936): messages in, records out. The zone is whole
 * when its SOA comes a second time. With a key every signature is checked: the first message is
 * signed, and no more than 99 may follow one another without (RFC 8945 section 5.3.1).
 */
import { decodeMessage, type Message } from "../wire/message.ts";
import type { ResourceRecord } from "../wire/resource-record.ts";
import { textKey } from "../wire/name-key.ts";
import { rcodeName, rcodes, typeCodes } from "../wire/numbers.ts";
import { verifyMessage, type Hmac, type TsigKey } from "../wire/tsig-mac.ts";

export class TransferError extends Error {
  override readonly name = "TransferError";
}

export interface IncomingOptions {
  readonly zoneName: string;
  readonly id: number;
  /** The key of the query and the MAC that it carried. */
  readonly signed: { readonly key: TsigKey; readonly mac: Uint8Array; readonly hmac: Hmac } | null;
}

const unsignedMax = 99;

export class IncomingZone {
  readonly #options: IncomingOptions;
  readonly #records: ResourceRecord[] = [];
  #priorMac: Uint8Array | undefined;
  #unsigned: Uint8Array[] = [];
  #messages = 0;
  #whole = false;

  constructor(options: IncomingOptions) {
    this.#options = options;
    this.#priorMac = options.signed?.mac;
  }

  /**
   * The SOA and every other record once the zone is whole, `null` until then. Throws TransferError,
   * or WireError for what is no message.
   */
  take(bytes: Uint8Array, nowSeconds: number): readonly ResourceRecord[] | null {
    const { zoneName, id } = this.#options;
    const message = this.#verify(bytes, nowSeconds);
    this.#messages += 1;
    if (message.id !== id || !message.response) {
      throw new TransferError("The server answers something that was not asked");
    }
    if (message.rcode !== rcodes.NOERROR) {
      throw new TransferError(`The server says ${rcodeName(message.rcode)}`);
    }
    for (const record of message.answers) {
      if (this.#whole) throw new TransferError("Records follow the end of the zone");
      const isSoa = record.type === typeCodes.SOA && textKey(record.name) === textKey(zoneName);
      if (this.#records.length === 0 && !isSoa) {
        throw new TransferError("The transfer does not begin with the SOA of the zone");
      }
      if (isSoa && this.#records.length > 0) this.#whole = true;
      else this.#records.push(record);
    }
    if (!this.#whole) return null;
    if (this.#unsigned.length > 0) throw new TransferError("The last message is not signed");
    return this.#records;
  }

  #verify(bytes: Uint8Array, nowSeconds: number): Message {
    const { signed } = this.#options;
    const plain = decodeMessage(bytes);
    if (signed === null) return plain;
    // A refusal comes without a signature that could be checked.
    const refused = plain.tsig?.error ?? 0;
    if (refused !== 0) {
      throw new TransferError(`The server refuses the key: ${tsigErrorName(refused)}`);
    }
    const verdict = verifyMessage(bytes, {
      findKey: (name) => (signed.key.name.toLowerCase() === name ? signed.key : undefined),
      hmac: signed.hmac,
      nowSeconds,
      timersOnly: this.#messages > 0,
      before: this.#unsigned,
      ...(this.#priorMac !== undefined && { priorMac: this.#priorMac }),
    });
    if (verdict.kind === "good") {
      this.#priorMac = verdict.mac;
      this.#unsigned = [];
      return verdict.message;
    }
    if (verdict.kind === "bad") {
      throw new TransferError(
        `The server's signature is not good: ${tsigErrorName(verdict.error)}`,
      );
    }
    this.#unsigned.push(bytes.slice());
    if (this.#messages === 0 || this.#unsigned.length > unsignedMax) {
      throw new TransferError("The server does not sign what it sends");
    }
    return verdict.message;
  }
}

/** RFC 8945 section 3: 16 means another thing here than in a header. */
function tsigErrorName(error: number): string {
  return error === 16 ? "BADSIG" : rcodeName(error);
}
