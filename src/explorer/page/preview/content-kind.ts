/**
 * How the content of an object is shown, and content as text. The content type decides, because a browser
 * goes by the content type too. The first bytes and the extension of the key decide if the type says
 * nothing. HTML is text: the content of an object never runs in the page.
 */
import { encodeHex } from "../../../base/hex.ts";
import type { ListedObject } from "../../api/buckets.ts";

export type MediaKind = "image" | "audio" | "video" | "pdf";
type ContentKind = MediaKind | "text" | "hex";

/** The languages that `highlighter.ts` registers. */
export type Language = keyof typeof names;

export interface ContentChoice {
  readonly kind: ContentKind;
  /** For the colours of the content as text. */
  readonly language: Language | null;
  /** The content type with which a browser would show the content; `null` if that changes nothing. */
  readonly neededType: string | null;
}

/** @param head the first bytes of the content */
export function contentKind(
  { key, contentType }: Pick<ListedObject, "key" | "contentType">,
  head: Uint8Array,
): ContentChoice {
  const type = (contentType ?? "").replace(/;.*/s, "").trim().toLowerCase();
  const extension = /\.([^./]+)$/.exec(key)?.[1]?.toLowerCase() ?? "";
  // Of the content as text, whatever the preview is.
  const language = languageOfType(type) ?? languages.get(extension) ?? null;
  const choice = (kind: ContentKind, neededType: string | null = null): ContentChoice => ({
    kind,
    language,
    neededType,
  });
  // Programs upload TypeScript with the type of MPEG transport streams, which begin with "G".
  const isTypeScript = type === "video/mp2t" && head[0] !== 0x47 && looksLikeText(head);
  if (isTypeScript) return choice("text");
  const media = /^(image|audio|video)\//.exec(type)?.[1];
  if (media !== undefined) return choice(media as MediaKind);
  // The server lets the browser show a PDF document only with exactly this type.
  if (type === pdf) return contentType === pdf ? choice("pdf") : choice("hex", pdf);
  if (type.startsWith("text/") || languageOfType(type) !== null) return choice("text");
  const signed = signedKind(head);
  // A browser downloads a document of another type instead of showing the document.
  if (signed === "pdf") return choice("hex", pdf);
  if (signed !== null) return choice(signed);
  if (!looksLikeText(head)) {
    return choice(/^(?:mp3|aac|m4a)$/.test(extension) ? "audio" : "hex");
  }
  return choice("text", extension === "svg" ? "image/svg+xml" : null);
}

const pdf = "application/pdf";

/** The extensions of a language, and the last words of its content types without `x-`. */
const names = {
  bash: "bash sh zsh",
  css: "css",
  go: "go",
  html: "htm html xhtml xhtml+xml",
  ini: "cfg conf env ini",
  js: "cjs ecmascript javascript js jsx mjs",
  json: "json json5 json-seq jsonc jsonl map ndjson webmanifest",
  md: "markdown md",
  py: "py python",
  rs: "rs rust",
  sql: "sql",
  toml: "toml",
  ts: "cts mts ts tsx typescript",
  xml: "atom rss svg vue xml",
  yaml: "yaml yml",
};

const languages: ReadonlyMap<string, Language> = new Map(
  Object.entries(names).flatMap(([language, words]) =>
    words.split(" ").map((word) => [word, language as Language] as const),
  ),
);

function languageOfType(type: string): Language | null {
  const subtype = type.replace(/^[^/]*\/(?:x-)?/, "");
  return languages.get(subtype) ?? languages.get(subtype.replace(/^.*\+/, "")) ?? null;
}

/** WHATWG MIME Sniffing, sections 6.1 and 6.2, in Latin-1, without types that browsers do not show. */
const signatures: readonly (readonly [MediaKind, offset: number, text: string])[] = [
  ["image", 0, "\x89PNG\r\n\x1a\n"],
  ["image", 0, "\xff\xd8\xff"],
  ["image", 0, "GIF87a"],
  ["image", 0, "GIF89a"],
  ["image", 8, "WEBP"],
  ["image", 4, "ftypavif"],
  ["image", 0, "\0\0\x01\0"],
  ["audio", 8, "WAVE"],
  ["audio", 0, "ID3"],
  ["audio", 0, "OggS\0"],
  ["audio", 0, "fLaC"],
  ["audio", 4, "ftypM4A"],
  ["video", 4, "ftyp"],
  ["video", 0, "\x1a\x45\xdf\xa3"],
  ["pdf", 0, "%PDF-"],
];

function signedKind(head: Uint8Array): MediaKind | null {
  const found = signatures.find(([, offset, text]) =>
    Array.from(text).every((sign, index) => head[offset + index] === sign.charCodeAt(0)),
  );
  return found?.[0] ?? null;
}

/**
 * Whether the first bytes of content are UTF-8 text. The control characters of text are tab, line feed,
 * form feed, carriage return, and escape, which begins the colours of a log.
 */
function looksLikeText(head: Uint8Array): boolean {
  const { text, isValid } = decodeText(head, false);
  // oxlint-disable-next-line no-control-regex -- control characters are intended
  return isValid && text !== "" && !/[\0-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]/.test(text);
}

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
