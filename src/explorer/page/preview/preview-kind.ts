/**
 * How the content of an object is shown. The content type decides, because a browser goes by the
 * content type too. The first bytes and the extension of the key decide if the type says nothing.
 * HTML is text: the content of an object never runs in the page.
 */
import { looksLikeText, signedKind } from "./content-signature.ts";
import { extensionOf, languageOfKey, languageOfType, type Language } from "./text-language.ts";

export type PreviewKind = "image" | "audio" | "video" | "pdf" | "json" | "text" | "hex";

export interface PreviewChoice {
  readonly kind: PreviewKind;
  /** For the colours of a text. */
  readonly language: Language | null;
  /** The content type with which a browser would show the content; `null` if that changes nothing. */
  readonly neededType: string | null;
}

export interface PreviewSubject {
  readonly key: string;
  readonly contentType: string | null;
  /** The first bytes of the content. */
  readonly head: Uint8Array;
}

export function previewKind(subject: PreviewSubject): PreviewChoice {
  const type = essence(subject.contentType);
  return byType(type, subject) ?? byContent(subject);
}

/** The language in which the content is shown as text, whatever the preview is. */
export function textLanguage({ key, contentType }: Omit<PreviewSubject, "head">): Language | null {
  const type = essence(contentType);
  return isJsonType(type) ? "json" : (languageOfType(type) ?? languageOfKey(key) ?? null);
}

/** The content type without parameters, in lower case. */
function essence(contentType: string | null): string {
  return (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function byType(type: string, subject: PreviewSubject): PreviewChoice | null {
  const { key, head } = subject;
  // TypeScript files are often uploaded with the type of MPEG transport streams, which begin with "G".
  if (type === "video/mp2t" && head[0] !== 0x47 && looksLikeText(head)) return text("ts");
  const media = /^(image|audio|video)\//.exec(type)?.[1];
  if (media !== undefined) return shown(media as "image" | "audio" | "video");
  // The server lets the browser show a PDF document only with exactly this type.
  if (type === "application/pdf") {
    return subject.contentType === type ? shown("pdf") : { ...shown("hex"), neededType: type };
  }
  if (isJsonType(type)) return { ...text("json"), kind: "json" };
  // Programs give this type to any text.
  if (type === "text/plain") return textOfKey(key);
  const language = languageOfType(type);
  return language === undefined ? null : text(language ?? languageOfKey(key) ?? null);
}

function byContent({ key, head }: PreviewSubject): PreviewChoice {
  const signed = signedKind(head);
  // A browser downloads a document of another type instead of showing the document.
  if (signed === "pdf") return { ...shown("hex"), neededType: "application/pdf" };
  if (signed !== null) return shown(signed);
  if (!looksLikeText(head)) {
    return /^(?:mp3|aac|m4a)$/.test(extensionOf(key)) ? shown("audio") : shown("hex");
  }
  if (extensionOf(key) === "svg") return { ...text("xml"), neededType: "image/svg+xml" };
  return textOfKey(key);
}

function isJsonType(type: string): boolean {
  return type === "application/json" || type === "text/json" || type.endsWith("+json");
}

function textOfKey(key: string): PreviewChoice {
  const choice = text(languageOfKey(key) ?? null);
  const isJson = /^(?:json|map|webmanifest)$/.test(extensionOf(key));
  return isJson ? { ...choice, kind: "json" } : choice;
}

function text(language: Language | null): PreviewChoice {
  return { kind: "text", language, neededType: null };
}

function shown(kind: PreviewKind): PreviewChoice {
  return { kind, language: null, neededType: null };
}
