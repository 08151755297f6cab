/**
 * A WebSocket (RFC 6455) to the store's endpoint: what a client sends and reads.
 *
 * Both ends are ours, and no proxy is between them. So messages are binary and whole, the key of
 * the mask is zero, which leaves the bytes as they are, and the endpoint sends nothing but messages
 * and the end of the connection.
 */

/** The only frame of a binary message (section 5.2). */
const binaryFrame = 0x82;
const closeFrame = 0x88;
const masked = 0x80;
/** A longer length has a field of its own, of 2 or of 8 bytes. */
const shortLengthMax = 125;
const length16 = 126;
const length64 = 127;
const maskBytes = 4;

/**
 * The request for a WebSocket. The key is the example of RFC 6455: it protects from caches, and no
 * cache is between the ends.
 */
export function upgradeRequest(path: string, headerLines: readonly string[]): string {
  return [
    `GET ${path} HTTP/1.1`,
    "connection: upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    ...headerLines,
    "\r\n",
  ].join("\r\n");
}

/** What a client sends before the bytes of a message. */
export function messageHead(length: number): Uint8Array {
  const fieldBytes = length <= shortLengthMax ? 0 : length < 2 ** 16 ? 2 : 8;
  const head = new Uint8Array(2 + fieldBytes + maskBytes);
  const view = new DataView(head.buffer);
  head[0] = binaryFrame;
  head[1] = masked | (fieldBytes === 0 ? length : fieldBytes === 2 ? length16 : length64);
  if (fieldBytes === 2) view.setUint16(2, length);
  if (fieldBytes === 8) view.setBigUint64(2, BigInt(length));
  return head;
}

/** Reads what the endpoint sends: the response to the upgrade, and messages. */
export class WebSocketReader {
  #isOpen = false;
  /** The first bytes of a head that has not arrived as a whole. */
  #start: Uint8Array = new Uint8Array();
  #message: Uint8Array<ArrayBuffer> | null = null;
  #received = 0;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * @param chunk the next bytes of the connection
   * @returns the messages that the chunk completes
   * @throws Error when the endpoint refuses the upgrade, closes the connection, or sends something
   *   else
   */
  push(chunk: Uint8Array): Uint8Array<ArrayBuffer>[] {
    const messages: Uint8Array<ArrayBuffer>[] = [];
    let bytes = this.#message === null ? joined(this.#start, chunk) : chunk;
    if (!this.#isOpen) {
      const end = endOfUpgrade(bytes);
      this.#start = bytes;
      if (end === -1) return messages;
      this.#isOpen = true;
      bytes = bytes.subarray(end);
    }
    for (;;) {
      if (this.#message === null) {
        const head = parseFrameHead(bytes);
        this.#start = bytes;
        if (head === null) return messages;
        this.#message = new Uint8Array(head.messageLength);
        this.#received = 0;
        bytes = bytes.subarray(head.length);
      }
      const part = bytes.subarray(0, this.#message.length - this.#received);
      this.#message.set(part, this.#received);
      this.#received += part.length;
      if (this.#received < this.#message.length) return messages;
      messages.push(this.#message);
      this.#message = null;
      bytes = bytes.subarray(part.length);
    }
  }
}

/** The end of the response that accepts the upgrade, or -1 if the response is not complete. */
function endOfUpgrade(bytes: Uint8Array): number {
  const end = endOfHead(bytes);
  if (end === -1) return -1;
  const head = new TextDecoder().decode(bytes.subarray(0, end));
  if (!head.startsWith("HTTP/1.1 101 ")) {
    throw new Error(`the endpoint has refused the upgrade: ${head.split("\r\n", 1)[0]}`);
  }
  return end;
}

interface FrameHead {
  readonly length: number;
  readonly messageLength: number;
}

/** The head at the start of `bytes`, or `null` if the head is not complete. */
function parseFrameHead(bytes: Uint8Array): FrameHead | null {
  const [kind, length] = bytes;
  if (kind === closeFrame) throw new Error("the endpoint has closed the connection");
  if (kind !== undefined && kind !== binaryFrame) {
    throw new Error(`the endpoint has sent a frame of another kind than expected: ${kind}`);
  }
  if (length === undefined) return null;
  if (length > length64) throw new Error("the endpoint has sent a frame with a mask");
  if (length <= shortLengthMax) return { length: 2, messageLength: length };
  const headLength = length === length16 ? 4 : 10;
  if (bytes.length < headLength) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, headLength);
  const messageLength = length === length16 ? view.getUint16(2) : Number(view.getBigUint64(2));
  return { length: headLength, messageLength };
}

const carriageReturn = 13;
const lineFeed = 10;

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** The end of the empty line, or -1. */
function endOfHead(bytes: Uint8Array): number {
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) {
    if (bytes[at + 1] === carriageReturn && bytes[at + 2] === lineFeed) return at + 3;
  }
  return -1;
}
