/** Edits of JSON files that keep comments, the order of keys, indentation and line ends. */
import { applyEdits, findNodeAtLocation, modify, parseTree, type JSONPath } from "jsonc-parser";

/**
 * Sets a value. A number at the end of the path inserts an item into a list.
 *
 * @param indexOf the place of a new key among the keys of its table; by default the last
 */
export function setJson(
  text: string,
  path: JSONPath,
  value: unknown,
  indexOf?: (keys: string[]) => number,
): string {
  const [, indent = "  "] = /^([ \t]+)\S/m.exec(text) ?? [];
  const edits = modify(text, path, value, {
    formattingOptions: {
      insertSpaces: !indent.startsWith("\t"),
      tabSize: indent.length,
      eol: text.includes("\r\n") ? "\r\n" : "\n",
    },
    isArrayInsertion: typeof path.at(-1) === "number",
    ...(indexOf !== undefined && { getInsertionIndex: indexOf }),
  });
  return applyEdits(text, edits);
}

/**
 * Adds a key after another key of the same table. `setJson()` would format the value of the other key
 * again.
 *
 * @param path the path of the other key
 * @param items each item of the list that is the value, as JSON in one line
 */
export function insertListAfter(
  text: string,
  path: JSONPath,
  key: string,
  items: readonly string[],
): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const property = root && findNodeAtLocation(root, path)?.parent;
  if (property === undefined) return text;
  const end = property.offset + property.length;
  const lineStart = text.lastIndexOf("\n", property.offset) + 1;
  const indent = text.slice(lineStart, property.offset);
  // A property that does not begin its line stands in a table that has one line.
  const isOneLine = /\S/.test(indent);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = indent.startsWith("\t") ? "\t" : "  ";
  const list =
    items.length === 1 || isOneLine
      ? `[${items.join(", ")}]`
      : ["[", ...items.map((item) => `${indent}${unit}${item},`), `${indent}]`]
          .join(eol)
          .replace(/,(\s*\])$/, "$1");
  const separator = isOneLine ? ", " : `,${eol}${indent}`;
  return `${text.slice(0, end)}${separator}${JSON.stringify(key)}: ${list}${text.slice(end)}`;
}
