/**
 * The key of a name: its octets as one string, letters in lower case (RFC 4343), so that names
 * that are equal have equal keys and any octets may stand in them. Each label has its length before
 * it; cutting off the first one gives the key of the parent.
 */
import { encodeName, nameWireBytesMax } from "./name.ts";

export type NameKey = string;

export const rootKey: NameKey = "\0";

/** Octet to octet, A to Z down to a to z. */
export const lowerCase = Uint8Array.from({ length: 256 }, (_, octet) =>
  octet >= 0x41 && octet <= 0x5a ? octet + 0x20 : octet,
);

const scratch = new Uint8Array(nameWireBytesMax);

/** Lengths are below 64 and no letters, so that they can go through the same table. */
export function nameKey(wire: Uint8Array): NameKey {
  for (let at = 0; at < wire.length; at++) scratch[at] = lowerCase[wire[at]!]!;
  // Spreading goes through an iterator, at three times the cost.
  const octets: ArrayLike<number> = scratch.subarray(0, wire.length);
  return String.fromCharCode.apply(null, octets as number[]);
}

export function textKey(name: string): NameKey {
  return nameKey(encodeName(name));
}

/** Only for keys that are not the root's. */
export function parentKey(key: NameKey): NameKey {
  return key.slice(key.charCodeAt(0) + 1);
}

export function wildcardKey(encloser: NameKey): NameKey {
  return `\u0001*${encloser}`;
}

/** Whether a name is another or stands below it. */
export function isAtOrBelow(key: NameKey, ancestor: NameKey): boolean {
  if (!key.endsWith(ancestor)) return false;
  // A suffix of octets is one of labels only where a label begins.
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
