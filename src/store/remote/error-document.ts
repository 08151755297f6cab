/** The documents of an S3 service, and the errors that they describe. */
import { childText, readXml, type XmlElement } from "../../http/xml.ts";

export interface ErrorDocument {
  /** `NoSuchBucket` */
  readonly code: string;
  readonly message: string;
  /** Of other elements, such as `Region` and `ServerTime`. */
  readonly textOf: (name: string) => string | null;
}

/** @returns `null` for a text that is no document */
export function parseDocument(text: string): XmlElement | null {
  try {
    return readXml(text);
  } catch {
    return null;
  }
}

/** @returns `null` for another document, such as a page of a web server */
export function errorIn(document: XmlElement | null): ErrorDocument | null {
  const code = document?.name === "Error" ? childText(document, "Code") : null;
  if (document === null || code === null) return null;
  return {
    code,
    message: childText(document, "Message") ?? "",
    textOf: (name) => childText(document, name),
  };
}

export function readErrorDocument(text: string): ErrorDocument | null {
  return errorIn(parseDocument(text));
}
