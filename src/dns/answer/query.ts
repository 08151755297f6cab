/**
 * A query as it comes off the wire, read in place: nearly all of them are a header, a question and
 * perhaps OPT, and for those nothing is decoded that an answer does not need. One object is used
 * for all queries. What has another form is left to the decoder of messages.
 */
import { isCookieLength } from "../wire/cookie.ts";
import { optionCodes } from "../wire/edns.ts";
import { headerBytes } from "../wire/message-writer.ts";
import { parseMessage, type Message } from "../wire/message.ts";
import { lowerCase } from "../wire/name-key.ts";
import { nameWireBytesMax } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import { WireError } from "../wire/bytes.ts";

const optFixedBytes = 11;

export class Query {
  bytes: Uint8Array = new Uint8Array();
  /** Where the question's name ends; it begins after the header. */
  end = headerBytes;
  /** Of the name in lower case and the type. */
  hash = 0;
  type = 0;
  class = 0;
  questions = 0;
  hasEdns = false;
  udpBytesMax = 0;
  version = 0;
  dnssecOk = false;
  wantsNsid = false;
  cookie: Uint8Array | null = null;
  /** A cookie of a length that none has. */
  hasBadCookie = false;
  /** When the query had to be decoded as a whole. */
  message: Message | null = null;

  /** Throws WireError when the octets are no query. They are at least a header. */
  read(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.end = headerBytes;
    this.message = null;
    this.hasEdns = false;
    this.wantsNsid = false;
    this.cookie = null;
    this.hasBadCookie = false;
    this.questions = (bytes[4]! << 8) | bytes[5]!;
    const plain = bytes[6] === 0 && bytes[7] === 0 && bytes[8] === 0 && bytes[9] === 0;
    const additionals = (bytes[10]! << 8) | bytes[11]!;
    if (this.questions > 1) throw new WireError("There is more than one question");
    if (!plain || additionals > 1) return this.#decode(bytes);
    let at = headerBytes;
    if (this.questions === 1) at = this.#readQuestion(bytes);
    if (additionals === 1) {
      const isOpt = bytes[at] === 0 && bytes[at + 1] === 0 && bytes[at + 2] === typeCodes.OPT;
      if (!isOpt) return this.#decode(bytes);
      at = this.#readOpt(bytes, at);
    }
    if (at !== bytes.length) throw new WireError("The query does not end where it says");
  }

  #readQuestion(bytes: Uint8Array): number {
    let at = headerBytes;
    let hash = 0x811c_9dc5 | 0;
    for (;;) {
      const length = bytes[at];
      if (length === undefined) throw new WireError("A name runs past the end");
      // Nothing stands before the first name that it could point to.
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
    let at = start + optFixedBytes;
    const end = at + ((bytes[start + 9]! << 8) | bytes[start + 10]!);
    if (end > bytes.length) throw new WireError("Unexpected end");
    while (at < end) {
      if (at + 4 > end) throw new WireError("An option runs past the end");
      const code = (bytes[at]! << 8) | bytes[at + 1]!;
      const next = at + 4 + ((bytes[at + 2]! << 8) | bytes[at + 3]!);
      if (next > end) throw new WireError("An option runs past the end");
      this.#takeOption(code, bytes, at + 4, next);
      at = next;
    }
    return end;
  }

  #takeOption(code: number, bytes: Uint8Array, start: number, end: number): void {
    if (code === optionCodes.NSID) this.wantsNsid = true;
    // Of several the first counts (RFC 7873 section 5.2).
    if (code !== optionCodes.COOKIE || this.cookie !== null) return;
    if (isCookieLength(end - start)) this.cookie = bytes.subarray(start, end);
    else this.hasBadCookie = true;
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
    for (const { code, data } of edns.options) this.#takeOption(code, data, 0, data.length);
  }

  /** The name on its own, in the case in which it was asked for. */
  get name(): Uint8Array {
    return this.bytes.subarray(headerBytes, this.end);
  }
}
