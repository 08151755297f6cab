/**
 * Messages in a TCP stream, each after its length in two octets (RFC 1035 section 4.2.2). They
 * arrive in pieces that have nothing to do with where messages begin. Of an unfinished one is kept
 * what has arrived, in memory for the length it has announced: no octet is copied twice, however
 * small the pieces.
 */
export class Frames {
  /** The first octet of a length whose second is still to come. */
  #lengthHigh: number | null = null;
  #message: Uint8Array | null = null;
  #filled = 0;

  /** Whether a message has begun that has not ended. */
  get isPartial(): boolean {
    return this.#message !== null || this.#lengthHigh !== null;
  }

  /** The messages that this piece completes. They may share memory with it. */
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

/** A message with its length before it. */
export function frame(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(message.length + 2);
  framed[0] = message.length >>> 8;
  framed[1] = message.length & 0xff;
  framed.set(message, 2);
  return framed;
}
