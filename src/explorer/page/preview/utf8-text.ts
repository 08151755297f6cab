/**
 * Bytes as UTF-8 text. Bytes that are not valid UTF-8 become replacement characters, as in every
 * browser, and are counted. A character that the end of the bytes cuts is left for the next part.
 */
export interface Utf8Text {
  readonly text: string;
  /** Bytes that are not part of a valid character. */
  readonly invalidBytes: number;
  /** The bytes that the text stands for: all, without a character that is cut at the end. */
  readonly decodedBytes: number;
}

/** A byte order mark stays, because the text stands for all bytes. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** @param isWhole whether no bytes follow: then a character that is cut is not valid */
export function decodeUtf8(
  bytes: Uint8Array,
  { isWhole }: { readonly isWhole: boolean },
): Utf8Text {
  let invalidBytes = 0;
  let index = 0;
  let cutBytes = 0;
  while (index < bytes.length) {
    const { length, isValid, isCut } = readSequence(bytes, index);
    if (isCut && !isWhole) {
      cutBytes = length;
      break;
    }
    if (!isValid) invalidBytes += length;
    index += length;
  }
  const decodedBytes = bytes.length - cutBytes;
  return { text: decoder.decode(bytes.subarray(0, decodedBytes)), invalidBytes, decodedBytes };
}

interface Sequence {
  readonly length: number;
  readonly isValid: boolean;
  /** Whether the bytes end inside the sequence. */
  readonly isCut: boolean;
}

const ascii: Sequence = { length: 1, isValid: true, isCut: false };
const stray: Sequence = { length: 1, isValid: false, isCut: false };

/** The well-formed sequences of The Unicode Standard, table 3-7. */
function readSequence(bytes: Uint8Array, start: number): Sequence {
  const lead = bytes[start] as number;
  if (lead < 0x80) return ascii;
  if (lead < 0xc2 || lead > 0xf4) return stray;
  const needed = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  let lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  let highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  for (let length = 1; length < needed; length++) {
    const byte = bytes[start + length];
    if (byte === undefined) return { length, isValid: false, isCut: true };
    if (byte < lowest || byte > highest) return { length, isValid: false, isCut: false };
    lowest = 0x80;
    highest = 0xbf;
  }
  return { length: needed, isValid: true, isCut: false };
}
