/**
 * Messages in a TCP stream, each after a length of two octets (RFC 1035 section 4.2.2). The stream
 * arrives in pieces of any size. An incomplete message is kept in a buffer of the announced length,
 * so that no octet is copied twice.
 */
export class Frames {
  /** The first octet of a length, until the second octet arrives. */
  #lengthHigh: number | null = null;
  #message: Uint8Array | null = null;
  #filled = 0;

  /** Whether the stream ends inside a message so far. */
  get isPartial(): boolean {
    return this.#message !== null || this.#lengthHigh !== null;
  }

  /** The messages that this piece completes; they may share memory with the piece. */
  *push(piece: Uint8Array): Generator<Uint8Array, void> {
    let at = 0;
    while (at < piece.length) {
      if (this.#message === null) {
        if (this.#lengthHigh === null) {
          this.#lengthHigh = piece[at++]!;
          continue;
        }
        const length = (this.#lengthHigh << 8) | piece[at++]!;
        this.#lengthHigh = null;
        if (piece.length - at >= length) {
          yield piece.subarray(at, at + length);
          at += length;
          continue;
        }
        this.#message = new Uint8Array(length);
        this.#filled = 0;
      }
      const message = this.#message;
      const part = piece.subarray(at, at + message.length - this.#filled);
      message.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled < message.length) return;
      this.#message = null;
      yield message;
    }
  }
}

/** Returns the message after its length. */
export function frame(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(message.length + 2);
  framed[0] = message.length >>> 8;
  framed[1] = message.length & 0xff;
  framed.set(message, 2);
  return framed;
}
