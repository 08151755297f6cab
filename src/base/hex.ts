/** Hexadecimal text, and base64 of the same bytes. Hexadecimal text that is encoded is in lower case. */

const digitPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function encodeHex(bytes: Uint8Array): string {
  let hex = "";
  for (const byte of bytes) hex += digitPairs[byte] as string;
  return hex;
}

/** `null` when the text is not an even number of hexadecimal digits. */
export function decodeHex(hex: string): Uint8Array<ArrayBuffer> | null {
  if (hex.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(hex)) return null;
  const bytes = new Uint8Array(hex.length / 2);
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = (digitValue(hex, index * 2) << 4) | digitValue(hex, index * 2 + 1);
  }
  return bytes;
}

/** The low four bits of `0` to `9` are the value; those of `a` to `f` are the value less nine. */
function digitValue(hex: string, index: number): number {
  const codeUnit = hex.charCodeAt(index);
  return codeUnit < 0x40 ? codeUnit & 15 : (codeUnit & 15) + 9;
}

// Every platform has these functions.
declare function atob(base64: string): string;
declare function btoa(binary: string): string;

/** @returns `null` for text that is not base64 of `bytes` bytes */
export function base64ToHex(text: string, bytes: number): string | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length !== Math.ceil(bytes / 3) * 4) return null;
  const binary = atob(text);
  if (binary.length !== bytes) return null;
  return Array.from(binary, (octet) => octet.charCodeAt(0).toString(16).padStart(2, "0")).join("");
}

export function hexToBase64(hex: string): string {
  return btoa(String.fromCharCode(...(decodeHex(hex) ?? [])));
}
