/** DER (X.690): the values that certificates consist of, as octets. Nothing here reads DER. */

/** A constructed value of a class of its own: `[number]` in a specification. */
export function tagged(number: number, ...content: readonly Uint8Array[]): Uint8Array {
  return encode(0xa0 | number, content);
}

/** As `tagged()`, in place of the tag of a primitive value (IMPLICIT). */
export function implicit(number: number, content: Uint8Array): Uint8Array {
  return encode(0x80 | number, [content]);
}

export function sequence(...content: readonly Uint8Array[]): Uint8Array {
  return encode(0x30, content);
}

export function set(...content: readonly Uint8Array[]): Uint8Array {
  return encode(0x31, content);
}

export function boolean(value: boolean): Uint8Array {
  return encode(0x01, [Uint8Array.of(value ? 0xff : 0)]);
}

/** @param octets a number of zero or more, the highest octet first */
export function integer(octets: Uint8Array): Uint8Array {
  const start = octets.findIndex((octet) => octet !== 0);
  const digits = start < 0 ? Uint8Array.of(0) : octets.subarray(start);
  // A number whose first bit is set would be negative.
  const isNegative = (digits.at(0) ?? 0) >= 0x80;
  return encode(0x02, isNegative ? [Uint8Array.of(0), digits] : [digits]);
}

export function bitString(octets: Uint8Array, unusedBits = 0): Uint8Array {
  return encode(0x03, [Uint8Array.of(unusedBits), octets]);
}

export function octetString(octets: Uint8Array): Uint8Array {
  return encode(0x04, [octets]);
}

export function utf8String(text: string): Uint8Array {
  return encode(0x0c, [new TextEncoder().encode(text)]);
}

/** @param dotted such as `2.5.29.17` */
export function objectIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const octets = [first * 40 + second, ...rest].flatMap(base128);
  return encode(0x06, [Uint8Array.from(octets)]);
}

/**
 * RFC 5280 section 4.1.2.5: years until 2049 have two digits, later years four. Fractions of a
 * second are not allowed.
 */
export function time(date: Date): Uint8Array {
  const text = date
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replace(/[-:T]/g, "");
  const isShort = date.getUTCFullYear() < 2050;
  return encode(isShort ? 0x17 : 0x18, [new TextEncoder().encode(isShort ? text.slice(2) : text)]);
}

function base128(number: number): number[] {
  const digits = [number % 128];
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128)) {
    digits.unshift(0x80 | (rest % 128));
  }
  return digits;
}

function encode(tag: number, content: readonly Uint8Array[]): Uint8Array {
  const octets = Buffer.concat(content);
  return Buffer.concat([Uint8Array.from([tag, ...lengthOctets(octets.length)]), octets]);
}

function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length];
  const digits: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  return [0x80 | digits.length, ...digits];
}
