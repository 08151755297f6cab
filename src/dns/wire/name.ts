/** Names as text, as octets on the wire, and as keys of maps. */
import { encodeUtf8, WireError } from "./bytes.ts";

/** RFC 1035 section 2.3.4. */
export const labelBytesMax = 63;
export const nameWireBytesMax = 255;

const dot = 0x2e;
const backslash = 0x5c;

const plainCharacter = /[A-Za-z0-9_*/-]/;

/**
 * RFC 1035 section 5.1: any label as text. Every punctuation mark other than those of usual names has
 * an escape, so that the text stands in a zone file, and in a field that takes a URL for a mistake.
 */
export function escapeLabel(label: Uint8Array): string {
  let text = "";
  for (const byte of label) {
    const character = String.fromCharCode(byte);
    if (plainCharacter.test(character)) text += character;
    else if (byte > 0x20 && byte < 0x7f) text += `\\${character}`;
    else text += `\\${String(byte).padStart(3, "0")}`;
  }
  return text;
}

/** Throws WireError; a final dot is ignored. */
export function encodeName(name: string): Uint8Array {
  const text = encodeUtf8(name === "." ? "" : name);
  // The length of a label takes the place of the dot before it.
  const bytes = new Uint8Array(text.length + 2);
  let start = 0;
  let at = 1;
  const endLabel = (): void => {
    const length = at - start - 1;
    if (length === 0) throw new WireError("A label is empty");
    if (length > labelBytesMax) throw new WireError("A label is longer than 63 octets");
    bytes[start] = length;
    start = at++;
  };
  for (let index = 0; index < text.length; index++) {
    let byte = text[index]!;
    if (byte === dot) {
      endLabel();
      continue;
    }
    if (byte === backslash) {
      const digits = String.fromCharCode(...text.subarray(index + 1, index + 4));
      const isNumber = /^\d{3}$/.test(digits);
      if (digits === "" || (isNumber && Number(digits) > 255)) {
        throw new WireError("An escape in a name is malformed");
      }
      byte = isNumber ? Number(digits) : text[index + 1]!;
      index += isNumber ? 3 : 1;
    }
    bytes[at++] = byte;
  }
  if (at - start > 1) endLabel();
  if (at > nameWireBytesMax) throw new WireError("A name is longer than 255 octets");
  return bytes.slice(0, at);
}

/** The text of an uncompressed name, without the final dot; the root is ".". */
export function formatName(wire: Uint8Array): string {
  const labels: string[] = [];
  for (let at = 0; wire[at]! > 0; at += wire[at]! + 1) {
    labels.push(escapeLabel(wire.subarray(at + 1, at + 1 + wire[at]!)));
  }
  return labels.length === 0 ? "." : labels.join(".");
}

/**
 * The key of a name: its wire form as a string with letters in lower case (RFC 4343). Equal names
 * have equal keys, whatever octets the labels hold. Each label follows its length, so that removing
 * the first label gives the key of the parent.
 */
export type NameKey = string;

export const rootKey: NameKey = "\0";

/** Maps each octet to itself, and A to Z to a to z. */
export const lowerCase = Uint8Array.from({ length: 256 }, (_, octet) =>
  octet >= 0x41 && octet <= 0x5a ? octet + 0x20 : octet,
);

const scratch = new Uint8Array(nameWireBytesMax);

/** Length octets are below 64 and thus not letters: the table leaves them unchanged. */
export function nameKey(wire: Uint8Array): NameKey {
  for (let at = 0; at < wire.length; at++) scratch[at] = lowerCase[wire[at]!]!;
  // Spread syntax uses an iterator and takes three times as long.
  const octets: ArrayLike<number> = scratch.subarray(0, wire.length);
  return String.fromCharCode.apply(null, octets as number[]);
}

export function textKey(name: string): NameKey {
  return nameKey(encodeName(name));
}

/** The key must not be `rootKey`. */
export function parentKey(key: NameKey): NameKey {
  return key.slice(key.charCodeAt(0) + 1);
}

export function wildcardKey(encloser: NameKey): NameKey {
  return `\u0001*${encloser}`;
}

/** Whether a name is `ancestor` or a name below it. */
export function isAtOrBelow(key: NameKey, ancestor: NameKey): boolean {
  if (!key.endsWith(ancestor)) return false;
  // A suffix of octets counts only when it begins at a label.
  let at = 0;
  while (key.length - at > ancestor.length) at += key.charCodeAt(at) + 1;
  return key.length - at === ancestor.length;
}

/** The octets of the name, in lower case. */
export function keyOctets(key: NameKey): Uint8Array {
  const octets = new Uint8Array(key.length);
  for (let at = 0; at < key.length; at++) octets[at] = key.charCodeAt(at);
  return octets;
}
