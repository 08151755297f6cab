/**
 * Reads the HTTP responses of the store's endpoint (`store/endpoint`), which have a length.
 *
 * A call is small, and a general client of HTTP takes four times the processor time of a call to
 * send the request and to read the response.
 */

export interface ReceivedResponse {
  readonly status: number;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The endpoint sends a few short headers. */
const headBytesMax = 16 * 1024;
const carriageReturn = 13;
const lineFeed = 10;
const headEndBytes = 4;

export class ResponseReader {
  /** What has arrived of the head; empty after its end. */
  #head: Uint8Array = new Uint8Array();
  #response: ReceivedResponse | null = null;
  #received = 0;

  /**
   * @param chunk the next bytes of the connection
   * @returns the response, when it is complete
   * @throws Error for bytes that are no such response
   */
  push(chunk: Uint8Array): ReceivedResponse | null {
    if (this.#response !== null) return this.#pushBody(chunk);
    const head = joined(this.#head, chunk);
    const end = endOfHead(head, this.#head.length);
    if (end === -1) {
      if (head.length > headBytesMax) throw new Error("The head of the response does not end.");
      this.#head = head;
      return null;
    }
    this.#response = parseHead(new TextDecoder().decode(head.subarray(0, end)));
    return this.#pushBody(head.subarray(end));
  }

  #pushBody(chunk: Uint8Array): ReceivedResponse | null {
    const { body } = this.#response as ReceivedResponse;
    const left = body.length - this.#received;
    if (chunk.length > left) throw new Error("The response is longer than its length.");
    body.set(chunk, this.#received);
    this.#received += chunk.length;
    return chunk.length === left ? this.#response : null;
  }
}

/** The bytes of both: `second` itself if `first` is empty. */
export function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** The end of the empty line, or -1. The bytes before `seen` had no end. */
export function endOfHead(bytes: Uint8Array, seen: number): number {
  const start = Math.max(0, seen - headEndBytes);
  for (let at = bytes.indexOf(lineFeed, start); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) {
    if (bytes[at + 1] === carriageReturn && bytes[at + 2] === lineFeed) return at + 3;
  }
  return -1;
}

function parseHead(head: string): ReceivedResponse {
  const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1];
  const length = /^content-length: *(\d+)\r$/im.exec(head)?.[1];
  if (status === undefined || length === undefined) {
    throw new Error(`The endpoint has sent another response than expected: ${head.slice(0, 100)}`);
  }
  return { status: Number(status), body: new Uint8Array(Number(length)) };
}
