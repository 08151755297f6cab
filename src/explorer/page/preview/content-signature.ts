/** What content is, by its first bytes. */
import { decodeUtf8 } from "./utf8-text.ts";

export type SignedKind = "image" | "audio" | "video" | "pdf";

interface Signature {
  readonly kind: SignedKind;
  readonly offset: number;
  /** Latin-1. */
  readonly text: string;
}

/** WHATWG MIME Sniffing, sections 6.1 and 6.2, without types that browsers do not show. */
const signatures: readonly Signature[] = [
  { kind: "image", offset: 0, text: "\x89PNG\r\n\x1a\n" },
  { kind: "image", offset: 0, text: "\xff\xd8\xff" },
  { kind: "image", offset: 0, text: "GIF87a" },
  { kind: "image", offset: 0, text: "GIF89a" },
  { kind: "image", offset: 8, text: "WEBP" },
  { kind: "image", offset: 4, text: "ftypavif" },
  { kind: "image", offset: 0, text: "\0\0\x01\0" },
  { kind: "audio", offset: 8, text: "WAVE" },
  { kind: "audio", offset: 0, text: "ID3" },
  { kind: "audio", offset: 0, text: "OggS\0" },
  { kind: "audio", offset: 0, text: "fLaC" },
  { kind: "audio", offset: 4, text: "ftypM4A" },
  { kind: "video", offset: 4, text: "ftyp" },
  { kind: "video", offset: 0, text: "\x1a\x45\xdf\xa3" },
  { kind: "pdf", offset: 0, text: "%PDF-" },
];

export function signedKind(head: Uint8Array): SignedKind | null {
  return (
    signatures.find(({ offset, text }) =>
      Array.from(text).every(
        (character, index) => head[offset + index] === character.charCodeAt(0),
      ),
    )?.kind ?? null
  );
}

/** Tab, line feed, form feed, carriage return, and escape, which begins the colours of a log. */
const textControls: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b]);

/** Whether the first bytes of content are UTF-8 text. */
export function looksLikeText(head: Uint8Array): boolean {
  if (head.length === 0) return false;
  return !head.some(isControl) && decodeUtf8(head, { isWhole: false }).invalidBytes === 0;
}

function isControl(byte: number): boolean {
  return byte === 0x7f || (byte < 0x20 && !textControls.has(byte));
}
