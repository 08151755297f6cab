const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const values = new Map(alphabet.split("").map((character, value) => [character, value]));

export function encodeBase64(bytes: Uint8Array): string {
  let text = "";
  for (let index = 0; index < bytes.length; index += 3) {
    const group = (bytes[index]! << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    const digits = [18, 12, 6, 0].map((shift) => alphabet[(group >>> shift) & 0x3f]!);
    const present = Math.min(3, bytes.length - index);
    text += digits.slice(0, present + 1).join("") + "=".repeat(3 - present);
  }
  return text;
}

/** RFC 4648 section 4, with padding; `null` when the text is not base64. */
export function decodeBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  const digits = text.replace(/=+$/, "");
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let buffer = 0;
  let bits = 0;
  let at = 0;
  for (const digit of digits) {
    buffer = ((buffer << 6) | values.get(digit)!) & 0xff_ffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (buffer >>> bits) & 0xff;
    }
  }
  return bytes;
}
