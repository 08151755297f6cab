/**
 * A query, read in place from its octets. Nearly all queries are a header, a question and perhaps
 * OPT; of those, only the fields that an answer needs are decoded. Queries of another form go
 * through the decoder of messages. A responder reads all its queries into one object.
 */
import { WireError } from "../wire/bytes.ts";
import { headerBytes } from "../wire/message-writer.ts";
import { parseMessage, type Message } from "../wire/message.ts";
import { lowerCase, nameWireBytesMax } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { TsigKey } from "../wire/tsig.ts";

export const optFixedBytes = 11;

export interface QuerySource {
  readonly transport: "udp" | "tcp" | "tls" | "https";
  /** 4 or 16 octets, for transfers. A listener may compute them on demand. */
  readonly address: Uint8Array;
  /** The address of this server that was asked; HTTPS has none */
  readonly server?: string;
  /** The address and port of the client; HTTPS has none. A listener computes it on demand. */
  readonly clientAddress?: string;
  /** For a fault: resets the connection. Over TCP and TLS. */
  reset?(): void;
  /** For a fault: sends a response from another port than the client asked. Over UDP. */
  sendFromOtherPort?(response: Uint8Array): void;
  /** The program that asks, if it says so: by HTTPS */
  readonly client?: string;
}

/** The verified signature of a query. The signature of the response continues from its MAC. */
export interface QuerySignature {
  readonly key: TsigKey;
  readonly mac: Uint8Array;
}

/** What permissions depend on. */
export interface QuerySender {
  readonly source: QuerySource;
  readonly signature: QuerySignature | null;
}

export class Query implements QuerySender {
  bytes: Uint8Array = new Uint8Array();
  source: QuerySource = { transport: "udp", address: new Uint8Array() };
  receivedSeconds = 0;
  signature: QuerySignature | null = null;
  /** The end of the question's name, which starts after the header. */
  end = headerBytes;
  /** A hash of the name in lower case and the type. */
  hash = 0;
  type = 0;
  class = 0;
  questions = 0;
  hasEdns = false;
  udpBytesMax = 0;
  version = 0;
  dnssecOk = false;
  compactOk = false;
  /** The decoded message, for queries that are not of the plain form. */
  message: Message | null = null;

  /**
   * Throws WireError when the octets are not a query.
   *
   * @param bytes at least a header
   */
  read(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.end = headerBytes;
    this.message = null;
    this.hasEdns = false;
    this.dnssecOk = false;
    this.compactOk = false;
    this.questions = (bytes[4]! << 8) | bytes[5]!;
    const plain = bytes[6] === 0 && bytes[7] === 0 && bytes[8] === 0 && bytes[9] === 0;
    const additionals = (bytes[10]! << 8) | bytes[11]!;
    if (this.questions > 1) throw new WireError("The query has more than one question");
    if (!plain || additionals > 1) return this.#decode(bytes);
    let at = headerBytes;
    if (this.questions === 1) at = this.#readQuestion(bytes);
    if (additionals === 1) {
      const isOpt = bytes[at] === 0 && bytes[at + 1] === 0 && bytes[at + 2] === typeCodes.OPT;
      if (!isOpt) return this.#decode(bytes);
      at = this.#readOpt(bytes, at);
    }
    if (at !== bytes.length) throw new WireError("Octets follow the last record of the query");
  }

  #readQuestion(bytes: Uint8Array): number {
    let at = headerBytes;
    let hash = 0x811c_9dc5 | 0;
    for (;;) {
      const length = bytes[at];
      if (length === undefined) throw new WireError("A name runs past the end");
      // No name precedes the first name, so it cannot point anywhere.
      if (length >= 0x40) throw new WireError("The question's name is compressed");
      const next = at + length + 1;
      if (next > bytes.length) throw new WireError("A label runs past the end");
      if (next - headerBytes > nameWireBytesMax) {
        throw new WireError("A name is longer than 255 octets");
      }
      for (; at < next; at++) hash = Math.imul(hash ^ lowerCase[bytes[at]!]!, 0x0100_0193);
      if (length === 0) break;
    }
    if (at + 4 > bytes.length) throw new WireError("Unexpected end");
    this.end = at;
    this.type = (bytes[at]! << 8) | bytes[at + 1]!;
    this.class = (bytes[at + 2]! << 8) | bytes[at + 3]!;
    this.hash = Math.imul(hash ^ this.type, 0x0100_0193);
    return at + 4;
  }

  #readOpt(bytes: Uint8Array, start: number): number {
    if (start + optFixedBytes > bytes.length) throw new WireError("Unexpected end");
    this.hasEdns = true;
    this.udpBytesMax = (bytes[start + 3]! << 8) | bytes[start + 4]!;
    this.version = bytes[start + 6]!;
    this.dnssecOk = (bytes[start + 7]! & 0x80) !== 0;
    this.compactOk = (bytes[start + 7]! & 0x40) !== 0;
    let at = start + optFixedBytes;
    const end = at + ((bytes[start + 9]! << 8) | bytes[start + 10]!);
    if (end > bytes.length) throw new WireError("Unexpected end");
    // No option changes an answer: a server ignores options that it does not know (section 6.1.2).
    while (at + 4 <= end) at += 4 + ((bytes[at + 2]! << 8) | bytes[at + 3]!);
    if (at !== end) throw new WireError("An option runs past the end");
    return end;
  }

  #decode(bytes: Uint8Array): void {
    const { message } = parseMessage(bytes);
    this.message = message;
    if (this.questions === 1) this.#readQuestion(bytes);
    const { edns } = message;
    if (edns === null) return;
    this.hasEdns = true;
    this.udpBytesMax = edns.udpBytesMax;
    this.version = edns.version;
    this.dnssecOk = edns.dnssecOk;
    this.compactOk = edns.compactOk;
  }

  get name(): Uint8Array {
    return this.bytes.subarray(headerBytes, this.end);
  }
}
