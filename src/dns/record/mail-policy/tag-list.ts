/** Lists `name=value; name=value` of DKIM (RFC 6376 section 3.2) and DMARC (RFC 7489 section 6.4). */
type TagList = ReadonlyMap<string, string>;

/** Hyphenated words, separated by colons. */
export const wordsPattern = /^[a-z0-9-]+(?:\s*:\s*[a-z0-9-]+)*$/i;

/** Returns the tags, or the first error. */
export function parseTagList(text: string): TagList | string {
  const tags = new Map<string, string>();
  const parts = text.split(";");
  if (parts.at(-1)!.trim() === "") parts.pop();
  for (const part of parts) {
    const match = /^\s*([A-Za-z][A-Za-z0-9_]*)\s*=\s*([^]*?)\s*$/.exec(part);
    if (match === null) return `"${part.trim()}" is not of the form name=value`;
    const name = match[1]!.toLowerCase();
    if (tags.has(name)) return `${name}= is given twice`;
    tags.set(name, match[2]!);
  }
  return tags;
}

/** Returns the error of the first tag with a value that is not allowed, or `null`. */
export function checkValues(tags: TagList, allowed: ReadonlyMap<string, RegExp>): string | null {
  for (const [name, value] of tags) {
    if (allowed.get(name)?.test(value) === false) return `${name}=${value} is not allowed`;
  }
  return null;
}
