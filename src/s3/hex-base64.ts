/** Between the two forms of a hash: hexadecimal in the store, base64 on the wire. */
import { decodeHex } from "../base/hex.ts";

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
