/**
 * Cursors: where a page of a listing ended, sealed so that a made-up or damaged one is told apart.
 *
 * The seal is no secret: whoever wants to forge a cursor can. It is there so that a mistake (a
 * key passed as a cursor, a cursor cut short) is an error and not a listing from somewhere else.
 */
import { StoreError } from "./errors.ts";

/** The last item of a page: an object, or a rolled-up prefix with its delimiter. */
export interface Position {
  readonly kind: "key" | "prefix";
  readonly text: string;
}

// Both runtimes have these; the core's library does not declare them.
declare function btoa(binary: string): string;
declare function atob(base64: string): string;

export function encodeCursor(position: Position): string {
  const payload = (position.kind === "key" ? "k" : "p") + position.text;
  return toBase64Url(seal(payload) + utf8Bytes(payload));
}

/**
 * Deviation: the text is ours, and the code that of an internal error, for none is known.
 *
 * @throws StoreError 10001 when `cursor` is not one that `encodeCursor` made
 */
export function decodeCursor(cursor: string): Position {
  const payload = utf8Text(fromBase64Url(cursor)?.slice(sealLength) ?? "");
  const position: Position = {
    kind: payload?.startsWith("k") ? "key" : "prefix",
    text: payload?.slice(1) ?? "",
  };
  if (encodeCursor(position) === cursor) return position;
  throw new StoreError(
    10001,
    "The cursor is not valid: pass the cursor of the previous page as it is.",
  );
}

const sealLength = 4;

/** FNV-1a over the UTF-16 units, as four characters below U+0100. */
function seal(payload: string): string {
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

function utf8Text(bytes: string): string | null {
  try {
    return decodeURIComponent(
      bytes.replace(
        /[^A-Za-z0-9]/g,
        (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`,
      ),
    );
  } catch {
    return null;
  }
}

function toBase64Url(binary: string): string {
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64Url(text: string): string | null {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return null;
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return null;
  }
}
