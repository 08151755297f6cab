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
