/**
 * HTTP in Node: its `http` module, requests with a connection of their own, the comparison of secrets
 * that clients send, and the framing of HTTP/1 for proxies that pass bytes on.
 *
 * Node's `http`: to import it as an ES module would evaluate its lazy properties, among them
 * `WebSocket`: Node would load its `fetch`, which takes 60 ms, a fifth of a short command's time.
 */
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

const http = process.getBuiltinModule("node:http");

export const { Agent, createServer, request, ServerResponse } = http;

/** workerd refuses longer heads. */
export const headBytesMax = 65_536;

/** Destroys a connection unless the returned function is called in time. */
export function limitWait(connection: Duplex, milliseconds: number): () => void {
  let isWaiting = true;
  const expire = (): void => void (isWaiting && connection.destroy());
  // What has arrived while the process was busy is read before the connection is destroyed.
  const timer = setTimeout(() => setImmediate(expire), milliseconds);
  const end = (): void => {
    isWaiting = false;
    clearTimeout(timer);
  };
  connection.once("close", end);
  return end;
}

/**
 * As `fetch()`, with a connection for this request alone. workerd closes idle connections, and a
 * request that meets the end of its connection is lost.
 */
export function fetchAlone(
  url: string | URL,
  init: Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> },
): Promise<Response> {
  return fetch(url, { ...init, headers: { ...init.headers, connection: "close" } });
}

/**
 * The body of a message, whose connection stays open when a reader stops early. A piece is valid until the
 * next one is requested: its memory is freed at once, because V8 collects it only when 64 MiB are garbage,
 * and the collector would take more time than the copy.
 */
export async function* readPieces(message: IncomingMessage): AsyncGenerator<Uint8Array> {
  const pieces = message.iterator({ destroyOnReturn: false });
  for await (const piece of pieces as AsyncIterable<Buffer<ArrayBuffer>>) {
    yield piece;
    // Memory that other pieces share stays.
    if (piece.length === piece.buffer.byteLength) piece.buffer.transfer(0);
  }
}

/** Takes a time that does not tell how much of the given text is right. */
export function isSameText(secret: string, given: string): boolean {
  const [left, right] = [Buffer.from(secret), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

// Where an HTTP/1 request says that the connection ends, and where a response ends (RFC 9112).

const headEnd = "\r\n\r\n";
const lineFeed = 0x0a;

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** The text of a message's head with its final empty line; `null` while the head is incomplete. */
export function readHead(bytes: Uint8Array): string | null {
  const text = latin1(bytes);
  const end = text.indexOf(headEnd);
  return end < 0 ? null : text.slice(0, end + headEnd.length);
}

function fieldOf(head: string, name: string): string | null {
  return new RegExp(`\\r\\n${name}:[ \\t]*([^\\r\\n]*)`, "i").exec(head)?.[1]?.trim() ?? null;
}

/** RFC 9112 section 9.3: whether the server has to close the connection after its response. */
export function isLastRequest(head: string): boolean {
  const options = (fieldOf(head, "connection") ?? "").toLowerCase().split(/[ \t]*,[ \t]*/);
  if (options.includes("close")) return true;
  return /^[^\r\n]* HTTP\/1\.0\r\n/.test(head) && !options.includes("keep-alive");
}

type Part = "head" | "octets" | "chunk-size" | "chunk" | "trailer" | "end";

/** What a reader gets of a response, besides its end. */
interface ResponseParts {
  /** Receives the head with its final empty line. */
  readonly onHead?: (head: string, status: number) => void;
  /** Receives the body in pieces, without the framing of chunks. */
  readonly onContent?: (piece: Uint8Array) => void;
}

/** Follows a response through its octets, in pieces of any size. */
export class ResponseEnd {
  readonly #isHead: boolean;
  readonly #parts: ResponseParts;
  #part: Part = "head";
  #line = "";
  /** Of a body or a chunk; Infinity for a body that only the end of the connection ends. */
  #remaining = 0;

  /** @param requestHead of the request, because the response to HEAD has no body */
  constructor(requestHead: string, parts: ResponseParts = {}) {
    this.#isHead = requestHead.startsWith("HEAD ");
    this.#parts = parts;
  }

  /** Returns the length of the piece that belongs to the response, once the response has ended. */
  take(bytes: Uint8Array): number | null {
    let at = 0;
    while (at < bytes.length && this.#part !== "end") {
      if (this.#part === "octets" || this.#part === "chunk") {
        const length = Math.min(this.#remaining, bytes.length - at);
        this.#parts.onContent?.(bytes.subarray(at, at + length));
        at += length;
        this.#remaining -= length;
        if (this.#remaining === 0) this.#part = this.#part === "octets" ? "end" : "chunk-size";
      } else {
        const found = bytes.indexOf(lineFeed, at);
        const end = found < 0 ? bytes.length : found + 1;
        this.#line += latin1(bytes.subarray(at, end));
        at = end;
        if (found >= 0) this.#takeLine();
      }
    }
    return this.#part === "end" ? at : null;
  }

  #takeLine(): void {
    const line = this.#line;
    if (this.#part === "head") {
      if (!line.endsWith(headEnd)) return;
      this.#line = "";
      return this.#takeHead(line);
    }
    this.#line = "";
    if (this.#part === "trailer") {
      if (line.trim() === "") this.#part = "end";
      return;
    }
    // The end of the line before the size belongs to the chunk before.
    if (line.trim() === "") return;
    const size = Number.parseInt(line, 16);
    this.#part = size === 0 ? "trailer" : "chunk";
    this.#remaining = size;
  }

  #takeHead(head: string): void {
    const status = Number(head.split(" ", 2)[1]);
    // An interim response precedes the response.
    if (status < 200) return;
    this.#parts.onHead?.(head, status);
    const length = fieldOf(head, "content-length");
    if (this.#isHead || status === 204 || status === 304 || length === "0") this.#part = "end";
    else if (fieldOf(head, "transfer-encoding") !== null) this.#part = "chunk-size";
    else {
      this.#part = "octets";
      this.#remaining = length === null ? Infinity : Number(length);
    }
  }
}
