/** Writes the XML documents of responses. */

export type XmlContent = string | number | boolean | null | XmlElements | readonly XmlContent[];

/** Elements by their names. A list is one element for each entry; `null` is no element. */
export interface XmlElements {
  readonly [name: string]: XmlContent;
}

const namespace = "http://s3.amazonaws.com/doc/2006-03-01/";
const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

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

function writeContent(content: XmlContent): string {
  if (content === null) return "";
  if (Array.isArray(content)) return content.map(writeContent).join("");
  if (typeof content !== "object") return escapeText(String(content));
  return Object.entries(content as XmlElements)
    .map(([name, value]) => writeElement(name, value))
    .join("");
}

function writeElement(name: string, value: XmlContent): string {
  if (value === null) return "";
  if (Array.isArray(value))
    return value.map((each: XmlContent) => writeElement(name, each)).join("");
  return `<${name}>${writeContent(value)}</${name}>`;
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
  return escapes[character] ?? `&#x${character.charCodeAt(0).toString(16)};`;
}
