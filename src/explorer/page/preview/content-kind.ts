/**
 * How the content of an object is shown. The content type decides, because a browser goes by the
 * content type too. The first bytes and the extension of the key decide if the type says nothing.
 * HTML is text: the content of an object never runs in the page.
 */
import { decodeText } from "./content-text.ts";

export type MediaKind = "image" | "audio" | "video" | "pdf";
type ContentKind = MediaKind | "text" | "hex";

/** The languages that `highlighter.ts` registers. */
export type Language = keyof typeof extensions;

export interface ContentChoice {
  readonly kind: ContentKind;
  /** For the colours of the content as text. */
  readonly language: Language | null;
  /** The content type with which a browser would show the content; `null` if that changes nothing. */
  readonly neededType: string | null;
}

export interface ContentSubject {
  readonly key: string;
  readonly contentType: string | null;
  /** The first bytes of the content. */
  readonly head: Uint8Array;
}

export function contentKind(subject: ContentSubject): ContentChoice {
  const { key, contentType, head } = subject;
  const type = essence(contentType);
  const language = languageOf(key, type);
  const choice = (kind: ContentKind, neededType: string | null = null): ContentChoice => ({
    kind,
    language,
    neededType,
  });
  // TypeScript files are often uploaded with the type of MPEG transport streams, which begin with "G".
  const isTypeScript = type === "video/mp2t" && head[0] !== 0x47 && looksLikeText(head);
  if (isTypeScript) return { ...choice("text"), language: "ts" };
  const media = /^(image|audio|video)\//.exec(type)?.[1];
  if (media !== undefined) return choice(media as MediaKind);
  // The server lets the browser show a PDF document only with exactly this type.
  if (type === pdf) return contentType === pdf ? choice("pdf") : choice("hex", pdf);
  if (type.startsWith("text/") || languageOfType(type) !== null) return choice("text");
  const signed = signedKind(head);
  // A browser downloads a document of another type instead of showing the document.
  if (signed === "pdf") return choice("hex", pdf);
  if (signed !== null) return choice(signed);
  const extension = extensionOf(key);
  if (!looksLikeText(head)) {
    return choice(/^(?:mp3|aac|m4a)$/.test(extension) ? "audio" : "hex");
  }
  return choice("text", extension === "svg" ? "image/svg+xml" : null);
}

const pdf = "application/pdf";

/** The content type without parameters, in lower case. */
function essence(contentType: string | null): string {
  return (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** The end of the last segment of a key, in lower case; empty if there is none. */
function extensionOf(key: string): string {
  return /\.([^./]+)$/.exec(key)?.[1]?.toLowerCase() ?? "";
}

const extensions = {
  bash: "bash sh zsh",
  css: "css",
  go: "go",
  html: "htm html xhtml",
  ini: "cfg conf env ini",
  js: "cjs js jsx mjs",
  json: "json json5 jsonc jsonl map ndjson webmanifest",
  md: "markdown md",
  py: "py",
  rs: "rs",
  sql: "sql",
  toml: "toml",
  ts: "cts mts ts tsx",
  xml: "atom rss svg vue xml",
  yaml: "yaml yml",
};

const languagesByExtension: ReadonlyMap<string, Language> = new Map(
  Object.entries(extensions).flatMap(([language, names]) =>
    names.split(" ").map((name) => [name, language as Language] as const),
  ),
);

const types: readonly (readonly [RegExp, Language])[] = [
  [/[/+-](?:nd)?json(?:5|l|-seq)?$/, "json"],
  [/\/(?:x-)?typescript$/, "ts"],
  [/\/(?:x-)?(?:java|ecma)script$/, "js"],
  [/\/(?:html|xhtml\+xml)$/, "html"],
  [/[/+]xml$/, "xml"],
  [/[/+-]yaml$/, "yaml"],
  [/\/toml$/, "toml"],
  [/\/css$/, "css"],
  [/\/markdown$/, "md"],
  [/\/(?:x-)?sql$/, "sql"],
  [/\/x-sh$/, "bash"],
];

function languageOfType(type: string): Language | null {
  return types.find(([pattern]) => pattern.test(type))?.[1] ?? null;
}

/** The language of the content as text, whatever the preview is. */
function languageOf(key: string, type: string): Language | null {
  return languageOfType(type) ?? languagesByExtension.get(extensionOf(key)) ?? null;
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

/** Tab, line feed, form feed, carriage return, and escape, which begins the colours of a log. */
const textControls: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b]);

/** Whether the first bytes of content are UTF-8 text. */
function looksLikeText(head: Uint8Array): boolean {
  if (head.length === 0 || head.some(isControl)) return false;
  return decodeText(head, false).isValid;
}

function isControl(byte: number): boolean {
  return byte === 0x7f || (byte < 0x20 && !textControls.has(byte));
}
