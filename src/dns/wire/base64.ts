/** Globals of every runtime; the pure folders are compiled without the types of a runtime. */
declare function atob(text: string): string;
declare function btoa(binary: string): string;

export function encodeBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** RFC 4648 section 4, with padding; `null` when the text is not base64. */
export function decodeBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
