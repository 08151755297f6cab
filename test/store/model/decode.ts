/** Turns marks (see `operation.ts`) into the arguments of a call. */
import { contentOf } from "./content.ts";
import type { ContentMark, DigestAlgorithm, Encoded, Mark, Memory } from "./operation.ts";

/** Functions that differ between Node and workerd. */
export interface Platform {
  digest(algorithm: DigestAlgorithm, bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
  /** A stream with a declared length. It may carry fewer bytes, or fail. */
  fixedLengthStream(stream: {
    lengthBytes: number;
    bytes: Uint8Array<ArrayBuffer>;
    error?: Error;
  }): unknown;
  responseBody(bytes: Uint8Array<ArrayBuffer>): unknown;
  lockedStream(bytes: Uint8Array<ArrayBuffer>): unknown;
  unknownLengthStream(bytes: Uint8Array<ArrayBuffer>): unknown;
}

export interface DecodeContext {
  readonly platform: Platform;
  readonly memory: Memory;
}

/** The etag and the date of an object that was never stored. */
const unknownEtag = "0123456789abcdef0123456789abcdef";
const unknownUploaded = Date.UTC(2020, 0, 1);

export async function decode(encoded: Encoded, context: DecodeContext): Promise<unknown> {
  if (encoded === null || typeof encoded !== "object") return encoded;
  if (isArray(encoded)) {
    return Promise.all(encoded.map((element) => decode(element, context)));
  }
  if (isMark(encoded)) return decodeMark(encoded, context);
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(encoded)) result[name] = await decode(value, context);
  return result;
}

// `Array.isArray` does not narrow a readonly array.
function isArray(encoded: object): encoded is readonly Encoded[] {
  return Array.isArray(encoded);
}

function isMark(encoded: object): encoded is Mark {
  return "$" in encoded;
}

function decodeMark(mark: Mark, context: DecodeContext): unknown {
  const decoder = decoders[mark.$] as (mark: Mark, context: DecodeContext) => unknown;
  return decoder(mark, context);
}

const decoders: {
  readonly [Name in Mark["$"]]: (
    mark: Extract<Mark, { $: Name }>,
    context: DecodeContext,
  ) => unknown;
} = {
  undefined: () => undefined,
  symbol: () => Symbol("test"),
  number: ({ text }) => Number(text),
  date: ({ milliseconds }) => new Date(milliseconds ?? Number.NaN),
  text: ({ unit, count }) => unit.repeat(count),
  keys: ({ count }) => Array.from({ length: count }, (_, index) => `no such key ${index}`),
  async headers({ entries }, context) {
    const headers = new Headers();
    for (const [name, value] of entries) {
      headers.append(name, String(await decode(value, context)));
    }
    return headers;
  },
  content: (mark, { platform }) => contentDecoders[mark.kind](contentOf(mark), platform),
  async digest({ algorithm, of, form }, { platform }) {
    const digest = await platform.digest(algorithm, contentOf(of));
    if (form === "ArrayBuffer") return digest;
    if (form === "Uint8Array") return new Uint8Array(digest);
    return form === "hex" ? hexOf(digest) : hexOf(digest).toUpperCase();
  },
  etag({ key, form }, { memory }) {
    const etag = memory.objects[key.toWellFormed()]?.etag ?? unknownEtag;
    if (form === "bare") return etag;
    return form === "strong" ? `"${etag}"` : `W/"${etag}"`;
  },
  uploaded({ key, deltaMilliseconds, form }, { memory }) {
    const uploaded = memory.objects[key.toWellFormed()]?.uploaded ?? unknownUploaded;
    const whole = form === "wholeSecond" || form === "http";
    const base = whole ? Math.floor(uploaded / 1000) * 1000 : uploaded;
    const date = new Date(base + deltaMilliseconds);
    if (form === "number") return date.getTime();
    return form === "http" ? date.toUTCString() : date;
  },
  part({ slot, partNumber, age }, { memory }) {
    const etags = memory.parts[partName(slot, partNumber)] ?? [];
    return { partNumber, etag: etags.at(-1 - age) ?? unknownEtag };
  },
  cursor: ({ slot }, { memory }) => memory.cursors[slot],
};

const contentDecoders: Record<
  ContentMark["kind"],
  (bytes: Uint8Array<ArrayBuffer>, platform: Platform) => unknown
> = {
  string: (bytes) => new TextDecoder().decode(bytes),
  ArrayBuffer: (bytes) => bytes.slice().buffer,
  Uint8Array: (bytes) => bytes,
  subarray(bytes) {
    const larger = new Uint8Array(bytes.length + 7).fill(255);
    larger.set(bytes, 3);
    return larger.subarray(3, 3 + bytes.length);
  },
  DataView: (bytes) => new DataView(bytes.buffer),
  Blob: (bytes) => new Blob([bytes], { type: "text/x-blob" }),
  FixedLengthStream: (bytes, platform) =>
    platform.fixedLengthStream({ lengthBytes: bytes.length, bytes }),
  "response body": (bytes, platform) => platform.responseBody(bytes),
  "unknown length": (bytes, platform) => platform.unknownLengthStream(bytes),
  "locked stream": (bytes, platform) => platform.lockedStream(bytes),
  "short stream": (bytes, platform) =>
    platform.fixedLengthStream({ lengthBytes: bytes.length + 1, bytes }),
  "failing stream": (bytes, platform) =>
    platform.fixedLengthStream({
      lengthBytes: bytes.length + 1,
      bytes,
      error: new RangeError("the source failed"),
    }),
};

export function partName(slot: number, partNumber: number): string {
  return `${slot}/${partNumber}`;
}

export function hexOf(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
