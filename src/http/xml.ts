/**
 * Reads and writes the XML documents of S3: lists of keys, parts, rules.
 *
 * Elements and text only. A document with a DTD is refused, so that no entity can expand, and the
 * depth and the number of elements are limited. Attributes, comments and namespaces are skipped.
 */

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
const references = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

/** @throws SyntaxError for a text that is not such a document */
export function readXml(document: string): XmlElement {
  const root: OpenElement = { name: "", text: "", children: [] };
  const open = [root];
  let elements = 0;
  token.lastIndex = document.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (token.lastIndex < document.length) {
    const found = token.exec(document);
    if (found === null) throw malformed();
    const [, data, closed, opened, , isEmpty, text] = found;
    const current = open.at(-1) as OpenElement;
    if (opened !== undefined) {
      const element: OpenElement = { name: localName(opened), text: "", children: [] };
      current.children.push(element);
      elements += 1;
      if (isEmpty === "") open.push(element);
      if (open.length > depthMax || elements > elementsMax) throw malformed();
    } else if (closed !== undefined) {
      if (open.length === 1 || current.name !== localName(closed)) throw malformed();
      open.pop();
    } else if (data !== undefined) {
      current.text += data;
    } else if (text !== undefined) {
      current.text += decodeText(text);
    }
  }
  const [element, ...others] = root.children;
  const isDocument = open.length === 1 && others.length === 0 && root.text.trim() === "";
  if (element === undefined || !isDocument) throw malformed();
  return element;
}

/** Of the first child of that name. */
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
      const named = isComplete ? references.get(name as string) : undefined;
      if (named !== undefined) return named;
      const code = hex === undefined ? Number(decimal) : parseInt(hex as string, 16);
      if (!isComplete || !(code <= 0x10ffff)) throw malformed();
      return String.fromCodePoint(code);
    },
  );
}

function malformed(): SyntaxError {
  return new SyntaxError("The document is not well-formed XML.");
}

export type XmlContent =
  | string
  | number
  | boolean
  | null
  | undefined
  | XmlElements
  | readonly XmlContent[];

/** Elements by their names. A list is one element for each entry; `null` and `undefined` are no element. */
export interface XmlElements {
  readonly [name: string]: XmlContent;
}

const namespace = "http://s3.amazonaws.com/doc/2006-03-01/";
const escapes = new Map(Array.from(references, ([name, text]) => [text, `&${name};`]));

// oxlint-disable-next-line no-control-regex -- control characters are intended
const special = /[&<>"'\u0000-\u001f\ufffe\uffff]/;

/** @param name of the root element */
export function writeXml(
  name: string,
  content: XmlContent,
  { hasNamespace = true }: { readonly hasNamespace?: boolean } = {},
): string {
  const start = hasNamespace ? `<${name} xmlns="${namespace}">` : `<${name}>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${start}${writeContent(content)}</${name}>`;
}

/** Adds to one text: a list of 1,000 objects has 6,000 elements, and an array for each is slow. */
function writeContent(content: XmlContent): string {
  if (typeof content === "string") return escapeText(content);
  if (content === null || content === undefined) return "";
  if (typeof content !== "object") return String(content);
  let text = "";
  if (isList(content)) for (const each of content) text += writeContent(each);
  else for (const name in content) text += writeElement(name, content[name]);
  return text;
}

function writeElement(name: string, value: XmlContent): string {
  if (value === null || value === undefined) return "";
  if (!isList(value)) return `<${name}>${writeContent(value)}</${name}>`;
  let text = "";
  for (const each of value) text += writeElement(name, each);
  return text;
}

function isList(content: XmlContent): content is readonly XmlContent[] {
  return Array.isArray(content);
}

/**
 * Control characters, which XML cannot contain, are written as references: the deployed service
 * and its clients accept them. `encoding-type=url` avoids them.
 */
function escapeText(text: string): string {
  // Most texts of a list are as they are.
  return special.test(text) ? text.replace(new RegExp(special, "g"), escapeCharacter) : text;
}

function escapeCharacter(character: string): string {
  return escapes.get(character) ?? `&#x${character.charCodeAt(0).toString(16)};`;
}
