/** Values in the text form of Cap'n Proto, in which workerd reads its configuration. */

/** A symbol is the value of a field without content, as in Miniflare's types. */
type CapnpValue = string | number | boolean | symbol | undefined | object;

/** @param value an object is a struct; a field that is `undefined` is left out */
export function capnpText(value: CapnpValue): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "symbol") return "void";
  if (Array.isArray(value)) return `[${value.map(capnpText).join(", ")}]`;
  if (typeof value !== "object") return String(value);
  const fields = Object.entries(value as Record<string, CapnpValue>)
    .filter(([, field]) => field !== undefined)
    .map(([name, field]) => `${name} = ${capnpText(field)}`);
  return `(${fields.join(", ")})`;
}

/** Cap'n Proto knows no `\u`: other characters than these stay as they are, in UTF-8. */
// oxlint-disable-next-line no-control-regex -- control characters are what has to be escaped
const escaped = /["\\\u0000-\u001f\u007f]/g;

function quoted(text: string): string {
  return `"${text.replaceAll(escaped, escapeOf)}"`;
}

function escapeOf(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
