/** The path of a value in a configuration, and its position in the text of the file. */

/** The keys and indices that lead to a value: `["store_buckets", 0, "binding"]`. */
export type Path = readonly (string | number)[];

/** Line and column start at 1, as in editors. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

export function positionAt(text: string, offset: number): SourcePosition {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}

/** The path as a message shows it: `store_buckets[0].binding`. */
export function fieldName(path: Path): string {
  return path.reduce<string>((name, step) => {
    if (typeof step === "number") return `${name}[${step}]`;
    return name === "" ? step : `${name}.${step}`;
  }, "");
}
