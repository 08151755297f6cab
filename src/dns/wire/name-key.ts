/**
 * The key of a name: its wire form as a string with letters in lower case (RFC 4343). Equal names
 * have equal keys, whatever octets the labels hold. Each label follows its length, so that removing
 * the first label gives the key of the parent.
 */
import { encodeName, nameWireBytesMax } from "./name.ts";

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
