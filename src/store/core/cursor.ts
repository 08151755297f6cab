/**
 * Cursors: the position at which a page of a listing ended, with a checksum.
 *
 * The checksum is no protection against forgery. It turns mistakes (a key passed as a cursor, a
 * cursor cut short) into errors, where they would otherwise list from a wrong position.
 */
import { StoreError } from "./errors.ts";

/** The last item of a page: an object, or a rolled-up prefix with its delimiter. */
export interface Position {
  readonly kind: "key" | "prefix";
  readonly text: string;
}

// Node and workerd have these; the core's TypeScript library does not declare them.
declare function btoa(binary: string): string;
declare function atob(base64: string): string;

export function encodeCursor(position: Position): string {
  const payload = (position.kind === "key" ? "k" : "p") + position.text;
  const binary = cursorChecksum(payload) + utf8Bytes(payload);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Deviation: the text is ours, and the code is that of an internal error, because the code of the
 * deployed service is not known.
 *
 * @throws StoreError 10001 when `encodeCursor` did not make `cursor`
 */
export function decodeCursor(cursor: string): Position {
  const payload = decodePayload(cursor);
  const position: Position = {
    kind: payload.startsWith("k") ? "key" : "prefix",
    text: payload.slice(1),
  };
  if (encodeCursor(position) === cursor) return position;
  throw new StoreError(
    10001,
    "The cursor is not valid: pass the cursor of the previous page as it is.",
  );
}

const checksumLength = 4;

/** FNV-1a over the UTF-16 code units, as four characters below U+0100. */
function cursorChecksum(payload: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < payload.length; index++) {
    hash = Math.imul(hash ^ payload.charCodeAt(index), 0x01000193);
  }
  return String.fromCharCode(hash >>> 24, (hash >>> 16) & 255, (hash >>> 8) & 255, hash & 255);
}

function utf8Bytes(text: string): string {
  return encodeURIComponent(text).replace(/%(..)/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Empty for text that is no cursor. */
function decodePayload(cursor: string): string {
  try {
    const binary = atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
    const escaped = binary
      .slice(checksumLength)
      .replace(/[^A-Za-z0-9]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
    return decodeURIComponent(escaped);
  } catch {
    return "";
  }
}
