/**
 * Values of headers that both sides of S3 read and write: encoded words, and the checksums
 * `x-amz-checksum-*`, which XML has as elements. A checksum is hexadecimal in the store and base64 on
 * the wire; a composite checksum ends in `-` and the number of parts.
 */
import { base64ToHex } from "../base/hex.ts";
import {
  checksumAlgorithms,
  checksumText,
  checksumTypeName,
  isComposite,
  type Checksums,
  type S3ChecksumAlgorithm,
} from "../store/core/checksum.ts";
import { childText, type XmlElement } from "./xml.ts";

export const s3Algorithms: readonly S3ChecksumAlgorithm[] = [
  "crc32",
  "crc32c",
  "crc64nvme",
  "sha1",
  "sha256",
];
export const checksumPrefix = "x-amz-checksum-";

interface GivenChecksum {
  readonly algorithm: S3ChecksumAlgorithm;
  /** `null` for a value that is not valid. */
  readonly hex: string | null;
}

export function checksumsInHeaders(headers: {
  get(name: string): string | null | undefined;
}): GivenChecksum[] {
  return givenChecksums((algorithm) => headers.get(checksumPrefix + algorithm) ?? null);
}

export function checksumsInElement(element: XmlElement): GivenChecksum[] {
  return givenChecksums((algorithm) => childText(element, elementName(algorithm)));
}

function givenChecksums(
  textOf: (algorithm: S3ChecksumAlgorithm) => string | null,
): GivenChecksum[] {
  return s3Algorithms.flatMap((algorithm) => {
    const text = textOf(algorithm);
    return text === null ? [] : [{ algorithm, hex: parseChecksumValue(algorithm, text) }];
  });
}

/** In hexadecimal; `null` for a value that is not valid. */
export function parseChecksumValue(algorithm: S3ChecksumAlgorithm, text: string): string | null {
  const [, value, count] = /^([^-]*)(-\d{1,5})?$/.exec(text) ?? [];
  const hex = base64ToHex(value ?? "", checksumAlgorithms[algorithm].bytes);
  return hex === null ? null : hex + (count ?? "");
}

/** The algorithms of the checksums that S3 shows. */
export function algorithmsOf(checksums: Checksums): S3ChecksumAlgorithm[] {
  return s3Algorithms.filter((algorithm) => checksums[algorithm] !== undefined);
}

export function checksumHeaders(checksums: Checksums): Record<string, string> {
  const type = checksumTypeOf(checksums);
  if (type === undefined) return {};
  const shown = shownChecksums(checksums, (algorithm) => checksumPrefix + algorithm);
  return { ...shown, "x-amz-checksum-type": type };
}

export function checksumElements(checksums: Checksums): Record<string, string> {
  return shownChecksums(checksums, elementName);
}

/** In base64, by names. */
function shownChecksums(
  checksums: Checksums,
  nameOf: (algorithm: S3ChecksumAlgorithm) => string,
): Record<string, string> {
  return Object.fromEntries(
    algorithmsOf(checksums).map((algorithm) => [
      nameOf(algorithm),
      checksumText(checksums[algorithm] as string),
    ]),
  );
}

function elementName(algorithm: S3ChecksumAlgorithm): string {
  return `Checksum${algorithm.toUpperCase()}`;
}

/** `undefined` without checksums that S3 shows */
export function checksumTypeOf(checksums: Checksums): string | undefined {
  const algorithms = algorithmsOf(checksums);
  if (algorithms.length === 0) return undefined;
  const hasComposite = algorithms.some((algorithm) => isComposite(checksums[algorithm] as string));
  return checksumTypeName(hasComposite ? "composite" : "full object");
}

/**
 * Encoded words (RFC 2047): how headers carry text that is not printable ASCII.
 *
 *     =?utf-8?B?w6k=?=     base64      =?utf-8?Q?caf=C3=A9?=     quoted octets
 */
const word = /=\?([\w-]+)(?:\*[\w-]+)?\?([bq])\?([^?]*)\?=/gi;
/** The white space between two encoded words is not part of the text (section 6.2). */
const gap = /(=\?[\w*-]+\?[bq]\?[^?]*\?=)\s+(?==\?[\w*-]+\?[bq]\?[^?]*\?=)/gi;

/** Text with its encoded words decoded. A word that cannot be decoded stays as it is. */
export function decodeWords(text: string): string {
  if (!text.includes("=?")) return text;
  return text
    .replace(gap, "$1")
    .replace(word, (whole, charset: string, encoding: string, data: string) => {
      try {
        const octets = encoding.toLowerCase() === "b" ? atob(data) : unquote(data);
        const bytes = Uint8Array.from(octets, (octet) => octet.charCodeAt(0));
        return new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(bytes);
      } catch {
        return whole;
      }
    });
}

/** `null`: no header can carry the text, because it is not valid Unicode */
export function encodeWords(text: string): string | null {
  const isPrintable = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$|^$/.test(text);
  if (isPrintable && !text.includes("=?")) return text;
  if (!text.isWellFormed()) return null;
  const octets = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte));
  return `=?utf-8?B?${btoa(octets.join(""))}?=`;
}

/** Underscores are spaces, and `=C3` is an octet (section 4.2). */
function unquote(data: string): string {
  return data
    .replaceAll("_", " ")
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
