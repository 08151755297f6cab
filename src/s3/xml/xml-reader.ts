/**
 * Reads the XML documents of requests: lists of keys, parts, rules.
 *
 * Elements and text only. A document with a DTD is refused, so that no entity can expand, and the
 * depth and the number of elements are limited. Attributes, comments and namespaces are skipped.
 */
import { S3Error } from "../s3-error.ts";

export interface XmlElement {
  /** Without the prefix of its namespace. */
  readonly name: string;
  /** The text directly in the element. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

interface OpenElement {
  readonly name: string;
  text: string;
  readonly children: XmlElement[];
}

const depthMax = 16;
/** A completed upload has 10,000 parts of up to seven elements. */
const elementsMax = 100_000;

const token =
  /<!--[^]*?-->|<!\[CDATA\[([^]*?)\]\]>|<\?[^]*?\?>|<\/([\w.:-]+)\s*>|<([\w.:-]+)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;
const references: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** @throws S3Error MalformedXML */
export function readXml(document: string): XmlElement {
  const root: OpenElement = { name: "", text: "", children: [] };
  const open = [root];
  let elements = 0;
  token.lastIndex = document.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (token.lastIndex < document.length) {
    const found = token.exec(document);
    if (found === null) throw new S3Error("MalformedXML");
    const [, data, closed, opened, , isEmpty, text] = found;
    const current = open.at(-1) as OpenElement;
    if (opened !== undefined) {
      const element: OpenElement = { name: localName(opened), text: "", children: [] };
      current.children.push(element);
      elements += 1;
      if (isEmpty === "") open.push(element);
      if (open.length > depthMax || elements > elementsMax) throw new S3Error("MalformedXML");
    } else if (closed !== undefined) {
      if (open.length === 1 || current.name !== localName(closed))
        throw new S3Error("MalformedXML");
      open.pop();
    } else if (data !== undefined) {
      current.text += data;
    } else if (text !== undefined) {
      current.text += decodeText(text);
    }
  }
  const [element, ...others] = root.children;
  const isDocument = open.length === 1 && others.length === 0 && root.text.trim() === "";
  if (element === undefined || !isDocument) throw new S3Error("MalformedXML");
  return element;
}

/** The text of the first child of that name; `null` when there is none. */
export function childText({ children }: XmlElement, name: string): string | null {
  return children.find((child) => child.name === name)?.text ?? null;
}

export function childrenOf({ children }: XmlElement, name: string): XmlElement[] {
  return children.filter((child) => child.name === name);
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function decodeText(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));?|&/gi,
    (whole, hex, decimal, name) => {
      const isComplete = whole.endsWith(";");
      if (name !== undefined && isComplete && references[name as string] !== undefined) {
        return references[name as string] as string;
      }
      const code = hex === undefined ? Number(decimal) : parseInt(hex as string, 16);
      if (!isComplete || !(code <= 0x10ffff)) throw new S3Error("MalformedXML");
      return String.fromCodePoint(code);
    },
  );
}
