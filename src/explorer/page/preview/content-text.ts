/** Content as text: decoded, indented, or as the numbers of its bytes. */
import { encodeHex } from "../../../base/hex.ts";

/**
 * Bytes that are not valid UTF-8 become replacement characters, as in every browser. A byte order mark
 * stays. A character that the end of the bytes cuts is left out, unless the content ends there.
 */
export function decodeText(
  bytes: Uint8Array,
  isWhole: boolean,
): { readonly text: string; readonly isValid: boolean } {
  const decode = (fatal: boolean): string =>
    new TextDecoder("utf-8", { ignoreBOM: true, fatal }).decode(bytes, { stream: !isWhole });
  try {
    return { text: decode(true), isValid: true };
  } catch {
    return { text: decode(false), isValid: false };
  }
}

/** Adds line breaks and spaces to JSON of one line, as programs write it. Values stay as they are. */
export function indentJson(source: string): string {
  let depth = 0;
  const newLine = (): string => `\n${"  ".repeat(Math.max(0, depth))}`;
  return source.replaceAll(
    /("(?:\\.|[^"\\])*"?)|([{[])\s*([}\]])?|([}\]])|,\s*|:\s*/g,
    (token: string, text?: string, opening?: string, closed?: string, closing?: string) => {
      if (text !== undefined) return text;
      if (closed !== undefined) return `${opening}${closed}`;
      if (opening !== undefined) {
        depth++;
        return opening + newLine();
      }
      if (closing !== undefined) {
        depth--;
        return newLine() + closing;
      }
      return token.startsWith(",") ? `,${newLine()}` : ": ";
    },
  );
}

/** 16 bytes a line, as `hexdump -C` shows them. A point stands for what is not printable ASCII. */
export function hexLines(bytes: Uint8Array): readonly string[] {
  const lines: string[] = [];
  for (let offset = 0; offset < bytes.length; offset += 16) {
    const row = bytes.subarray(offset, offset + 16);
    const pairs = encodeHex(row).match(/../g) ?? [];
    const hex = `${pairs.slice(0, 8).join(" ")}  ${pairs.slice(8).join(" ")}`.padEnd(48);
    const text = String.fromCharCode(...row).replaceAll(/[^\x20-\x7e]/g, ".");
    lines.push(`${offset.toString(16).padStart(8, "0")}  ${hex}  ${text}`);
  }
  return lines;
}
