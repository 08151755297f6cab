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

/** Adds to one text: a list of 1,000 objects has 6,000 elements, and an array for each is slow. */
function writeContent(content: XmlContent): string {
  if (typeof content === "string") return escapeText(content);
  if (content === null) return "";
  if (typeof content !== "object") return String(content);
  let text = "";
  if (isList(content)) for (const each of content) text += writeContent(each);
  else for (const name in content) text += writeElement(name, content[name] as XmlContent);
  return text;
}

function writeElement(name: string, value: XmlContent): string {
  if (value === null) return "";
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
  return escapes[character] ?? `&#x${character.charCodeAt(0).toString(16)};`;
}
