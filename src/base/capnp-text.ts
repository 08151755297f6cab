/** Values in the text form of Cap'n Proto, in which workerd reads its configuration. */

/** A symbol is the value of a field without content, as in Miniflare's types. */
type CapnpValue = string | number | boolean | symbol | undefined | object;

/** The content of a file, which workerd reads: its path is relative to the configuration file. */
export class EmbeddedFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }
}

/** @param value an object is a struct; a field that is `undefined` is left out */
export function capnpText(value: CapnpValue): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "symbol") return "void";
  if (value instanceof EmbeddedFile) return `embed ${quoted(value.path)}`;
  if (Array.isArray(value)) return `[${value.map(capnpText).join(", ")}]`;
  if (typeof value !== "object") return String(value);
  return `(${fieldsOf(value, capnpText).join(", ")})`;
}

/** A line that is longer is broken at its fields. */
const lineCharactersMax = 100;

/** The same text for people: a value that is too long for its line has a line for each field. */
export function indentedCapnpText(value: CapnpValue, indentation = ""): string {
  const line = capnpText(value);
  const isFlat = typeof value !== "object" || value instanceof EmbeddedFile;
  if (isFlat || indentation.length + line.length <= lineCharactersMax) return line;
  const inner = `${indentation}  `;
  const write = (part: CapnpValue): string => indentedCapnpText(part, inner);
  const parts = Array.isArray(value) ? value.map(write) : fieldsOf(value, write);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["(", ")"];
  return [open, ...parts.map((part) => `${inner}${part},`), `${indentation}${close}`].join("\n");
}

/** @param config the text of the configuration's value */
export function workerdConfigFile(config: string): string {
  return `using Workerd = import "/workerd/workerd.capnp";\n\nconst config :Workerd.Config = ${config};\n`;
}

function fieldsOf(struct: object, write: (value: CapnpValue) => string): string[] {
  return Object.entries(struct as Record<string, CapnpValue>)
    .filter(([, field]) => field !== undefined)
    .map(([name, field]) => `${name} = ${write(field)}`);
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
